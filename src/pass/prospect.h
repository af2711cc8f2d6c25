/* SPDX-License-Identifier: Apache-2.0 */
/* Where a formula may be found at all, by what costs little to see: the operators near a node. Most nodes are none of
 * those that a formula ends with, or lack an operator next to them that it names. */
#ifndef PASS_PROSPECT_H
#define PASS_PROSPECT_H

#include "ir/graph.h"
#include "pass/formula.h"

/* A set of operators; some share a bit, so that one that seems to be in it may be another one. */
typedef uint64_t op_bits;

static inline op_bits op_bit(enum op_id op)
{
    return UINT64_C(1) << ((unsigned)op & 63);
}

struct prospect {
    op_bits last;           /* operators that the formula can end with */
    op_bits any[EXPR_ARGS]; /* of each of these sets, one operator is near the end */
    uint32_t n_any;
};

/* The operators near a node, which are looked for once; of a new node, all is 0. */
struct vicinity {
    bool seen;
    op_bits near; /* of what it is a sum, or a product, of */
};

struct prospect prospect_of(const struct expr *formula);
/* False: the node does not give what the formula says. The vicinity is the node's. */
bool prospect_holds(const struct prospect *p, const struct graph *g, const struct uses *uses, const struct node *last,
                    struct vicinity *vicinity);
/* Whether a node of the operator can give what the formula says: its last step. */
bool formula_ends_with(const struct expr *formula, enum op_id op);
/* What costs little to see of a part of a formula: false where another operator than its last step computes the tensor,
 * or none. */
bool part_may_be(const struct graph *g, const struct expr *part, tensor_id t);

#endif
