/* SPDX-License-Identifier: Apache-2.0 */
/* How users name tensors. Those of TensorFlow models are called "node:0", and people say "node". */
#ifndef IR_TENSOR_NAME_H
#define IR_TENSOR_NAME_H

#include "ir/graph.h"

/* The other spelling of a name: "x:0" for "x", and "x" for "x:0". A tensor of the name itself comes first. */
const char *tensor_name_respelled(struct arena *arena, const char *name);
/* The tensor of that name, or else of its other spelling; NO_TENSOR: there is none. The arena is left as it was. */
tensor_id graph_find_named(struct arena *arena, const struct graph *g, const char *name);

#endif
