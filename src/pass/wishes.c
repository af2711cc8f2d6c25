#include "pass/wishes.h"

#include "pass/regroup.h"

struct search {
    const struct graph *g;
    struct wish *wishes;
    bool *comes_last; /* per tensor: it comes from a channels-last op, in that order */
};

static uint32_t rank_of(const struct search *s, tensor_id id)
{
    return graph_tensor(s->g, id)->type->shape.rank;
}

/* The op works in whatever order the axes of this input have. */
static bool keeps_order(const struct search *s, const struct node *n, uint32_t i)
{
    bool is_copy = node_is(n, "Reshape") &&
                   shape_equal(&node_input(s->g, n, 0)->type->shape, &node_output(s->g, n, 0)->type->shape);
    bool moves = node_is(n, "Transpose");
    return !moves && (carries_axes(n->op, i) || takes_as_stored(n, i) || is_copy);
}

/* ---- forward: where channels-last tensors come from ---- */

static bool result_comes_last(const struct search *s, const struct node *n, uint32_t rank)
{
    if (node_is(n, "Transpose")) {
        struct perm perm = node_perm(n), inverse = perm_inverse(&perm);
        return n->layout_only && is_channels_last(&inverse);
    }
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && s->comes_last[n->inputs[i]] && rank_of(s, n->inputs[i]) == rank &&
            keeps_order(s, n, i))
            return true;
    return false;
}

static void find_origins(struct search *s)
{
    for (size_t i = 0; i < s->g->order.count; i++) {
        const struct node *n = graph_node(s->g, s->g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                s->comes_last[n->outputs[k]] = result_comes_last(s, n, rank_of(s, n->outputs[k]));
    }
}

/* ---- backward: what readers want ---- */

/* What an op which keeps the order of axes wants of input i: what its readers want, or the order of another input. */
static struct wish passed_on(const struct search *s, const struct node *n, uint32_t i)
{
    uint32_t rank = rank_of(s, n->inputs[i]);
    for (uint32_t k = 0; k < n->n_outputs; k++)
        if (n->outputs[k] != NO_TENSOR && s->wishes[n->outputs[k]].order.rank == rank)
            return s->wishes[n->outputs[k]];
    for (uint32_t k = 0; k < n->n_inputs; k++)
        if (k != i && n->inputs[k] != NO_TENSOR && s->comes_last[n->inputs[k]] && keeps_order(s, n, k) &&
            rank_of(s, n->inputs[k]) == rank)
            return (struct wish){perm_channels_last(rank), false};
    return (struct wish){.spatial = false};
}

static struct wish wish_for_input(const struct search *s, const struct node *n, uint32_t i)
{
    struct wish none = {.spatial = false}, made = {.spatial = false};
    if (node_is(n, "Transpose")) {
        struct perm perm = node_perm(n);
        return n->layout_only && is_channels_last(&perm) ? (struct wish){perm, true} : none;
    }
    if (keeps_order(s, n, i))
        return passed_on(s, n, i);
    if (!node_is(n, "Reshape"))
        return none;
    const struct perm *order = &s->wishes[n->outputs[0]].order;
    const struct shape *in = &node_input(s->g, n, 0)->type->shape, *out = &node_output(s->g, n, 0)->type->shape;
    bool found = order->rank && regroup(out, order, in, NULL, &made.order);
    return found && !perm_is_identity(&made.order) ? made : none;
}

const struct wish *find_wishes(struct arena *scratch, const struct graph *g)
{
    struct search s = {.g = g};
    s.wishes = arena_array(scratch, struct wish, g->tensors.count);
    s.comes_last = arena_array(scratch, bool, g->tensors.count);
    find_origins(&s);
    for (size_t i = g->order.count; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            if (n->inputs[k] == NO_TENSOR || s.wishes[n->inputs[k]].spatial)
                continue;
            struct wish wish = wish_for_input(&s, n, k);
            if (wish.order.rank)
                s.wishes[n->inputs[k]] = wish;
        }
    }
    return s.wishes;
}
