/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/track_product.h"

#include "op/params.h"

bool swaps_matrices(const struct perm *order)
{
    struct perm swap = perm_identity(order->rank);
    if (order->rank < 2)
        return false;
    swap.axis[order->rank - 2] = (uint8_t)(order->rank - 1);
    swap.axis[order->rank - 1] = (uint8_t)(order->rank - 2);
    return perm_equal(order, &swap);
}

bool product_takes_swapped(const struct track *t, const struct node *n)
{
    return node_is(n, OP_MatMul) && n->n_inputs == 2 && !t->c->options->plain_products &&
           node_input(t->g, n, 0)->kind != TENSOR_STATIC && node_input(t->g, n, 1)->kind != TENSOR_STATIC;
}

/* Whether the order that swaps the last two axes of the tensor is that of its readers: all of them are Transposes which
 * do that, or the tensor is reshaped to one that flows into a channels-last op. */
static bool wants_swapped(const struct track *t, tensor_id id)
{
    const uint32_t first = t->uses.first[id], end = t->uses.first[id + 1];
    if (graph_tensor(t->g, id)->kind == TENSOR_OUTPUT)
        return false;
    if (swaps_matrices(&t->preferred[id].order))
        return true;
    for (uint32_t i = first; i < end; i++) {
        const struct node *reader = graph_node(t->g, t->uses.nodes[i]);
        const struct perm perm = node_is(reader, OP_Transpose) ? node_perm(reader) : perm_identity(0);
        if (!swaps_matrices(&perm))
            return false;
    }
    return end > first;
}

static void set_flag(struct graph *g, struct node *n, enum param_id id, bool on)
{
    const uint32_t place = (uint32_t)op_param_place(n->op, id);
    const struct param flag = {.set = true, .usage = 1, .name = n->op->params[place].name, .dtype = DT_BOOL, .i = on};
    node_set_param(g, n, place, &flag);
}

bool track_product(struct track *t, node_id id, odlc_status *status)
{
    static const enum param_id flags[] = {PARAM_transpose_in0, PARAM_transpose_in1};
    const struct node *n = graph_node(t->g, id);
    if (!product_takes_swapped(t, n))
        return false;
    const tensor_id out = n->outputs[0];
    const bool swap_out = wants_swapped(t, out);
    bool any = swap_out, transposed[2];
    tensor_id in[2];
    *status = ODLC_OK;
    for (uint32_t i = 0; i < 2; i++)
        any = swaps_matrices(&t->at[n->inputs[i]].perm) || any;
    if (!any)
        return false;
    for (uint32_t i = 0; i < 2 && *status == ODLC_OK; i++) {
        n = graph_node(t->g, id); /* bringing moves the array of nodes */
        const struct location at = t->at[n->inputs[i]];
        const bool swapped = swaps_matrices(&at.perm);
        transposed[i] = (node_int(n, flags[i], 0) != 0) != swapped;
        in[i] = at.stored;
        if (!swapped)
            *status = track_bring_own_order(t, n->inputs[i], id, &in[i]);
    }
    if (*status != ODLC_OK)
        return true;
    /* (A B)ᵀ = Bᵀ Aᵀ */
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t from = swap_out ? 1 - i : i;
        graph_replace_input(t->g, id, i, in[from]);
        set_flag(t->g, graph_node(t->g, id), flags[i], transposed[from] != swap_out);
    }
    struct perm order = perm_identity(t->at[out].perm.rank);
    if (swap_out) {
        order.axis[order.rank - 2] = (uint8_t)(order.rank - 1);
        order.axis[order.rank - 1] = (uint8_t)(order.rank - 2);
    }
    track_store(t, out, &order);
    vec_push(t->g->arena, &t->g->order, id);
    return true;
}
