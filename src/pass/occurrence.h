/* SPDX-License-Identifier: Apache-2.0 */
/* Where a graph computes a formula: the steps that do, and what the formula's letters stand for there. */
#ifndef PASS_OCCURRENCE_H
#define PASS_OCCURRENCE_H

#include "ir/graph.h"
#include "pass/formula.h"

#define LETTERS 26
#define STEPS_MAX 56

struct occurrence {
    tensor_id tensors[LETTERS]; /* by letter; NO_TENSOR: none of that letter was met */
    node_id nodes[LETTERS];
    double numbers[LETTERS];
    node_id steps[STEPS_MAX]; /* the node that gives the result first */
    uint32_t n_steps;
};

/* Whether the formula is what the node computes, out of float tensors. Nothing outside of the steps reads what they
 * compute but the result; numbers are equal but for the rounding of the tensors' type. `uses` may be older than the
 * graph when nodes were only removed since, and others added that read and compute no other tensors than these. */
bool occurrence_find(const struct graph *g, const struct uses *uses, const struct expr *formula, node_id result,
                     struct occurrence *out);

static inline tensor_id occurrence_tensor(const struct occurrence *o, char letter)
{
    return o->tensors[letter - 'a'];
}

static inline double occurrence_number(const struct occurrence *o, char letter)
{
    return o->numbers[letter - 'a'];
}

#endif
