/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels: how each native operator is computed, plainly. Passes and backends are judged by them. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include "kernel/buffer.h"

struct kernel {
    const struct node *node;
    const struct buffer *in;
    struct buffer *out; /* shapes and storage given; the kernel fills the elements */
    uint32_t n_in, n_out;
    struct arena *scratch; /* rewound after the call */
};

/* Operands have the types and shapes that the row's shape rule lets through. ODLC_ERR_INVALID: values or params do not
 * fit the operands (an index past its axis, say); ODLC_ERR_UNSUPPORTED: there are no loops for the element types. */
typedef odlc_status kernel_fn(const struct kernel *k);

/* What a kernel is handed. A reference kernel exists once, not once per dtype: kernel/eval.c converts around the call.
 */
enum compute {
    COMPUTE_WIDE,   /* float and fixed-point elements as double, integers and bools as int64_t (buffer.dtype says which:
                       DT_FLOAT64 or DT_INT64); outputs likewise, by the class of their dtype in the graph */
    COMPUTE_FLOAT,  /* as wide, but float elements as float (DT_FLOAT32): for kernels with large operands, which
                       accumulate in double */
    COMPUTE_EITHER, /* as float where all the node's float elements are float32 (nothing is converted then), else as
                       wide: for kernels that have the loops for both */
    COMPUTE_PRODUCT, /* as float; where the formula of fixed_product.h holds, operands are integers q + o in float, the
                       bias is absent, and the result's sums are wanted as double */
    COMPUTE_BYTES,   /* elements as they are: for kernels that read types and encodings themselves */
    COMPUTE_MOVE     /* elements as they are where all the node's reals (floats and fixed-point) have one type and one
                        encoding for the whole tensor, else as float: for kernels that only move elements, since what
                        comes from a tensor of another encoding is other integers */
};

struct reference_kernel {
    enum compute compute;
    kernel_fn *run;
};

/* The kernel of a native operator (kernel/kernels.def), or the one that another row brings (op->own_kernel). NULL: the
 * operator cannot be executed here. */
const struct reference_kernel *kernel_of(const struct op *op);

#endif
