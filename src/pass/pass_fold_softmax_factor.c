/* SPDX-License-Identifier: Apache-2.0 */
/* The constant factor by which the input of a Softmax is multiplied or divided is the operator's beta: softmax(f · x).
 *
 * Factors are positive and, as float32, finite and normal: beta is a float32, so that 1 / d is rounded once, as each
 * product is that beta replaces. */
#include <math.h>

#include "op/op.h"
#include "op/params.h"
#include "pass/parts.h"
#include "pass/search.h"

pass_fn pass_fold_softmax_factor;

static bool has_beta(const struct node *n)
{
    return node_is(n, OP_Softmax) || node_is(n, OP_LogSoftmax);
}

/* The tensor that the node scales by *factor, and nothing else; NO_TENSOR when it does another thing. */
static tensor_id scaled_by(const struct graph *g, const struct node *n, double *factor)
{
    bool divides = node_is(n, OP_ElementWiseDivide);
    if (!divides && !node_is(n, OP_ElementWiseMultiply))
        return NO_TENSOR;
    for (uint32_t i = 0; i < 2 - (uint32_t)divides; i++) {
        const struct tensor *x = node_input(g, n, i), *y = node_output(g, n, 0);
        if (!part_number(g, n->inputs[1 - i], factor) || !shape_equal(&x->type->shape, &y->type->shape))
            continue;
        if (divides)
            *factor = 1 / *factor;
        return *factor > 0 ? n->inputs[i] : NO_TENSOR;
    }
    return NO_TENSOR;
}

/* Takes the factor out of what gives the node's input; false: there is none. */
static bool fold(struct graph *g, const struct uses *uses, node_id id)
{
    tensor_id in = graph_node(g, id)->inputs[0];
    const struct node *scaling = graph_producer(g, in);
    double factor = 0;
    if (!scaling || uses->count[in] != 1)
        return false;
    tensor_id x = scaled_by(g, scaling, &factor);
    float beta = (float)(node_float(graph_node(g, id), PARAM_beta, 1) * factor);
    if (x == NO_TENSOR || !isnormal(beta))
        return false;
    graph_remove_node(g, graph_tensor(g, in)->producer);
    graph_replace_input(g, id, 0, x);
    node_set_float(graph_node(g, id), PARAM_beta, (double)beta);
    return true;
}

odlc_status pass_fold_softmax_factor(struct pass_context *c, struct graph *g)
{
    struct uses uses = {0};
    if (!graph_may_have(c, g, OP_Softmax) && !graph_may_have(c, g, OP_LogSoftmax))
        return ODLC_OK;
    for (size_t i = 0; i < g->order.count; i++) {
        if (!has_beta(graph_node(g, g->order.data[i])))
            continue;
        if (!uses.count)
            uses = graph_uses(c->scratch, g);
        while (fold(g, &uses, g->order.data[i]))
            ;
    }
    return ODLC_OK;
}
