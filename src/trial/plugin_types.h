/* SPDX-License-Identifier: Apache-2.0 */
/* The types of elements with which an op of a plugin is tried. */
#ifndef TRIAL_PLUGIN_TYPES_H
#define TRIAL_PLUGIN_TYPES_H

#include "package/plugin_ops.h"
#include "trial/made_node.h"

/* Per input of the definition, then per output; DT_NONE: the one of the made node. */
struct typing {
    const enum dtype *dtypes;
};

struct typings {
    VEC(struct typing) list;
};

/* What the operand may be by the config, as a mask of DTYPE_BIT; 0: it says nothing. An unsigned fixed-point type of
 * JSON is a signed one as well. */
uint64_t plugin_types_of(const struct udo_tensor *t);

/* The made nodes' own types, then those that the signature of each kernel names and the config allows; for an op
 * without kernels, each type that the config allows, or else all. */
struct typings plugin_typings(struct arena *arena, const struct plugin_op *op, const struct udo_def *def);

#endif
