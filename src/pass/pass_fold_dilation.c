/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution of the blocks of an image that lie in the batch is a dilated convolution of the image: SpaceToBatch,
 * Conv2d or DepthWiseConv2d without padding and with strides of 1, BatchToSpace become one. What is padded before and
 * not cut off behind is the padding of the new one. */
#include "op/op.h"
#include "op/params.h"
#include "pass/search.h"

pass_fn pass_fold_dilation;

/* The tensor behind Reshapes, which nothing else reads if they are to go. */
static tensor_id behind_reshapes(const struct graph *g, const struct uses *uses, tensor_id id, bool to_go)
{
    for (;;) {
        const struct tensor *t = graph_tensor(g, id);
        const struct node *n = t->producer == NO_NODE ? NULL : graph_node(g, t->producer);
        if (!n || !node_is(n, OP_Reshape) || n->n_inputs != 1 || (to_go && uses->count[id] != 1))
            return id;
        id = n->inputs[0];
    }
}

static bool same_shape(const struct graph *g, tensor_id x, tensor_id y)
{
    return shape_equal(&graph_tensor(g, x)->type->shape, &graph_tensor(g, y)->type->shape);
}

/* Whether all elements of an integer param, where it is there, are `value`. */
static bool all_are(const struct node *n, enum param_id param, int64_t value)
{
    uint32_t count;
    const int64_t *values = node_ints(n, param, &count);
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != value)
            return false;
    return true;
}

struct dilated {
    struct node *conv;
    tensor_id image, result; /* what comes into the blocks; what the convolution makes of them */
    int64_t dilation[2], pad[2][2];
};

/* Params of both rearrangements as those of the convolution. */
static bool join_params(struct dilated *d, const struct node *split, const struct node *join)
{
    uint32_t count;
    const int64_t *blocks = node_ints(split, PARAM_block_size, &count),
                  *same = node_ints(join, PARAM_block_size, &count);
    const int64_t *dilation = node_ints(d->conv, PARAM_dilation, &count);
    const int64_t *pads = node_ints(split, PARAM_pad_amount, &count), *crops = node_ints(join, PARAM_crops, &count);
    for (int i = 0; i < 2; i++) {
        d->dilation[i] = blocks[i] * (dilation ? dilation[i] : 1);
        if (blocks[i] != same[i] || d->dilation[i] > INT32_MAX)
            return false;
        for (int end = 0; end < 2; end++) {
            d->pad[i][end] = (pads ? pads[2 * i + end] : 0) - (crops ? crops[2 * i + end] : 0);
            if (d->pad[i][end] < 0)
                return false;
        }
    }
    return true;
}

static bool can_be_dilated(const struct op *op)
{
    return op && op->layer == LAYER_CONVOLUTION && op->spatial_axes == 2 && op_param_place(op, PARAM_dilation) >= 0;
}

static bool find(const struct graph *g, const struct uses *uses, const struct node *join, struct dilated *d)
{
    d->result = behind_reshapes(g, uses, join->inputs[0], true);
    d->conv = graph_producer(g, d->result);
    if (!d->conv || !can_be_dilated(d->conv->op) || uses->count[d->result] != 1 ||
        !same_shape(g, d->result, join->inputs[0]) || !all_are(d->conv, PARAM_stride, 1) ||
        !all_are(d->conv, PARAM_pad_amount, 0))
        return false;
    tensor_id blocks = behind_reshapes(g, uses, d->conv->inputs[0], false);
    const struct node *split = graph_producer(g, blocks);
    if (!split || !node_is(split, OP_SpaceToBatch) || !same_shape(g, blocks, d->conv->inputs[0]))
        return false;
    d->image = split->inputs[0];
    return join_params(d, split, join);
}

/* Removes the node and the Reshapes before it, which lead from the convolution's result to it. */
static void remove_join(struct graph *g, node_id join, tensor_id result)
{
    for (node_id id = join;;) {
        tensor_id from = graph_node(g, id)->inputs[0];
        graph_remove_node(g, id);
        if (from == result)
            return;
        id = graph_tensor(g, from)->producer;
    }
}

static void fold(struct graph *g, const struct dilated *d, node_id join)
{
    struct shape pair = SHAPE(2), pairs = SHAPE(2, 2);
    node_id conv = graph_tensor(g, d->result)->producer;
    tensor_id out = graph_node(g, join)->outputs[0];
    node_set_ints(g, d->conv, PARAM_dilation, &pair, d->dilation);
    node_set_ints(g, d->conv, PARAM_pad_amount, &pairs, d->pad[0]);
    if (!all_are(d->conv, PARAM_pad_amount, 0))
        node_set_int(d->conv, PARAM_padding_size_strategy, 5); /* explicit amounts */
    remove_join(g, join, d->result);
    graph_replace_input(g, conv, 0, d->image);
    graph_replace_output(g, conv, 0, out);
}

odlc_status pass_fold_dilation(struct pass_context *c, struct graph *g)
{
    struct uses uses = {0};
    if (!graph_may_have(c, g, OP_BatchToSpace))
        return ODLC_OK;
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        const struct node *join = graph_node(g, id);
        struct dilated d;
        if (!node_is(join, OP_BatchToSpace))
            continue;
        if (!uses.count)
            uses = graph_uses(c->scratch, g);
        if (find(g, &uses, join, &d))
            fold(g, &d, id);
    }
    return ODLC_OK;
}
