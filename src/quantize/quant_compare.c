/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/quant.h"
#include "kernel/kernel.h"
#include "op/op.h"
#include "quantize/quant_input.h"
#include "quantize/quantizer.h"

enum { MOST_COUNTED_BITS = 16, NO_LAYER_OF = -1 };

struct quant_compare {
    struct arena *arena, *scratch;
    struct diags *diags;
    const struct graph *floats, *fixed;
    bool only_outputs;
    struct executor *float_run, *fixed_run;
    bool *is_given;      /* per tensor of the fixed graph: an input that has values for the next run */
    float **values;      /* per tensor of the float graph: those of the run at work; NULL: not compared */
    struct buffer *made; /* per tensor of the fixed graph that has no counterpart: what its op makes of the others */
    int64_t *layer_of;   /* per tensor of the fixed graph */
    VEC(struct quant_layer) layers;
};

static const struct encoding *only_encoding(const struct tensor *t)
{
    return dtype_is_fixed(t->type->dtype) && t->quant && !t->quant->per_axis ? &t->quant->encodings[0] : NULL;
}

static bool is_signed(const struct tensor *t)
{
    return dtype_info(t->type->dtype)->cls == CLASS_SFXP;
}

/* ---- who is compared with whom ---- */

static bool is_real(const struct tensor *t)
{
    return dtype_is_float(t->type->dtype) || dtype_is_fixed(t->type->dtype);
}

/* The float tensor of the same name and shape, else NO_TENSOR. */
static tensor_id counterpart(const struct quant_compare *c, tensor_id id)
{
    const struct tensor *t = graph_tensor(c->fixed, id);
    const tensor_id other = graph_find_tensor(c->floats, t->name);
    if (other == NO_TENSOR || !is_real(t))
        return NO_TENSOR;
    const struct tensor *o = graph_tensor(c->floats, other);
    return dtype_is_float(o->type->dtype) && shape_equal(&o->type->shape, &t->type->shape) &&
                   (o->kind == TENSOR_STATIC) == (t->kind == TENSOR_STATIC)
               ? other
               : NO_TENSOR;
}

/* The clamp that alone reads the tensor, and whose integers are the tensor's own. */
static const struct node *only_clamp(const struct quant_compare *c, const struct uses *uses, tensor_id id)
{
    const struct tensor *t = graph_tensor(c->fixed, id);
    if (t->kind == TENSOR_INPUT || uses->count[id] != 1 || uses->first[id] == uses->first[id + 1])
        return NULL;
    const struct node *n = graph_node(c->fixed, uses->nodes[uses->first[id]]);
    if (!quant_is_clamp(n) || !only_encoding(t))
        return NULL;
    return quant_equal(t->quant, node_output(c->fixed, n, 0)->quant) ? n : NULL;
}

static void add_layer(struct quant_compare *c, const struct uses *uses, tensor_id id)
{
    const tensor_id floats = counterpart(c, id);
    if (floats == NO_TENSOR || (c->only_outputs && graph_tensor(c->floats, floats)->kind != TENSOR_OUTPUT))
        return;
    const struct tensor *t = graph_tensor(c->fixed, id);
    const struct encoding *e = only_encoding(t);
    const struct node *clamp = only_clamp(c, uses, id);
    const tensor_id cut = clamp ? counterpart(c, clamp->outputs[0]) : NO_TENSOR;
    struct quant_layer layer = {.fixed = id, .floats = floats, .target = cut == NO_TENSOR ? floats : cut};
    if (e)
        quant_spread_start(&layer.spread, e, is_signed(t));
    if (e && e->bitwidth <= MOST_COUNTED_BITS)
        layer.met = arena_array(c->arena, uint64_t, ((size_t)1 << e->bitwidth) / 64 + 1);
    c->layer_of[id] = (int64_t)c->layers.count;
    vec_push(c->arena, &c->layers, layer);
}

static void add_all(struct quant_compare *c)
{
    const struct graph *g = c->fixed;
    const struct uses uses = graph_uses(c->arena, g);
    for (size_t i = 0; i < g->inputs.count; i++)
        add_layer(c, &uses, g->inputs.data[i]);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR)
                add_layer(c, &uses, n->outputs[k]);
    }
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (graph_tensor(g, id)->kind == TENSOR_STATIC)
            add_layer(c, &uses, id);
    for (size_t i = 0; i < c->layers.count; i++) {
        const struct tensor *t = graph_tensor(c->floats, c->layers.data[i].floats);
        if (t->kind != TENSOR_STATIC)
            c->values[c->layers.data[i].floats] = arena_array(c->arena, float, shape_count(&t->type->shape));
    }
}

/* ---- values ---- */

static void meet_levels(struct quant_layer *layer, const float *y, uint64_t count)
{
    for (uint64_t i = 0; layer->met && i < count; i++) {
        const uint64_t level = (uint64_t)quant_spread_level(&layer->spread, y[i]);
        layer->met[level / 64] |= (uint64_t)1 << level % 64;
    }
}

static void add_values(struct quant_layer *layer, const float *x, const float *y, uint64_t count)
{
    quant_error_add(&layer->error, x, y, count);
    meet_levels(layer, y, count);
}

/* A constant with an encoding per channel saturates where the channel's encoding does. */
static void count_saturated(struct quant_layer *layer, const struct buffer *b, const float *x, uint64_t count)
{
    const struct encoding *e = NULL;
    struct quant_spread channel = {0};
    for (uint64_t i = 0; i < count; i++) {
        const struct encoding *at = buffer_encoding(b, i);
        if (at != e)
            quant_spread_start(&channel, at, dtype_info(b->dtype)->cls == CLASS_SFXP);
        e = at;
        const double steps = nearbyint(x[i] / e->scale);
        layer->saturated += steps < channel.lowest || steps > channel.highest;
    }
}

static void compare_constant(struct quant_compare *c, struct quant_layer *layer)
{
    const struct tensor *t = graph_tensor(c->fixed, layer->fixed), *o = graph_tensor(c->floats, layer->floats);
    struct arena_mark mark = arena_mark(c->scratch);
    const uint64_t count = shape_count(&t->type->shape);
    const float *x = view_load(c->scratch, o->view, DT_FLOAT32);
    const struct buffer b = {.dtype = t->type->dtype,
                             .shape = t->type->shape,
                             .quant = t->quant,
                             .data = (void *)view_load(c->scratch, t->view, t->type->dtype)};
    const float *y = buffer_widen(&b, DT_FLOAT32, c->scratch).data;
    add_values(layer, x, y, count);
    if (layer->spread.encoding)
        quant_spread_add(&layer->spread, x, count);
    else if (t->quant && dtype_is_fixed(b.dtype))
        count_saturated(layer, &b, x, count);
    layer->own = layer->error;
    arena_rewind(c->scratch, mark);
}

static odlc_status keep(void *object, tensor_id id, const struct buffer *value)
{
    struct quant_compare *c = object;
    struct arena_mark mark = arena_mark(c->scratch);
    const struct buffer wide = buffer_widen(value, DT_FLOAT32, c->scratch);
    memcpy(c->values[id], wide.data, shape_count(&wide.shape) * sizeof(float));
    arena_rewind(c->scratch, mark);
    return ODLC_OK;
}

/* A tensor of the quantized network, or (is_own) what its op makes of the float network's values. */
static void compare(struct quant_compare *c, tensor_id id, const struct buffer *value, bool is_own)
{
    struct quant_layer *layer = &c->layers.data[c->layer_of[id]];
    struct arena_mark mark = arena_mark(c->scratch);
    const float *x = c->values[layer->target];
    const struct buffer wide = buffer_widen(value, DT_FLOAT32, c->scratch);
    if (is_own)
        quant_error_add(&layer->own, x, wide.data, shape_count(&wide.shape));
    else
        add_values(layer, x, wide.data, shape_count(&wide.shape));
    arena_rewind(c->scratch, mark);
}

static odlc_status see(void *object, tensor_id id, const struct buffer *value)
{
    compare(object, id, value, false);
    return ODLC_OK;
}

/* ---- ops on their own ---- */

static struct buffer buffer_of(const struct tensor *t)
{
    return (struct buffer){
        .dtype = t->type->dtype, .stored = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
}

/* The float network's value as the fixed graph's tensor has it; without data where there is none. */
static struct buffer operand(struct quant_compare *c, tensor_id id)
{
    struct buffer b = {0};
    if (id == NO_TENSOR)
        return b;
    const struct tensor *t = graph_tensor(c->fixed, id);
    if (t->kind == TENSOR_STATIC || (t->kind == TENSOR_INPUT && !is_real(t)))
        return c->fixed_run->buffers[id];
    if (c->layer_of[id] == NO_LAYER_OF)
        return c->made[id];
    b = buffer_of(t);
    b.data = arena_alloc(c->scratch, tensor_bytes(t->type));
    const struct buffer wide = {
        .dtype = DT_FLOAT32, .shape = b.shape, .data = c->values[c->layers.data[c->layer_of[id]].target]};
    buffer_narrow(&wide, &b);
    return b;
}

static odlc_status compute_alone(struct quant_compare *c, const struct node *n)
{
    struct buffer *in = arena_array(c->scratch, struct buffer, n->n_inputs);
    struct buffer *out = arena_array(c->scratch, struct buffer, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        in[i] = operand(c, n->inputs[i]);
        if (n->inputs[i] != NO_TENSOR && !in[i].data && shape_count(&node_input(c->fixed, n, i)->type->shape) > 0)
            return ODLC_OK; /* of an op that has no kernel here */
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(c->fixed, n, i);
        if (!t)
            continue;
        out[i] = buffer_of(t);
        const bool is_kept = c->layer_of[n->outputs[i]] == NO_LAYER_OF;
        void *kept = is_kept ? c->made[n->outputs[i]].data : NULL;
        out[i].data = kept ? kept : arena_alloc(is_kept ? c->arena : c->scratch, tensor_bytes(t->type));
        if (is_kept)
            c->made[n->outputs[i]] = out[i];
    }
    TRY(eval_node(n, in, out, c->scratch, c->diags));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (out[i].data && c->layer_of[n->outputs[i]] != NO_LAYER_OF)
            compare(c, n->outputs[i], &out[i], true);
    return ODLC_OK;
}

static odlc_status compute_each(struct quant_compare *c)
{
    for (size_t i = 0; i < c->fixed->order.count; i++) {
        const struct node *n = graph_node(c->fixed, c->fixed->order.data[i]);
        if (!kernel_of(n->op))
            continue;
        struct arena_mark mark = arena_mark(c->scratch);
        TRY(compute_alone(c, n));
        arena_rewind(c->scratch, mark);
    }
    return ODLC_OK;
}

/* ---- the comparison ---- */

static odlc_status prepare(struct quant_compare *c, const struct graph *g, const struct quant_compare_options *options,
                           bool is_fixed, struct executor **out)
{
    bool *observed = arena_array(c->arena, bool, g->tensors.count);
    tensor_id *wanted = arena_array(c->arena, tensor_id, c->layers.count + 1);
    size_t n_wanted = 0;
    for (size_t i = 0; i < c->layers.count; i++) {
        const tensor_id id = is_fixed ? c->layers.data[i].fixed : c->layers.data[i].floats;
        const struct tensor *t = graph_tensor(g, id);
        observed[id] = t->producer != NO_NODE;
        if (observed[id])
            wanted[n_wanted++] = id;
    }
    const struct executor_options of = {.backends = options->backends,
                                        .threads = options->threads,
                                        .packages = options->packages,
                                        .observed = observed,
                                        .observer = {c, is_fixed ? see : keep}};
    return executor_create(c->arena, c->scratch, c->diags, g, wanted, n_wanted, &of, out);
}

odlc_status quant_compare_create(struct arena *arena, struct arena *scratch, struct diags *diags,
                                 const struct graph *floats, const struct graph *fixed,
                                 const struct quant_compare_options *options, struct quant_compare **out)
{
    struct quant_compare *c = arena_new(arena, struct quant_compare);
    *c = (struct quant_compare){.arena = arena,
                                .scratch = scratch,
                                .diags = diags,
                                .floats = floats,
                                .fixed = fixed,
                                .only_outputs = options->only_outputs,
                                .is_given = arena_array(arena, bool, fixed->tensors.count),
                                .values = arena_array(arena, float *, floats->tensors.count),
                                .made = arena_array(arena, struct buffer, fixed->tensors.count),
                                .layer_of = arena_array(arena, int64_t, fixed->tensors.count)};
    for (tensor_id id = 0; id < fixed->tensors.count; id++)
        c->layer_of[id] = NO_LAYER_OF;
    add_all(c);
    for (size_t i = 0; i < c->layers.count; i++)
        if (graph_tensor(fixed, c->layers.data[i].fixed)->kind == TENSOR_STATIC)
            compare_constant(c, &c->layers.data[i]);
    TRY(prepare(c, floats, options, false, &c->float_run));
    TRY(prepare(c, fixed, options, true, &c->fixed_run));
    *out = c;
    return ODLC_OK;
}

odlc_status quant_compare_give(struct quant_compare *c, tensor_id input, const void *values, bool is_native,
                               const struct odlc_diag *place)
{
    const struct tensor *t = graph_tensor(c->floats, input);
    const tensor_id other = graph_find_tensor(c->fixed, t->name);
    if (other == NO_TENSOR || graph_tensor(c->fixed, other)->kind != TENSOR_INPUT ||
        !shape_equal(&graph_tensor(c->fixed, other)->type->shape, &t->type->shape))
        return diag_error(c->diags, ODLC_ERR_INVALID, place, "compare-input",
                          "the quantized container has no input %s of this shape", t->name);
    const struct tensor *f = graph_tensor(c->fixed, other);
    c->is_given[other] = true;
    TRY(quant_fill_input(c->scratch, c->diags, t, values, is_native, place, &c->float_run->buffers[input]));
    TRY(quant_fill_input(c->scratch, c->diags, f, values, is_native && !is_real(f), place,
                         &c->fixed_run->buffers[other]));
    if (c->values[input])
        memcpy(c->values[input], values, shape_count(&t->type->shape) * sizeof(float));
    return ODLC_OK;
}

odlc_status quant_compare_run(struct quant_compare *c, const struct odlc_diag *place)
{
    TRY(quant_take_inputs(c->diags, c->fixed_run, c->is_given, place));
    TRY(executor_run(c->float_run));
    TRY(executor_run(c->fixed_run));
    for (size_t i = 0; i < c->layers.count; i++) {
        struct quant_layer *layer = &c->layers.data[i];
        const struct tensor *t = graph_tensor(c->fixed, layer->fixed);
        const float *x = c->values[layer->target];
        if (x && t->kind == TENSOR_INPUT && c->fixed_run->buffers[layer->fixed].data)
            compare(c, layer->fixed, &c->fixed_run->buffers[layer->fixed], false);
        if (x && layer->spread.encoding)
            quant_spread_add(&layer->spread, x, shape_count(&t->type->shape));
    }
    return c->only_outputs ? ODLC_OK : compute_each(c);
}

const struct quant_layer *quant_compare_layers(struct quant_compare *c, size_t *count)
{
    for (size_t i = 0; i < c->layers.count; i++) {
        struct quant_layer *layer = &c->layers.data[i];
        if (layer->spread.encoding)
            layer->saturated = layer->spread.below + layer->spread.above;
        if (graph_tensor(c->fixed, layer->fixed)->kind == TENSOR_INPUT)
            layer->own = layer->error;
        layer->levels = 0;
        for (size_t k = 0; layer->met && k < ((size_t)1 << layer->spread.encoding->bitwidth) / 64 + 1; k++)
            layer->levels += (uint32_t)__builtin_popcountll(layer->met[k]);
    }
    *count = c->layers.count;
    return c->layers.data;
}

/* ---- the worst ---- */

struct ranked {
    double sqnr;
    uint32_t layer;
};

static int by_sqnr(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->sqnr != y->sqnr)
        return x->sqnr < y->sqnr ? -1 : 1;
    return x->layer < y->layer ? -1 : 1;
}

const uint32_t *quant_compare_worst(struct quant_compare *c, struct arena *arena, size_t *count)
{
    struct ranked *ranked = arena_array(arena, struct ranked, c->layers.count);
    uint32_t *out = arena_array(arena, uint32_t, c->layers.count);
    size_t n = 0;
    for (uint32_t i = 0; i < c->layers.count; i++)
        if (graph_tensor(c->fixed, c->layers.data[i].fixed)->producer != NO_NODE && c->layers.data[i].error.count)
            ranked[n++] = (struct ranked){quant_error_sqnr(&c->layers.data[i].error), i};
    qsort(ranked, n, sizeof *ranked, by_sqnr);
    for (size_t i = 0; i < n; i++)
        out[i] = ranked[i].layer;
    *count = n;
    return out;
}
