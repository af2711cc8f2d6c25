/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a definition with made operands: what the trials of a kernel run on. */
#ifndef TRIAL_MADE_NODE_H
#define TRIAL_MADE_NODE_H

#include "udo/udo.h"

/* The reals of a tensor. */
struct made_range {
    double low, high;
};

enum { MADE_SHAPES = 6 };

struct made_node {
    struct graph *graph;
    const struct node *node;
    struct buffer *constants; /* per tensor */
    const char *label;        /* "input [1,5]", in findings */
};

/* A node whose inputs have made shape number `which` (of the ranks that the definition tells); without its optional
 * inputs if `least`. False: the definition does not go with that shape, or least changes nothing. Diagnostics of the
 * set are left as they were. */
bool made_node(struct arena *arena, struct udo_set *set, const struct udo_def *def, uint32_t which, bool least,
               struct made_node *out);

/* Gives the inputs of the node, then the outputs, other types: DT_NONE leaves one as it is, as an operand that is not
 * there. Fixed-point types have encodings for the made values, those of outputs for these ranges, and 16-bit floats are
 * those of the values. False: all have these types already. */
bool made_node_retype(struct arena *arena, struct made_node *made, const enum dtype *dtypes,
                      const struct made_range *outputs);

/* The value of element i of a made tensor: floats in ±2, integers 0 and 1. */
double made_value(uint64_t seed, uint64_t i, bool real);
/* Gives the buffer these values, quantized where it is fixed point. */
void made_fill(struct arena *arena, struct buffer *b, uint64_t seed);

#endif
