/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/preferred_layout.h"

#include "op/axes.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/regroup.h"

struct search {
    const struct graph *g;
    struct preferred_layout *preferred;
    bool *comes_last; /* per tensor: it comes from a channels-last op, in that order */
};

static uint32_t rank_of(const struct search *s, tensor_id id)
{
    return graph_tensor(s->g, id)->type->shape.rank;
}

/* The op works in whatever order the axes of this input have. */
static bool keeps_order(const struct search *s, const struct node *n, uint32_t i)
{
    bool is_copy = node_is(n, OP_Reshape) &&
                   shape_equal(&node_input(s->g, n, 0)->type->shape, &node_output(s->g, n, 0)->type->shape);
    bool moves = node_is(n, OP_Transpose);
    return !moves && (carries_axes(n->op, i) || takes_as_stored(n, i) || is_copy);
}

/* ---- forward: where channels-last tensors come from ---- */

/* The ranks, as bits, of the inputs that come channels-last and whose order the op keeps. */
static uint32_t ranks_that_come_last(const struct search *s, const struct node *n)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && s->comes_last[n->inputs[i]] && keeps_order(s, n, i))
            ranks |= 1u << rank_of(s, n->inputs[i]);
    return ranks;
}

static bool leads_back(const struct node *transpose)
{
    struct perm perm = node_perm(transpose), inverse = perm_inverse(&perm);
    return transpose->layout_only && is_channels_last(&inverse);
}

static void find_origins(struct search *s)
{
    for (size_t i = 0; i < s->g->order.count; i++) {
        const struct node *n = graph_node(s->g, s->g->order.data[i]);
        bool moves = node_is(n, OP_Transpose), last = moves && leads_back(n);
        uint32_t ranks = moves ? 0 : ranks_that_come_last(s, n);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                s->comes_last[n->outputs[k]] = last || ranks >> rank_of(s, n->outputs[k]) & 1;
    }
}

/* ---- backward: what readers want ---- */

/* What the operands of a node mean for its inputs, by rank. */
enum { NONE = INT32_MAX };

struct around {
    const struct node *n;
    tensor_id first_preferred[MAX_RANK + 1]; /* the first output with a preferred layout of that rank, or NO_TENSOR */
    uint32_t last[2][MAX_RANK + 1];          /* two inputs that come channels-last, or NONE */
};

static struct around look_around(const struct search *s, const struct node *n)
{
    struct around a = {.n = n};
    for (uint32_t rank = 0; rank <= MAX_RANK; rank++) {
        a.first_preferred[rank] = NO_TENSOR;
        a.last[0][rank] = a.last[1][rank] = NONE;
    }
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        uint32_t rank = n->outputs[k] != NO_TENSOR ? s->preferred[n->outputs[k]].order.rank : 0;
        if (rank && a.first_preferred[rank] == NO_TENSOR)
            a.first_preferred[rank] = n->outputs[k];
    }
    for (uint32_t k = 0; k < n->n_inputs; k++) {
        if (n->inputs[k] == NO_TENSOR || !s->comes_last[n->inputs[k]] || !keeps_order(s, n, k))
            continue;
        uint32_t rank = rank_of(s, n->inputs[k]);
        a.last[a.last[0][rank] != NONE][rank] = k;
    }
    return a;
}

/* What an op which keeps the order of axes wants of input i: what its readers want, or the order of another input. */
static struct preferred_layout passed_on(const struct search *s, const struct around *a, uint32_t i)
{
    uint32_t rank = rank_of(s, a->n->inputs[i]);
    if (a->first_preferred[rank] != NO_TENSOR)
        return s->preferred[a->first_preferred[rank]];
    uint32_t other = a->last[a->last[0][rank] == i][rank];
    return other == NONE ? (struct preferred_layout){.spatial = false}
                         : (struct preferred_layout){perm_channels_last(rank), false};
}

/* Of what is reduced the order that gives the result in the wanted one: the axes that go stay in their places. */
static struct preferred_layout before_reduction(const struct search *s, const struct node *n, uint32_t axes)
{
    const struct perm *order = &s->preferred[n->outputs[0]].order;
    const uint32_t rank = node_input(s->g, n, 0)->type->shape.rank;
    struct preferred_layout made = {.order = {.rank = rank}};
    uint8_t kept[MAX_RANK];
    uint32_t n_kept = 0;
    if (order->rank == 0)
        return (struct preferred_layout){.spatial = false};
    for (uint32_t i = 0; i < rank; i++)
        if (!(axes >> i & 1))
            kept[n_kept++] = (uint8_t)i;
    for (uint32_t i = 0, k = 0; i < rank; i++)
        made.order.axis[i] = axes >> i & 1 ? (uint8_t)i : kept[order->axis[k++]];
    return made;
}

static struct preferred_layout preferred_for_input(const struct search *s, const struct around *a, uint32_t i)
{
    const struct node *n = a->n;
    struct preferred_layout none = {.spatial = false}, made = {.spatial = false};
    if (node_is(n, OP_Transpose)) {
        struct perm perm = node_perm(n);
        return n->layout_only && is_channels_last(&perm) ? (struct preferred_layout){perm, true} : none;
    }
    uint32_t axes;
    if (node_drops_axes(n, rank_of(s, n->inputs[i]), &axes))
        return before_reduction(s, n, axes);
    if (keeps_order(s, n, i))
        return passed_on(s, a, i);
    if (!node_is(n, OP_Reshape))
        return none;
    const struct perm *order = &s->preferred[n->outputs[0]].order;
    const struct shape *in = &node_input(s->g, n, 0)->type->shape, *out = &node_output(s->g, n, 0)->type->shape;
    bool found = order->rank && regroup(out, order, in, NULL, &made.order);
    return found && !perm_is_identity(&made.order) ? made : none;
}

const struct preferred_layout *find_preferred_layouts(struct arena *scratch, const struct graph *g)
{
    struct search s = {.g = g};
    s.preferred = arena_array(scratch, struct preferred_layout, g->tensors.count);
    s.comes_last = arena_array(scratch, bool, g->tensors.count);
    find_origins(&s);
    for (size_t i = g->order.count; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.data[i]);
        const struct around around = look_around(&s, n);
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            if (n->inputs[k] == NO_TENSOR || s.preferred[n->inputs[k]].spatial)
                continue;
            struct preferred_layout wanted = preferred_for_input(&s, &around, k);
            if (wanted.order.rank)
                s.preferred[n->inputs[k]] = wanted;
        }
    }
    return s.preferred;
}
