/* SPDX-License-Identifier: Apache-2.0 */
/* Padding that a node does goes into the layer or pool behind it, also where a Transpose stands between them: zeros
 * into convolutions and averages that count them, the least number into maxima, and zeros where no other number is
 * negative. Amounts that the window has add up. */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "op/params.h"
#include "op/ranges.h"
#include "pass/never_negative.h"
#include "pass/pass.h"
#include "pass/search.h"

pass_fn pass_fuse_pad;

enum { MOST_AXES = 3, PAIR = 2 };

struct padding {
    const struct node *pad, *turn;     /* turn: the Transpose behind the Pad, or NULL */
    int64_t amounts[PAIR * MOST_AXES]; /* before and after, of each spatial axis of the layer */
    double value;
    bool not_negative; /* what is padded */
};

/* Batches and channels, which are first and last, have none. */
static bool is_spatial(const int64_t *amounts, uint32_t rank)
{
    return amounts[0] == 0 && amounts[1] == 0 && amounts[PAIR * (rank - 1)] == 0 && amounts[PAIR * (rank - 1) + 1] == 0;
}

/* The node of that operator that gives the tensor, which nothing else reads; or NULL. */
static const struct node *only_for(const struct graph *g, const struct uses *uses, tensor_id t, enum op_id op)
{
    const struct node *n = uses->count[t] == 1 ? graph_producer(g, t) : NULL;
    return n && node_is(n, op) ? n : NULL;
}

/* The Pad node whose result only the node reads, or a Transpose for it. */
static bool find_padding(const struct graph *g, const struct uses *uses, const struct node *n, const bool *not_negative,
                         struct padding *p)
{
    const struct node *turn = only_for(g, uses, n->inputs[0], OP_Transpose);
    const struct node *pad = only_for(g, uses, turn ? turn->inputs[0] : n->inputs[0], OP_Pad);
    int64_t amounts[PAIR * MAX_RANK];
    uint32_t count;
    if (!pad || node_int(pad, PARAM_scheme, PAD_CONSTANT) != PAD_CONSTANT ||
        !dtype_is_float(node_input(g, pad, 0)->type->dtype))
        return false;
    const int64_t *given = node_ints(pad, PARAM_pad_amount, &count);
    const uint32_t rank = node_input(g, n, 0)->type->shape.rank;
    if (rank != n->op->spatial_axes + 2U || count != PAIR * rank)
        return false;
    const struct perm perm = turn ? node_perm(turn) : perm_identity(rank);
    for (uint32_t i = 0; i < count; i++)
        amounts[i] = given[PAIR * perm.axis[i / PAIR] + i % PAIR];
    if (!is_spatial(amounts, rank))
        return false;
    *p = (struct padding){.pad = pad,
                          .turn = turn,
                          .value = node_float(pad, PARAM_pad_constant_value, 0),
                          .not_negative = not_negative[pad->inputs[0]]};
    memcpy(p->amounts, amounts + PAIR, PAIR * n->op->spatial_axes * sizeof *amounts);
    return true;
}

static bool rounds_down(const struct node *n)
{
    return node_int(n, PARAM_rounding_mode, 0) == 0;
}

static bool has_pads(const struct node *n)
{
    uint32_t count;
    const int64_t *own = node_ints(n, PARAM_pad_amount, &count);
    for (uint32_t i = 0; i < count; i++)
        if (own[i] != 0)
            return true;
    return false;
}

/* The window's amounts with those of the padding. */
static void add_up(const struct node *n, const struct padding *p, int64_t sum[PAIR * MOST_AXES])
{
    uint32_t count;
    const int64_t *own = node_ints(n, PARAM_pad_amount, &count);
    for (uint32_t i = 0; i < PAIR * n->op->spatial_axes; i++)
        sum[i] = p->amounts[i] + (own && i < count ? own[i] : 0);
}

/* Whether each window of a pool has an element that is no padding. */
static bool windows_reach(const struct node *n, const int64_t *sum)
{
    uint32_t count;
    const int64_t *filter = node_ints(n, PARAM_filter_size, &count);
    for (uint32_t i = 0; i < n->op->spatial_axes; i++)
        if (sum[PAIR * i] >= filter[i] || sum[PAIR * i + 1] >= filter[i])
            return false;
    return true;
}

/* Whether the node does the same with those amounts of its own. */
static bool takes(const struct node *n, const struct padding *p, const int64_t *sum)
{
    switch (n->op->id) {
    case OP_PoolAvg2d:
    case OP_PoolAvg3d:
        return p->value == 0 && rounds_down(n) && (!has_pads(n) || node_int(n, PARAM_count_pad_for_edges, 0));
    case OP_PoolMax2d:
    case OP_PoolMax3d:
        return rounds_down(n) && windows_reach(n, sum) && (p->value == -INFINITY || (p->value == 0 && p->not_negative));
    default:
        return n->op->layer == LAYER_CONVOLUTION && p->value == 0;
    }
}

static void take(struct graph *g, node_id id, const struct padding *p, const int64_t *sum)
{
    struct node *n = graph_node(g, id);
    const struct shape pairs = SHAPE(n->op->spatial_axes, PAIR);
    const tensor_id x = p->pad->inputs[0], padded = p->pad->outputs[0], turned = n->inputs[0];
    node_set_ints(g, n, PARAM_pad_amount, &pairs, sum);
    node_set_int(n, PARAM_padding_size_strategy, 5); /* explicit amounts */
    if (op_param_place(n->op, PARAM_count_pad_for_edges) >= 0)
        node_set_int(n, PARAM_count_pad_for_edges, 1);
    graph_remove_node(g, graph_tensor(g, padded)->producer);
    if (!p->turn) {
        graph_replace_input(g, id, 0, x);
        return;
    }
    const struct perm perm = node_perm(p->turn);
    const struct shape shape = perm_apply(&perm, &graph_tensor(g, x)->type->shape);
    graph_replace_input(g, graph_tensor(g, turned)->producer, 0, x);
    graph_set_shape(g, turned, &shape);
}

odlc_status pass_fuse_pad(struct pass_context *c, struct graph *g)
{
    if (!graph_may_have(c, g, OP_Pad))
        return ODLC_OK;
    const struct uses uses = graph_uses(c->scratch, g);
    bool *not_negative = arena_array(c->scratch, bool, g->tensors.count);
    for (size_t i = 0; i < g->order.count; i++) {
        const node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        struct padding p;
        int64_t sum[PAIR * MOST_AXES];
        if (!n->op)
            continue;
        if (!n->op->package && n->op->spatial_axes && find_padding(g, &uses, n, not_negative, &p)) {
            add_up(n, &p, sum);
            if (takes(n, &p, sum))
                take(g, id, &p, sum);
        }
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                not_negative[n->outputs[k]] = gives_no_negative(g, n, not_negative);
    }
    return ODLC_OK;
}
