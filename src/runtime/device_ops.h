/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined ops as kernels in OpenCL C: what op packages for GPUs describe, in the words of backends that execute
 * it. */
#ifndef RUNTIME_DEVICE_OPS_H
#define RUNTIME_DEVICE_OPS_H

#include "runtime/backend.h"

enum device_arg_kind {
    DEVICE_ARG_INPUT,
    DEVICE_ARG_OUTPUT,
    DEVICE_ARG_PARAM, /* the elements of a tensor param */
    DEVICE_ARG_NUMBER,
    DEVICE_ARG_LOCAL /* local memory */
};

struct device_arg {
    enum device_arg_kind kind;
    uint32_t index;   /* of an operand or a param */
    size_t size;      /* bytes of a number, or of local memory */
    uint8_t bytes[8]; /* the number */
};

struct device_kernel {
    const char *name, *source, *options;
    uint32_t dims;              /* 1 to 3 */
    size_t global[3], local[3]; /* local[0] 0: who executes chooses */
    const struct device_arg *args;
    uint32_t n_args;
};

/* The op of a node: kernels that run one after another. All of it is the scope's arena's. */
struct device_op {
    const char *package, *library; /* the package's name, and its file */
    const char *hash;              /* says which sources the package has; "" where it does not say */
    const struct buffer *inputs;   /* per input of the node: type and shape in which kernels take it, DT_NONE where it
                                      is absent; of constants with their elements */
    const struct buffer *outputs;
    const struct buffer *params; /* tensor params, by their place among all params */
    const struct device_kernel *kernels;
    uint32_t n_kernels;
};

/* Who knows such ops. */
struct device_ops {
    /* Once for an execution, before anything else. Packages that cannot be used are errors, as for loading them. */
    odlc_status (*open)(const struct backend_scope *scope);
    /* NULL: create makes an op of the node; else why not, as in struct group. */
    const char *(*refuse)(const struct backend_scope *scope, const struct node *n);
    /* ODLC_ERR_INVALID, ODLC_ERR_UNSUPPORTED: the package refuses the node, or describes kernels that cannot be. */
    odlc_status (*create)(const struct backend_scope *scope, const struct node *n, struct device_op **out);
};

#endif
