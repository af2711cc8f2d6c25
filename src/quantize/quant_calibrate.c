/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of what is computed: the float graph is executed through the constants as they will be, and observed. */
#include <math.h>

#include "quantize/quant_input.h"
#include "quantize/quantizer.h"

/* ---- what is observed ---- */

bool quant_is_unknown(const struct quantizer *q, tensor_id id)
{
    const struct quant_item *item = &q->items[id];
    return item->role == ROLE_ACTIVATION && item->as == id && !item->quant;
}

size_t quantizer_unknown(const struct quantizer *q)
{
    size_t count = 0;
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        count += quant_is_unknown(q, id);
    return count;
}

void quant_prepare_histogram(struct quantizer *q, tensor_id id)
{
    struct quant_item *item = &q->items[id];
    if (item->histogram || !quant_is_unknown(q, id) || !quant_takes_histogram(q, item))
        return;
    item->histogram = arena_new(q->arena, struct histogram);
    histogram_clear(item->histogram);
}

odlc_status quant_not_finite(struct quantizer *q, tensor_id id, const float *values, size_t bad)
{
    const struct node *n = graph_producer(q->g, id);
    return diag_error(q->diags, ODLC_ERR_INVALID,
                      AT(.file = q->place->file, .line = q->place->line, .node = n ? n->name : NULL),
                      "quantize-not-finite", "%s %s holds %s as element %zu", n ? "with these inputs tensor" : "input",
                      graph_tensor(q->g, id)->name, isnan(values[bad]) ? "NaN" : "an infinity", bad);
}

static odlc_status widen(struct quantizer *q, tensor_id id, const float *values, uint64_t count)
{
    struct quant_item *item = &q->items[id];
    size_t bad;
    if (count == 0)
        return ODLC_OK;
    if (!item->is_seen)
        item->min = item->max = 0; /* every range has zero */
    item->is_seen = true;
    const float *scores = quant_scores(q, item, values, &count);
    if (!quant_widen(scores, count, &item->min, &item->max, &bad)) {
        const float wrong = scores[bad];
        for (bad = 0; values[bad] != wrong && !isnan(values[bad]);)
            bad++;
        return quant_not_finite(q, id, values, bad);
    }
    if (item->histogram)
        histogram_add(item->histogram, scores, count, item->min, item->max);
    return ODLC_OK;
}

static odlc_status see(void *object, tensor_id id, const struct buffer *value)
{
    struct quantizer *q = object;
    struct arena_mark mark = arena_mark(q->scratch);
    struct buffer wide = buffer_widen(value, DT_FLOAT32, q->scratch);
    odlc_status status = widen(q, id, wide.data, shape_count(&wide.shape));
    arena_rewind(q->scratch, mark);
    return status;
}

odlc_status quantizer_calibrate(struct quantizer *q, const struct backend *const *backends, unsigned threads)
{
    const struct graph *g = q->g;
    TRY(quant_need_packages(q));
    bool *observed = arena_array(q->arena, bool, g->tensors.count);
    VEC(tensor_id) ends = {0}; /* what nobody reads, and with that everything */
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            const tensor_id id = n->outputs[k];
            if (id == NO_TENSOR)
                continue;
            observed[id] = quant_is_unknown(q, id);
            if (q->uses.first[id] == q->uses.first[id + 1])
                vec_push(q->arena, &ends, id);
        }
    }
    const struct executor_options options = {.backends = backends,
                                             .threads = threads,
                                             .packages = q->options->packages,
                                             .progress = q->options->progress,
                                             .observed = observed,
                                             .observer = {q, see}};
    q->observed = 0;
    for (tensor_id id = 0; id < g->tensors.count; id++)
        quant_prepare_histogram(q, id);
    return executor_create(q->arena, q->scratch, q->diags, g, ends.data, ends.count, &options, &q->executor);
}

void quant_note_zeros(const struct quantizer *q)
{
    const char *first = NULL;
    size_t count = 0;
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        const struct quant_item *item = &q->items[id];
        if (!quant_is_unknown(q, id) || !item->is_seen || item->min != item->max)
            continue;
        first = first ? first : graph_tensor(q->g, id)->name;
        count++;
    }
    if (count == 1)
        diag_note(q->diags, AT(.file = q->path), "quantize-zeros",
                  "tensor %s was zero for all inputs: its range is the least one, 0.0001", first);
    else if (count)
        diag_note(q->diags, AT(.file = q->path), "quantize-zeros",
                  "%zu tensors, the first %s, were zero for all inputs: their range is the least one, 0.0001", count,
                  first);
}

/* ---- inputs ---- */

odlc_status quantizer_find_input(struct quantizer *q, const char *name, const struct odlc_diag *place, tensor_id *out)
{
    return quant_find_input(q->arena, q->diags, q->g, name, place, out);
}

odlc_status quantizer_give(struct quantizer *q, tensor_id input, const void *values, bool is_native,
                           const struct odlc_diag *place)
{
    const struct tensor *t = graph_tensor(q->g, input);
    q->place = place;
    q->is_given[input] = true;
    if (quant_is_unknown(q, input))
        TRY(widen(q, input, values, shape_count(&t->type->shape)));
    return quant_fill_input(q->scratch, q->diags, t, values, is_native, place, &q->executor->buffers[input]);
}

odlc_status quantizer_observe(struct quantizer *q, const struct odlc_diag *place)
{
    TRY(quant_take_inputs(q->diags, q->executor, q->is_given, place));
    q->place = place;
    TRY(quant_is_improving(q) ? quant_improve_observe(q) : executor_run(q->executor));
    q->observed++;
    return ODLC_OK;
}
