/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/occurrence.h"

#include <math.h>
#include <string.h>

#include "op/axes.h"
#include "op/op.h"
#include "pass/parts.h"
#include "pass/prospect.h"

#define LEAVES_MAX 8

/* A formula written in decimals, and a model's numbers, are rounded: to this part of a number. */
#define FLOAT_ROUNDING 2e-6
#define HALF_ROUNDING 5e-4

struct search {
    const struct graph *g;
    const struct uses *uses;
    struct occurrence found;
    double rounding;
};

/* Tensors whose sum, or product of powers, a tensor is. */
struct leaves {
    struct leaf {
        tensor_id tensor;
        double weight; /* of a term, 1 or -1; of a factor, its exponent */
    } leaf[LEAVES_MAX];
    uint32_t count;
    double number; /* what the numbers among them make */
    bool failed;   /* there are too many */
};

static bool match(struct search *s, const struct expr *e, tensor_id t);

/* ---- steps ---- */

/* The node that computes t becomes a step. */
static bool add_step(struct search *s, tensor_id t)
{
    node_id id = graph_tensor(s->g, t)->producer;
    struct occurrence *o = &s->found;
    for (uint32_t i = 0; i < o->n_steps; i++)
        if (o->steps[i] == id)
            return true;
    if (o->n_steps == STEPS_MAX)
        return false;
    o->steps[o->n_steps++] = id;
    return true;
}

static bool equal_numbers(const struct search *s, double a, double b)
{
    const double largest = fmax(fabs(a), fabs(b));
    return a == b || (isfinite(largest) && fabs(a - b) <= s->rounding * largest); /* anything is near an infinity */
}

/* The node between t and the leaves: one that nothing else reads, or the root of them. */
static const struct node *inner_node(const struct search *s, tensor_id t, bool root)
{
    const struct node *n = graph_producer(s->g, t);
    return n && (root || s->uses->count[t] == 1) ? n : NULL;
}

/* ---- sums ---- */

static void add_leaf(struct leaves *l, tensor_id t, double weight)
{
    if (l->count == LEAVES_MAX)
        l->failed = true;
    else
        l->leaf[l->count++] = (struct leaf){t, weight};
}

static void spread_sum(struct search *s, tensor_id t, double sign, bool root, struct leaves *out)
{
    double number;
    const struct node *n = inner_node(s, t, root);
    bool subtracts = n && node_is(n, OP_ElementWiseSubtract);
    if (out->failed || part_number(s->g, t, &number)) {
        out->number += out->failed ? 0 : sign * number;
    } else if (n && (subtracts || node_is(n, OP_ElementWiseAdd))) {
        out->failed |= !add_step(s, t);
        spread_sum(s, n->inputs[0], sign, false, out);
        spread_sum(s, n->inputs[1], subtracts ? -sign : sign, false, out);
    } else if (n && node_is(n, OP_ElementWiseNeg)) {
        out->failed |= !add_step(s, t);
        spread_sum(s, n->inputs[0], -sign, false, out);
    } else {
        add_leaf(out, t, sign);
    }
}

/* ---- products ---- */

static void add_factor(struct leaves *l, tensor_id t, double exponent)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->leaf[i].tensor != t)
            continue;
        l->leaf[i].weight += exponent;
        return;
    }
    add_leaf(l, t, exponent);
}

/* The power that the node takes of its first input; 0: the node does another thing. */
static double power_of(const struct search *s, const struct node *n)
{
    double exponent;
    if (node_is(n, OP_ElementWiseSquareRoot))
        return 0.5;
    if (node_is(n, OP_ElementWiseRsqrt))
        return -0.5;
    if (node_is(n, OP_ElementWiseReciprocal))
        return -1;
    return node_is(n, OP_ElementWisePower) && part_number(s->g, n->inputs[1], &exponent) ? exponent : 0;
}

/* Powers of products are products of powers, and powers of powers one power, where the outer exponent is an integer. */
static void spread_product(struct search *s, tensor_id t, double exponent, bool root, struct leaves *out)
{
    double number;
    const struct node *n = exponent == rint(exponent) ? inner_node(s, t, root) : NULL;
    bool divides = n && node_is(n, OP_ElementWiseDivide);
    if (out->failed || part_number(s->g, t, &number)) {
        out->number *= out->failed ? 1 : pow(number, exponent);
    } else if (n && (divides || node_is(n, OP_ElementWiseMultiply))) {
        out->failed |= !add_step(s, t);
        spread_product(s, n->inputs[0], exponent, false, out);
        spread_product(s, n->inputs[1], divides ? -exponent : exponent, false, out);
    } else if (n && node_is(n, OP_ElementWiseNeg)) {
        out->failed |= !add_step(s, t);
        out->number *= pow(-1, exponent);
        spread_product(s, n->inputs[0], exponent, false, out);
    } else if (n && power_of(s, n) != 0) {
        out->failed |= !add_step(s, t);
        spread_product(s, n->inputs[0], exponent * power_of(s, n), false, out);
    } else {
        add_factor(out, t, exponent);
    }
}

/* ---- matching ---- */

static bool bind_number(struct search *s, char letter, double value)
{
    double *bound = &s->found.numbers[letter - 'a'];
    if (!isnan(*bound))
        return equal_numbers(s, *bound, value);
    *bound = value;
    return true;
}

static bool match_number(struct search *s, double expected, char letter, double number)
{
    return letter ? bind_number(s, letter, number / expected) : equal_numbers(s, expected, number);
}

static bool match_product(struct search *s, const struct expr *e, tensor_id t, double sign);

static bool match_leaf(struct search *s, const struct expr *e, uint32_t arg, const struct leaf *leaf)
{
    const struct expr *part = e->args[arg];
    if (e->kind == EXPR_PRODUCT)
        return leaf->weight == e->exponents[arg] && match(s, part, leaf->tensor);
    if (part->kind == EXPR_PRODUCT)
        return match_product(s, part, leaf->tensor, leaf->weight);
    return leaf->weight == 1 && match(s, part, leaf->tensor);
}

/* Whether each of the leaves may be some arg, which costs little to see of them. */
static bool may_match_all(const struct search *s, const struct expr *e, const struct leaves *l)
{
    bool all = true;
    for (uint32_t i = 0; i < l->count && all; i++) {
        uint32_t arg = 0;
        while (arg < e->n_args && !part_may_be(s->g, e->args[arg], l->leaf[i].tensor))
            arg++;
        all = arg < e->n_args;
    }
    return all;
}

/* Args from that one on, each another of the leaves that are not taken. */
static bool match_leaves(struct search *s, const struct expr *e, uint32_t arg, const struct leaves *l, uint32_t taken)
{
    if (arg == e->n_args)
        return true;
    for (uint32_t i = 0; i < l->count; i++) {
        if (taken >> i & 1 || !part_may_be(s->g, e->args[arg], l->leaf[i].tensor))
            continue;
        const struct occurrence before = s->found;
        if (match_leaf(s, e, arg, &l->leaf[i]) && match_leaves(s, e, arg + 1, l, taken | 1U << i))
            return true;
        s->found = before;
    }
    return false;
}

static bool match_sum(struct search *s, const struct expr *e, tensor_id t)
{
    struct leaves l = {.number = 0};
    spread_sum(s, t, 1, true, &l);
    if (l.failed || l.count != e->n_args)
        return false;
    bool number = e->any ? bind_number(s, e->any, l.number - e->number) : equal_numbers(s, e->number, l.number);
    return number && may_match_all(s, e, &l) && match_leaves(s, e, 0, &l, 0);
}

static bool match_product(struct search *s, const struct expr *e, tensor_id t, double sign)
{
    struct leaves l = {.number = sign};
    spread_product(s, t, 1, true, &l);
    return !l.failed && l.count == e->n_args && match_number(s, e->number, e->any, l.number) &&
           may_match_all(s, e, &l) && match_leaves(s, e, 0, &l, 0);
}

static bool has_params(const struct search *s, const struct node *n, const struct expr *call)
{
    for (uint32_t i = 0; i < call->n_params; i++) {
        const struct expr_param *p = &call->params[i];
        const int place = op_param_place(n->op, p->id);
        const struct param value = node_get_param(n, (uint32_t)place);
        if (!value.set || value.is_tensor ||
            !equal_numbers(s, dtype_is_float(value.dtype) ? value.f : (double)value.i, p->value))
            return false;
    }
    return true;
}

static bool same_axes(const struct node *a, const struct node *b)
{
    uint32_t a_axes = 0, b_axes = 0;
    return node_axes_or_axis(a, MAX_RANK, &a_axes) == node_axes_or_axis(b, MAX_RANK, &b_axes) && a_axes == b_axes;
}

static bool bind_node(struct search *s, char letter, node_id id)
{
    node_id *bound = letter ? &s->found.nodes[letter - 'a'] : NULL;
    if (!bound || *bound == id)
        return true;
    if (*bound != NO_NODE)
        return same_axes(graph_node(s->g, *bound), graph_node(s->g, id));
    *bound = id;
    return true;
}

static bool match_args(struct search *s, const struct expr *call, const struct node *n, bool swapped)
{
    for (uint32_t i = 0; i < call->n_args; i++)
        if (n->inputs[i] == NO_TENSOR || !match(s, call->args[swapped ? 1 - i : i], n->inputs[i]))
            return false;
    return true;
}

static bool is_symmetric(enum op_id op)
{
    return op == OP_ElementWiseMaximum || op == OP_ElementWiseMinimum || op == OP_ElementWiseEqual ||
           op == OP_ElementWiseSquaredDifference;
}

static bool match_call(struct search *s, const struct expr *call, tensor_id t)
{
    const struct node *n = graph_producer(s->g, t);
    if (!n || !node_is(n, call->op) || n->n_inputs != call->n_args || !has_params(s, n, call) || !add_step(s, t) ||
        !bind_node(s, call->letter, graph_tensor(s->g, t)->producer))
        return false;
    const struct occurrence before = s->found;
    if (match_args(s, call, n, false))
        return true;
    s->found = before;
    return is_symmetric(call->op) && match_args(s, call, n, true);
}

static bool match_operand(struct search *s, char letter, tensor_id t)
{
    tensor_id *bound = &s->found.tensors[letter - 'a'];
    if (*bound != NO_TENSOR)
        return *bound == t;
    *bound = t;
    return true;
}

static bool match(struct search *s, const struct expr *e, tensor_id t)
{
    double number;
    switch (e->kind) {
    case EXPR_NUMBER:
        return part_number(s->g, t, &number) && equal_numbers(s, e->number, number);
    case EXPR_ANY_NUMBER:
        return part_number(s->g, t, &number) && bind_number(s, e->letter, number);
    case EXPR_OPERAND:
        return match_operand(s, e->letter, t);
    case EXPR_CONSTANT:
        return graph_tensor(s->g, t)->kind == TENSOR_STATIC && match_operand(s, e->letter, t);
    case EXPR_CALL:
        return match_call(s, e, t);
    case EXPR_SUM:
        return match_sum(s, e, t);
    case EXPR_PRODUCT:
        return match_product(s, e, t, 1);
    }
    return false;
}

/* ---- what is found ---- */

static bool is_step(const struct occurrence *o, node_id id)
{
    for (uint32_t i = 0; i < o->n_steps; i++)
        if (o->steps[i] == id)
            return true;
    return false;
}

/* Whether steps alone read the tensor. */
static bool stays_inside(const struct search *s, tensor_id t)
{
    const uint32_t first = s->uses->first[t], last = s->uses->first[t + 1];
    if (graph_tensor(s->g, t)->kind != TENSOR_NATIVE)
        return false;
    for (uint32_t i = first; i < last; i++)
        if (!is_step(&s->found, s->uses->nodes[i]))
            return false;
    return true;
}

static bool is_closed(const struct search *s)
{
    const struct occurrence *o = &s->found;
    for (uint32_t i = 1; i < o->n_steps; i++) {
        const struct node *n = graph_node(s->g, o->steps[i]);
        if (n->n_outputs != 1 || !stays_inside(s, n->outputs[0]))
            return false;
    }
    for (uint32_t i = 0; i < LETTERS; i++) {
        const node_id producer = o->tensors[i] == NO_TENSOR ? NO_NODE : graph_tensor(s->g, o->tensors[i])->producer;
        if (producer != NO_NODE && is_step(o, producer))
            return false;
    }
    return true;
}

bool occurrence_find(const struct graph *g, const struct uses *uses, const struct expr *formula, node_id result,
                     struct occurrence *out)
{
    const struct node *last = graph_node(g, result);
    if (!formula_ends_with(formula, last->op->id))
        return false;
    const enum dtype dtype = graph_tensor(g, last->outputs[0])->type->dtype;
    struct search s = {.g = g, .uses = uses, .rounding = dtype == DT_FLOAT16 ? HALF_ROUNDING : FLOAT_ROUNDING};
    if (!dtype_is_float(dtype))
        return false;
    for (uint32_t i = 0; i < LETTERS; i++) {
        s.found.tensors[i] = NO_TENSOR;
        s.found.nodes[i] = NO_NODE;
        s.found.numbers[i] = NAN;
    }
    if (!match(&s, formula, last->outputs[0]) || !is_closed(&s))
        return false;
    *out = s.found;
    return true;
}
