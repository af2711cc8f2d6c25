/* SPDX-License-Identifier: Apache-2.0 */
/* Better integers and biases than the nearest, layer after layer: the inputs of a layer are gathered as the float
 * network gives them, and as layers before it do that have theirs already (quant_round.c, quant_correct.c). Each go
 * over the calibration inputs serves layers that do not depend on each other. Where biases are corrected, a go before
 * observes the float network's ranges, and all that the layers give is rounded by them (quant_imitate.c). Where layers
 * are equalized, that is done first, by a go over the channels of the float network (quant_equalize.c). */
#include <string.h>

#include "op/op.h"
#include "quantize/quant_equalize.h"
#include "quantize/quant_imitate.h"
#include "quantize/quant_round.h"

/* Elements of squares that are gathered in one go, where there is more than one layer. */
enum { MOST_PRODUCTS = 32 << 20 };

/* What is observed in a go over the inputs. */
enum go { GO_CHANNELS, GO_RANGES, GO_LAYERS };

/* A layer that can be improved. */
struct improvable {
    struct linear_layer layer;
    uint32_t level; /* of such layers, how many at most are on the way from the graph's inputs to this one */
    bool rounds, corrects;
    struct quant_gathering gathering;
};

struct quant_improvement {
    VEC(struct improvable) layers; /* by levels */
    size_t first, end;             /* those that this go is for */
    enum go go;
    struct quant_equalizing *equalizing; /* GO_CHANNELS */
    struct executor *floats;
    const float **kept;              /* per tensor: values in the float network */
    const struct encoding **rounded; /* per tensor: what its values are rounded by; both NULL: they are not */
    bool is_done;
    struct arena_mark mark; /* before what a go needs */
    size_t n_diags;         /* at that time */
};

static bool improves(const struct quantizer *q, enum quantize_improvement kind)
{
    return q->options->improvements & (uint32_t)kind;
}

/* ---- biases ---- */

static bool lacks_bias(const struct graph *g, const struct node *n)
{
    const struct tensor *w = node_input(g, n, 1), *y = node_output(g, n, 0);
    const bool is_layer = n->op->layer != NO_LAYER || node_is(n, OP_MatMul);
    return is_layer && n->op->max_inputs == 3 && w && w->kind == TENSOR_STATIC && w->type->dtype == DT_FLOAT32 &&
           !node_input(g, n, 2) && y->type->shape.rank > 0;
}

void quant_give_biases(struct quantizer *q)
{
    struct graph *g = q->g;
    for (size_t i = 0; improves(q, IMPROVE_CORRECT) && i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (!lacks_bias(g, n))
            continue;
        const struct shape *result = &node_output(g, n, 0)->type->shape;
        const struct shape shape = SHAPE(result->dims[result->rank - 1]);
        const struct view zeros = view_splat_float(g->arena, DT_FLOAT32, &shape, 0);
        const char *name = arena_printf(g->arena, "%s_bias", n->name);
        graph_set_input(g, g->order.data[i], 2, graph_add_constant(g, name, DT_FLOAT32, &zeros));
    }
}

/* Whether the layer has a bias of its own, an element for each channel. */
static bool has_bias(const struct quantizer *q, const struct linear_layer *l)
{
    const struct tensor *bias = node_input(q->g, l->node, 2);
    return bias && q->items[l->node->inputs[2]].integers && q->items[l->node->inputs[2]].role == ROLE_BIAS &&
           q->uses.count[l->node->inputs[2]] == 1 && shape_count(&bias->type->shape) == l->groups * l->width;
}

/* ---- an observation ---- */

static odlc_status keep(void *object, tensor_id id, const struct buffer *value)
{
    struct quantizer *q = object;
    const struct buffer wide = buffer_widen(value, DT_FLOAT32, q->scratch);
    const uint64_t count = shape_count(&wide.shape);
    double low = 0, high = 0;
    size_t bad;
    if (!quant_widen(wide.data, count, &low, &high, &bad))
        return quant_not_finite(q, id, wide.data, bad);
    q->improvement->kept[id] = arena_memdup(q->scratch, wide.data, count * sizeof(float));
    return ODLC_OK;
}

static odlc_status gather(void *object, tensor_id id, const struct buffer *value)
{
    struct quantizer *q = object;
    struct quant_improvement *im = q->improvement;
    struct arena_mark mark = arena_mark(q->scratch);
    if (im->rounded && im->rounded[id] && value->dtype == DT_FLOAT32)
        quant_imitate(im->rounded[id], value->data, shape_count(&value->shape));
    const struct buffer wide = buffer_widen(value, DT_FLOAT32, q->scratch);
    for (size_t i = im->first; i < im->end; i++) {
        struct improvable *layer = &im->layers.data[i];
        if (layer->layer.input != id)
            continue;
        if (layer->rounds)
            quant_products_add(q, &layer->gathering, wide.data, im->kept[id]);
        if (layer->corrects)
            quant_inputs_add(q, &layer->gathering, wide.data, im->kept[id]);
    }
    arena_rewind(q->scratch, mark);
    return ODLC_OK;
}

bool quant_is_improving(const struct quantizer *q)
{
    return q->improvement && !q->improvement->is_done && q->improvement->go != GO_RANGES;
}

static odlc_status add_channels(void *object, tensor_id id, const struct buffer *value)
{
    struct quantizer *q = object;
    struct arena_mark mark = arena_mark(q->scratch);
    const struct buffer wide = buffer_widen(value, DT_FLOAT32, q->scratch);
    size_t bad;
    odlc_status status = ODLC_OK;
    if (!quant_channels_add(q->improvement->equalizing->channels[id], wide.data, shape_count(&wide.shape), &bad))
        status = quant_not_finite(q, id, wide.data, bad);
    arena_rewind(q->scratch, mark);
    return status;
}

static odlc_status observe_channels(struct quantizer *q)
{
    for (size_t i = 0; i < q->g->inputs.count; i++) {
        const tensor_id id = q->g->inputs.data[i];
        if (q->executor->observed[id])
            TRY(add_channels(q, id, &q->executor->buffers[id]));
    }
    return executor_run(q->executor);
}

static odlc_status observe_layers(struct quantizer *q)
{
    struct quant_improvement *im = q->improvement;
    struct arena_mark mark = arena_mark(q->scratch);
    const bool *observed = im->floats->observed;
    for (size_t i = 0; i < q->g->inputs.count; i++) {
        const tensor_id id = q->g->inputs.data[i];
        const struct buffer *given = &q->executor->buffers[id];
        if (given->data)
            memcpy(im->floats->buffers[id].data, given->data, tensor_bytes(graph_tensor(q->g, id)->type));
        if (observed[id])
            TRY(keep(q, id, given));
    }
    TRY(executor_run(im->floats));
    for (size_t i = 0; i < q->g->inputs.count; i++) {
        const tensor_id id = q->g->inputs.data[i];
        if (q->executor->observed[id] && q->executor->buffers[id].data)
            TRY(gather(q, id, &q->executor->buffers[id]));
    }
    TRY(executor_run(q->executor));
    arena_rewind(q->scratch, mark);
    return ODLC_OK;
}

odlc_status quant_improve_observe(struct quantizer *q)
{
    return q->improvement->go == GO_CHANNELS ? observe_channels(q) : observe_layers(q);
}

/* ---- layers ---- */

static bool rounds(const struct quantizer *q, const struct linear_layer *l)
{
    const struct quant *quant = q->items[l->weights].quant;
    return improves(q, IMPROVE_ROUND) && quant->encodings[0].bitwidth <= 8 &&
           (!quant->per_axis || quant->axis == l->channel_axis);
}

static void add_layer(struct quantizer *q, const struct node *n, uint32_t level)
{
    struct improvable layer = {.level = level};
    if (!quant_layer_read(q, n, &layer.layer))
        return;
    layer.rounds = rounds(q, &layer.layer);
    layer.corrects = improves(q, IMPROVE_CORRECT) && has_bias(q, &layer.layer);
    if (layer.rounds || layer.corrects)
        vec_push(q->arena, &q->improvement->layers, layer);
}

/* By levels, those of one level in the graph's order. */
static void list_layers(struct quantizer *q)
{
    const struct graph *g = q->g;
    uint32_t *levels = arena_array(q->arena, uint32_t, g->tensors.count), last = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        struct linear_layer layer;
        uint32_t level = 0;
        for (uint32_t k = 0; k < n->n_inputs; k++)
            level = n->inputs[k] == NO_TENSOR || levels[n->inputs[k]] < level ? level : levels[n->inputs[k]];
        level += quant_layer_read(q, n, &layer);
        last = level > last ? level : last;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                levels[n->outputs[k]] = level;
    }
    for (uint32_t level = 1; level <= last; level++)
        for (size_t i = 0; i < g->order.count; i++) {
            const struct node *n = graph_node(g, g->order.data[i]);
            if (n->n_outputs == 1 && levels[n->outputs[0]] == level)
                add_layer(q, n, level);
        }
}

static void start_layers(struct quantizer *q)
{
    struct quant_improvement *im = q->improvement;
    im->kept = arena_array(q->arena, const float *, q->g->tensors.count);
    list_layers(q);
    for (size_t i = 0; i < im->layers.count; i++) {
        struct improvable *layer = &im->layers.data[i];
        struct quant_gathering *gathering = &layer->gathering;
        const uint64_t inputs = layer->layer.groups * layer->layer.depth;
        gathering->layer = &layer->layer;
        if (!layer->corrects)
            continue;
        gathering->fixed_inputs = arena_array(q->arena, double, inputs);
        gathering->float_inputs = arena_array(q->arena, double, inputs);
    }
}

/* ---- goes over the inputs ---- */

/* Layers of one level, as many as the squares have room for. */
static void choose_layers(struct quantizer *q)
{
    struct quant_improvement *im = q->improvement;
    uint64_t elements = 0;
    for (im->first = im->end; im->end < im->layers.count; im->end++) {
        struct improvable *layer = &im->layers.data[im->end];
        const uint64_t count = layer->rounds ? quant_products_size(&layer->layer) : 0;
        if (im->end > im->first &&
            (layer->level != im->layers.data[im->first].level || elements + count > MOST_PRODUCTS))
            break;
        elements += count;
        if (!layer->rounds)
            continue;
        layer->gathering.floats = view_load(q->arena, q->items[layer->layer.weights].floats, DT_FLOAT32);
        quant_products_new(q, &layer->gathering);
    }
}

static void show_constants(struct quantizer *q, bool as_floats)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        const struct quant_item *item = &q->items[id];
        if (item->floats)
            graph_set_view(q->g, id, !as_floats ? item->reals : item->bounded ? item->bounded : item->floats);
    }
}

static odlc_status prepare_channels(struct quantizer *q, const struct backend *const *backends, unsigned threads)
{
    struct quant_channels **channels = q->improvement->equalizing->channels;
    const size_t count = q->g->tensors.count;
    bool *observed = arena_array(q->arena, bool, count);
    tensor_id *wanted = arena_array(q->arena, tensor_id, count);
    size_t n_wanted = 0;
    for (tensor_id id = 0; id < count; id++) {
        observed[id] = channels[id];
        if (channels[id])
            wanted[n_wanted++] = id;
    }
    const struct executor_options options = {.backends = backends,
                                             .threads = threads,
                                             .packages = q->options->packages,
                                             .progress = q->options->progress,
                                             .observed = observed,
                                             .observer = {q, add_channels}};
    show_constants(q, true);
    const odlc_status status =
        executor_create(q->arena, q->scratch, q->diags, q->g, wanted, n_wanted, &options, &q->executor);
    show_constants(q, false);
    return status;
}

/* A go over the float network's ranges. */
static odlc_status prepare_ranges(struct quantizer *q, const struct backend *const *backends, unsigned threads)
{
    show_constants(q, true);
    const odlc_status status = quantizer_calibrate(q, backends, threads);
    show_constants(q, false);
    return status;
}

/* What is shown of the network with integers: what layers of this go read, and all that is rounded. */
static const bool *shown_of(struct quantizer *q, const bool *read)
{
    const struct quant_improvement *im = q->improvement;
    bool *shown = arena_array(q->arena, bool, q->g->tensors.count);
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        shown[id] = read[id] || (im->rounded && im->rounded[id]);
    return shown;
}

static odlc_status prepare_layers(struct quantizer *q, const struct backend *const *backends, unsigned threads)
{
    struct quant_improvement *im = q->improvement;
    choose_layers(q);
    bool *observed = arena_array(q->arena, bool, q->g->tensors.count);
    tensor_id *wanted = arena_array(q->arena, tensor_id, im->end - im->first);
    for (size_t i = im->first; i < im->end; i++) {
        wanted[i - im->first] = im->layers.data[i].layer.input;
        observed[wanted[i - im->first]] = true;
    }
    struct executor_options options = {.backends = backends,
                                       .threads = threads,
                                       .packages = q->options->packages,
                                       .progress = q->options->progress,
                                       .observed = observed,
                                       .observer = {q, keep}};
    show_constants(q, true);
    TRY(executor_create(q->arena, q->scratch, q->diags, q->g, wanted, im->end - im->first, &options, &im->floats));
    options.observer.see = gather;
    options.observed = shown_of(q, observed);
    show_constants(q, false);
    return executor_create(q->arena, q->scratch, q->diags, q->g, wanted, im->end - im->first, &options, &q->executor);
}

static void forget_executor(struct quantizer *q)
{
    const struct quant_improvement *im = q->improvement;
    q->executor = NULL;
    if (q->diags->list.count == im->n_diags) /* diagnostics lie in the same arena */
        arena_rewind(q->arena, im->mark);
}

static odlc_status use_layers(struct quantizer *q)
{
    struct quant_improvement *im = q->improvement;
    for (size_t i = im->first; i < im->end; i++) {
        TRY(progress_report(q->options->progress, q->diags, i, im->layers.count));
        if (im->layers.data[i].rounds)
            quant_round(q, &im->layers.data[i].gathering);
    }
    forget_executor(q);
    for (size_t i = im->first; i < im->end; i++)
        if (im->layers.data[i].corrects)
            TRY(quant_correct(q, &im->layers.data[i].gathering));
    return ODLC_OK;
}

static void begin(struct quantizer *q)
{
    struct quant_improvement *im = arena_new(q->arena, struct quant_improvement);
    q->improvement = im;
    if (improves(q, IMPROVE_EQUALIZE))
        im->equalizing = quant_equalizing_new(q);
    im->go = im->equalizing ? GO_CHANNELS : improves(q, IMPROVE_CORRECT) ? GO_RANGES : GO_LAYERS;
    if (!im->equalizing)
        start_layers(q);
}

/* What the go before this one has found is used. */
static odlc_status go_on(struct quantizer *q)
{
    struct quant_improvement *im = q->improvement;
    if (!im) {
        begin(q);
        return ODLC_OK;
    }
    if (im->go == GO_LAYERS)
        return use_layers(q);
    if (im->go == GO_RANGES) {
        im->rounded = quant_imitated(q);
        im->go = GO_LAYERS;
        return ODLC_OK;
    }
    forget_executor(q);
    TRY(quant_equalize(im->equalizing));
    start_layers(q);
    im->go = improves(q, IMPROVE_CORRECT) ? GO_RANGES : GO_LAYERS;
    return ODLC_OK;
}

odlc_status quantizer_improve(struct quantizer *q, const struct backend *const *backends, unsigned threads,
                              bool *observes)
{
    *observes = false;
    if (!q->options->improvements)
        return ODLC_OK;
    TRY(go_on(q));
    struct quant_improvement *im = q->improvement;
    *observes = im->go == GO_CHANNELS || im->end < im->layers.count;
    im->is_done = !*observes;
    if (!*observes)
        return ODLC_OK;
    im->mark = arena_mark(q->arena);
    im->n_diags = q->diags->list.count;
    switch (im->go) {
    case GO_CHANNELS:
        return prepare_channels(q, backends, threads);
    case GO_RANGES:
        return prepare_ranges(q, backends, threads);
    case GO_LAYERS:
        return prepare_layers(q, backends, threads);
    default:
        return ODLC_ERR_INVALID;
    }
}

odlc_status quant_check_improved(const struct quantizer *q)
{
    if (!q->options->improvements || (q->improvement && !quant_is_improving(q)))
        return ODLC_OK;
    return diag_error(q->diags, ODLC_ERR_USAGE, AT(.file = q->path, .hint = "give --input_list"), "quantize-unknown",
                      "there are no inputs to choose %s by",
                      improves(q, IMPROVE_ROUND)     ? "roundings"
                      : improves(q, IMPROVE_CORRECT) ? "biases"
                                                     : "factors of channels");
}
