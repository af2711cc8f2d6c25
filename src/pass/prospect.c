/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/prospect.h"

#include <math.h>

#include "op/op.h"

/* A walk that comes by more nodes is given up: everything may be near. */
enum { MOST_NODES = 16 };

/* ---- what a formula asks for ---- */

static bool adds(enum op_id op)
{
    return op == OP_ElementWiseAdd || op == OP_ElementWiseSubtract || op == OP_ElementWiseNeg;
}

static bool multiplies(enum op_id op)
{
    switch (op) {
    case OP_ElementWiseMultiply:
    case OP_ElementWiseDivide:
    case OP_ElementWiseNeg:
    case OP_ElementWiseSquareRoot:
    case OP_ElementWiseRsqrt:
    case OP_ElementWiseReciprocal:
    case OP_ElementWisePower:
        return true;
    default:
        return false;
    }
}

bool formula_ends_with(const struct expr *formula, enum op_id op)
{
    if (formula->kind == EXPR_CALL)
        return op == formula->op;
    return op == OP_ElementWiseNeg || (formula->kind == EXPR_SUM && adds(op)) ||
           (formula->kind == EXPR_PRODUCT && multiplies(op));
}

/* Whether a sum or product may be its only part itself, perhaps with the other sign. */
static bool may_be_its_part(const struct expr *e)
{
    if (e->n_args != 1 || e->exponents[0] != 1)
        return false;
    return e->any || (e->kind == EXPR_SUM ? e->number == 0 : fabs(e->number) == 1);
}

bool part_may_be(const struct graph *g, const struct expr *part, tensor_id t)
{
    const struct node *n = graph_producer(g, t);
    switch (part->kind) {
    case EXPR_CALL:
        return n && n->op->id == part->op;
    case EXPR_CONSTANT:
        return graph_tensor(g, t)->kind == TENSOR_STATIC;
    case EXPR_SUM:
    case EXPR_PRODUCT:
        return (n && formula_ends_with(part, n->op->id)) || (may_be_its_part(part) && part_may_be(g, part->args[0], t));
    default:
        return true;
    }
}

/* The operators that can compute a part; 0: any, or none. */
static op_bits ops_of_part(const struct expr *part)
{
    op_bits ops = 0;
    if (part->kind == EXPR_CALL)
        return op_bit(part->op);
    if ((part->kind != EXPR_SUM && part->kind != EXPR_PRODUCT) || may_be_its_part(part))
        return 0;
    for (int op = 0; op < OP_IDS; op++)
        if (formula_ends_with(part, (enum op_id)op))
            ops |= op_bit((enum op_id)op);
    return ops;
}

struct prospect prospect_of(const struct expr *formula)
{
    struct prospect p = {0};
    for (int op = 0; op < OP_IDS; op++)
        if (formula_ends_with(formula, (enum op_id)op))
            p.last |= op_bit((enum op_id)op);
    for (uint32_t i = 0; i < formula->n_args; i++) {
        const op_bits ops = ops_of_part(formula->args[i]);
        if (ops)
            p.any[p.n_any++] = ops;
    }
    return p;
}

/* ---- what a graph has ---- */

struct walk {
    const struct graph *g;
    const struct uses *uses;
    bool (*joins)(enum op_id op);
    op_bits ops;
    uint32_t nodes;
};

/* Notes what computes the node's operands, and theirs where they are parts of the same sum or product. */
static void walk_operands(struct walk *w, const struct node *n)
{
    if (w->nodes++ == MOST_NODES)
        w->ops = ~(op_bits)0;
    for (uint32_t i = 0; i < n->n_inputs && w->nodes <= MOST_NODES; i++) {
        const struct node *before = graph_producer(w->g, n->inputs[i]);
        if (!before)
            continue;
        w->ops |= op_bit(before->op->id);
        if (w->joins(before->op->id) && w->joins(n->op->id) && w->uses->count[n->inputs[i]] == 1)
            walk_operands(w, before);
    }
}

static op_bits ops_near(const struct graph *g, const struct uses *uses, const struct node *n, bool (*joins)(enum op_id))
{
    struct walk w = {.g = g, .uses = uses, .joins = joins};
    walk_operands(&w, n);
    return w.ops;
}

bool prospect_holds(const struct prospect *p, const struct graph *g, const struct uses *uses, const struct node *last,
                    struct vicinity *vicinity)
{
    if (!(p->last & op_bit(last->op->id)))
        return false;
    if (p->n_any && !vicinity->seen) {
        const bool is_product = multiplies(last->op->id);
        vicinity->near = is_product ? ops_near(g, uses, last, multiplies) : 0;
        if (adds(last->op->id) || !is_product)
            vicinity->near |= ops_near(g, uses, last, adds);
        vicinity->seen = true;
    }
    for (uint32_t i = 0; i < p->n_any; i++)
        if (!(p->any[i] & vicinity->near))
            return false;
    return true;
}
