/* SPDX-License-Identifier: Apache-2.0 */
/* Which native operators compute an op of a package: the one of its name, or a few nodes where a conversion makes
 * several of an operator of that name. */
#ifndef BUILD_RECIPE_H
#define BUILD_RECIPE_H

#include "build/build.h"
#include "op/layout.h"

enum recipe_form { RECIPE_NUMBER, RECIPE_STRING, RECIPE_TENSOR };

struct recipe_param {
    const char *name;
    enum recipe_form form;
    bool optional;
};

/* How many operands a node has; most UINT32_MAX: any number. */
struct recipe_count {
    uint32_t least, most;
};

/* What a config says of an op. */
struct recipe_signature {
    const char *type;
    bool is_native;        /* operands and params are as containers have them */
    enum axis_order order; /* of images otherwise */
    struct recipe_count inputs, outputs;
    const struct recipe_param *params;
    uint32_t n_params;
};

/* Why nothing native computes such an op, in words that follow its name; in the arena. NULL: something does. */
const char *recipe_misfit(struct arena *arena, const struct recipe_signature *s);

/* A node of such an op. */
struct recipe_op {
    const char *type;
    enum axis_order order;
    const tensor_id *inputs; /* NO_TENSOR for absent ones */
    uint32_t n_inputs;
    const struct type *outputs; /* DT_NONE for absent ones */
    uint32_t n_outputs;
    const struct param *params; /* numbers with i and f, tensors with ints and floats, whatever their dtype */
    uint32_t n_params;
};

/* Adds the nodes; outs are n_outputs tensors. ODLC_ERR_UNSUPPORTED: nothing native has the type. ODLC_ERR_INVALID:
 * operands or params do not fit, or other outputs follow from them. */
odlc_status recipe_build(struct build *b, const struct recipe_op *op, tensor_id *outs) MUST_USE;

#endif
