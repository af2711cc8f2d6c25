/* Folds a Batchnorm into the convolution or fully connected layer before it:  w·(W∗x + b) + c  =  (w·W)∗x + (w·b + c).
 * The weights are not touched: their view gets a pending factor per output channel, applied when the bytes are streamed
 * out. Only when nothing else reads the convolution's output, and never across a UDO: a claimed BatchNormalization is
 * no Batchnorm. */
#include "pass/pass.h"

pass_fn pass_fold_batchnorm;

/* The axis of the weights that counts output channels, or -1 when nothing can be folded into the op. */
static int output_channel_axis(const struct node *n)
{
    static const struct {
        const char *op;
        int axis;
    } layers[] = {{"Conv2d", 3}, {"DepthWiseConv2d", 3}, {"TransposeConv2d", 3}, {"FullyConnected", 0}};
    for (size_t i = 0; i < COUNT_OF(layers); i++)
        if (node_is(n, layers[i].op))
            return layers[i].axis;
    return -1;
}

static bool is_static(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t && t->kind == TENSOR_STATIC && dtype_is_float(t->type->dtype);
}

/* The layer whose output only this Batchnorm reads, or NULL. */
static struct node *foldable_layer(const struct graph *g, const struct uses *uses, const struct node *bn)
{
    const struct tensor *x = node_input(g, bn, 0);
    if (x->producer == NO_NODE || uses->count[bn->inputs[0]] != 1 || !is_static(g, bn, 1) || !is_static(g, bn, 2))
        return NULL;
    struct node *layer = graph_node(g, x->producer);
    if (!layer->op || output_channel_axis(layer) < 0 || layer->n_inputs != 3 || !is_static(g, layer, 1) ||
        !is_static(g, layer, 2))
        return NULL;
    const struct tensor *weights = node_input(g, layer, 1), *bias = node_input(g, layer, 2);
    int axis = output_channel_axis(layer);
    uint64_t channels = shape_count(&node_input(g, bn, 1)->type->shape);
    /* Weights whose dtype was cast would be scaled before the cast instead of after it. */
    bool plain = weights->view->dtype == weights->type->dtype && !weights->view->scale;
    bool per_channel =
        channels == (uint64_t)weights->type->shape.dims[axis] && channels == shape_count(&bias->type->shape);
    return plain && per_channel ? layer : NULL;
}

static void fold(struct graph *g, struct node *layer, const struct node *bn)
{
    int axis = output_channel_axis(layer);
    const struct tensor *weights = node_input(g, layer, 1), *bias = node_input(g, layer, 2);
    const struct tensor *w = node_input(g, bn, 1), *c = node_input(g, bn, 2);
    uint64_t channels = shape_count(&w->type->shape);
    const double *factor = arena_memdup(g->arena, view_load(g->arena, w->view, DT_FLOAT64), channels * sizeof(double));
    const double *shift = view_load(g->arena, c->view, DT_FLOAT64);
    const double *old_bias = view_load(g->arena, bias->view, DT_FLOAT64);
    double *new_bias = arena_array(g->arena, double, channels);
    for (uint64_t i = 0; i < channels; i++)
        new_bias[i] = old_bias[i] * factor[i] + shift[i];
    struct view scaled = *weights->view, moved = view_of(new_bias, DT_FLOAT64, &bias->type->shape);
    scaled.scale = factor;
    scaled.scale_axis = scaled.perm.axis[axis];
    /* The folded ones stand for the originals, so they ask for the originals' names (restore_names). */
    const char *weights_name = weights->wanted ? weights->wanted : weights->name;
    const char *bias_name = bias->wanted ? bias->wanted : bias->name;
    enum dtype weights_dtype = weights->type->dtype, bias_dtype = bias->type->dtype;
    layer->inputs[1] = graph_add_constant(g, weights_name, weights_dtype, &scaled);
    layer->inputs[2] = graph_add_constant(g, bias_name, bias_dtype, &moved);
    layer->outputs[0] = bn->outputs[0];
    if (op_param_index(layer->op, "bias_op_name") >= 0)
        node_set_string(g, layer, "bias_op_name", graph_tensor(g, layer->inputs[2])->name);
}

odlc_status pass_fold_batchnorm(struct pass_context *c, struct graph *g, bool *progress)
{
    if (c->options->no_batchnorm_folding)
        return ODLC_OK;
    struct uses uses = {0};
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        struct node *bn = graph_node(g, id);
        if (!node_is(bn, "Batchnorm") || bn->n_inputs != 3)
            continue;
        if (!uses.count)
            uses = graph_uses(c->scratch, g);
        struct node *layer = foldable_layer(g, &uses, bn);
        if (!layer)
            continue;
        tensor_id out = bn->outputs[0];
        node_id layer_id = graph_tensor(g, bn->inputs[0])->producer;
        fold(g, layer, bn);
        graph_remove_node(g, id);
        graph_tensor(g, out)->producer = layer_id;
        *progress = true;
    }
    return ODLC_OK;
}
