/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_view.h"

#include "op/op.h"
#include "op/rearrange.h"

/* ---- claiming ---- */

static bool is_product_of_reals(const struct graph *g, const struct node *n)
{
    return n->op->id == OP_MatMul && gpu_is_real(node_input(g, n, 0)) && gpu_is_real(node_input(g, n, 1)) &&
           gpu_is_real(node_output(g, n, 0));
}

/* The node that alone reads a tensor that nobody sees; NULL: there is none that is free. */
static const struct node *only_reader(const struct claiming *c, tensor_id id, node_id *out)
{
    if (c->wanted[id] || c->uses->count[id] != 1)
        return NULL;
    *out = c->uses->nodes[c->uses->first[id]];
    return c->is_free[*out] ? graph_node(c->scope->graph, *out) : NULL;
}

static bool is_plain_transpose(const struct graph *g, const struct node *n, struct rearrangement *r)
{
    const struct tensor *x = node_input(g, n, 0);
    return n->op->id == OP_Transpose && gpu_is_real(x) && x->kind != TENSOR_STATIC &&
           x->type->dtype == node_output(g, n, 0)->type->dtype && !gpu_refuse_sizes(g, n) &&
           !rearrangement_read(r, n, &x->type->shape);
}

/* One of whose last two axes neighbours stand, so that they are read together. */
static bool gives_operand(const struct claiming *c, node_id id, node_id *reader)
{
    const struct graph *g = c->scope->graph;
    const struct node *n = graph_node(g, id);
    struct rearrangement r;
    if (!c->is_free[id] || !is_plain_transpose(g, n, &r) || r.perm.rank < 2)
        return false;
    const struct node *product = only_reader(c, n->outputs[0], reader);
    const uint32_t last = r.perm.rank - 1;
    return product && is_product_of_reals(g, product) &&
           (product->n_inputs < 3 || product->inputs[2] != n->outputs[0]) &&
           (r.perm.axis[last] == last || r.perm.axis[last - 1] == last);
}

node_id gpu_view_head(const struct claiming *c, node_id id)
{
    node_id reader;
    return gives_operand(c, id, &reader) ? reader : id;
}

/* A Transpose of the product's result whose rows stay rows. */
static bool takes_result(const struct claiming *c, const struct node *product, node_id *out)
{
    struct rearrangement r;
    const struct node *n = only_reader(c, product->outputs[0], out);
    return n && is_plain_transpose(c->scope->graph, n, &r) && r.perm.axis[r.perm.rank - 1] == r.perm.rank - 1;
}

void gpu_view_claim(const struct claiming *c, node_id head, struct group *group)
{
    const struct graph *g = c->scope->graph;
    const struct node *n = graph_node(g, head);
    const bool is_product = is_product_of_reals(g, n);
    node_id other;
    for (uint32_t i = 0; is_product && i < 2; i++) {
        const node_id producer = node_input(g, n, i)->producer;
        if (producer != NO_NODE && gives_operand(c, producer, &other))
            vec_push(c->scope->arena, &group->nodes, producer);
    }
    vec_push(c->scope->arena, &group->nodes, head);
    if (is_product && takes_result(c, n, &other))
        vec_push(c->scope->arena, &group->nodes, other);
}

/* ---- preparing ---- */

static const struct node *node_at(const struct graph *g, const struct group *group, uint32_t index)
{
    return graph_node(g, group->nodes.data[index]);
}

uint32_t gpu_view_head_index(const struct graph *g, const struct group *group)
{
    uint32_t index = 0;
    while (index + 1 < group->nodes.count && node_at(g, group, index)->op->id == OP_Transpose)
        index++;
    return index;
}

uint32_t gpu_view_before(const struct gpu_making *m, uint32_t i)
{
    const struct node *head = gpu_node(m, 0);
    for (uint32_t k = 0; k < m->head; k++)
        if (i < head->n_inputs && node_at(m->scope->graph, m->group, k)->outputs[0] == head->inputs[i])
            return k;
    return UINT32_MAX;
}

static void strides_of(const struct gpu_making *m, tensor_id id, int64_t strides[MAX_RANK])
{
    shape_strides(&graph_tensor(m->scope->graph, id)->type->shape, strides);
}

/* Of the Transpose's result in its input. */
static struct perm perm_of(const struct gpu_making *m, const struct node *n)
{
    struct rearrangement r;
    (void)rearrangement_read(&r, n, &node_input(m->scope->graph, n, 0)->type->shape);
    return r.perm;
}

void gpu_view_input_strides(const struct gpu_making *m, uint32_t i, int64_t strides[MAX_RANK])
{
    const uint32_t before = gpu_view_before(m, i);
    int64_t stored[MAX_RANK];
    if (before == UINT32_MAX) {
        strides_of(m, gpu_node(m, 0)->inputs[i], strides);
        return;
    }
    const struct node *n = node_at(m->scope->graph, m->group, before);
    const struct perm perm = perm_of(m, n);
    strides_of(m, n->inputs[0], stored);
    for (uint32_t axis = 0; axis < perm.rank; axis++)
        strides[axis] = stored[perm.axis[axis]];
}

void gpu_view_output_strides(const struct gpu_making *m, int64_t strides[MAX_RANK])
{
    int64_t stored[MAX_RANK];
    strides_of(m, gpu_node(m, 0)->outputs[0], strides);
    if (gpu_node_count(m) < 2 || gpu_node(m, 1)->op->id != OP_Transpose)
        return;
    const struct perm perm = perm_of(m, gpu_node(m, 1));
    strides_of(m, gpu_node(m, 1)->outputs[0], stored);
    for (uint32_t axis = 0; axis < perm.rank; axis++)
        strides[perm.axis[axis]] = stored[axis];
}
