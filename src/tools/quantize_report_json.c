/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a report as JSON, for programs and for the page. */
#include <math.h>

#include "op/op.h"
#include "tools/error_out.h"
#include "tools/quantize_report.h"

static const char *kind_of(const struct tensor *t)
{
    switch ((enum tensor_kind)t->kind) {
    case TENSOR_INPUT:
        return "input";
    case TENSOR_OUTPUT:
        return "output";
    case TENSOR_STATIC:
        return "constant";
    default:
        return "inner";
    }
}

/* The layers that the node reads, as positions in the list. */
static void put_inputs(struct json_out *j, const struct quantize_numbers *n, const struct node *node)
{
    json_array_inline(j, "inputs");
    for (uint32_t i = 0; node && i < node->n_inputs; i++)
        for (size_t k = 0; k < n->n_layers; k++)
            if (n->layers[k].fixed == node->inputs[i])
                json_uint(j, NULL, k);
    json_end_array(j);
}

static void put_encodings(struct json_out *j, const struct quant *quant)
{
    struct encoding least = quant->encodings[0], most = least;
    for (uint32_t i = 1; i < quant->count; i++) {
        const struct encoding *e = &quant->encodings[i];
        least.scale = fmin(least.scale, e->scale);
        most.scale = fmax(most.scale, e->scale);
        least.min = fmin(least.min, e->min);
        most.max = fmax(most.max, e->max);
        least.offset = e->offset < least.offset ? e->offset : least.offset;
        most.offset = e->offset > most.offset ? e->offset : most.offset;
    }
    json_object_inline(j, "encodings");
    json_uint(j, "count", quant->count);
    json_int(j, "axis", quant->per_axis ? (int64_t)quant->axis : -1);
    json_uint(j, "bitwidth", least.bitwidth);
    json_double(j, "least_scale", least.scale);
    json_double(j, "most_scale", most.scale);
    json_int(j, "least_offset", least.offset);
    json_int(j, "most_offset", most.offset);
    json_double(j, "min", least.min);
    json_double(j, "max", most.max);
    json_bool(j, "is_overridden", quant->overridden);
    json_end_object(j);
}

static void put_spread(struct json_out *j, const struct quant_spread *s)
{
    json_double(j, "min", s->min);
    json_double(j, "max", s->max);
    json_object_inline(j, "histogram");
    json_double(j, "low", s->low);
    json_double(j, "high", s->high);
    json_array_inline(j, "bins");
    for (size_t i = 0; i < QUANT_BINS; i++)
        json_uint(j, NULL, s->bins[i]);
    json_end_array(j);
    json_end_object(j);
}

static void put_layer(struct json_out *j, const struct quantize_numbers *n, const struct quant_layer *layer)
{
    const struct graph *g = n->report->fixed;
    const struct tensor *t = graph_tensor(g, layer->fixed);
    const struct node *node = graph_producer(g, layer->fixed);
    json_object(j, NULL);
    json_string(j, "tensor", t->name);
    json_string(j, "kind", kind_of(t));
    json_string(j, "node", node ? node->name : NULL);
    json_string(j, "op", node ? node->op->name : NULL);
    put_inputs(j, n, node);
    json_string(j, "dtype", dtype_info(t->type->dtype)->display);
    json_uint(j, "values", layer->error.count);
    if (layer->target != layer->floats)
        json_string(j, "cut_off_as", graph_tensor(n->floats, layer->target)->name);
    error_json(j, "error", &layer->error);
    error_json(j, "own", &layer->own);
    error_json(j, "rounding", &layer->spread.rounding);
    if (t->quant && dtype_is_fixed(t->type->dtype)) {
        put_encodings(j, t->quant);
        json_uint(j, "saturated", layer->saturated);
    }
    if (layer->met)
        json_uint(j, "levels", layer->levels);
    if (layer->spread.count)
        put_spread(j, &layer->spread);
    json_end_object(j);
}

void quantize_report_json(FILE *stream, const struct quantize_numbers *n, bool compact)
{
    struct json_out j = json_out_to(stream, compact);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.quantize-report");
    json_int(&j, "schema_version", 1);
    json_string(&j, "floats", n->report->floats);
    json_string(&j, "quantized", n->report->output);
    json_string(&j, "input_list", n->report->list->path);
    json_uint(&j, "inferences", n->report->list->inferences.count);
    json_object_inline(&j, "constant_bytes");
    json_uint(&j, "floats", n->float_bytes);
    json_uint(&j, "quantized", n->fixed_bytes);
    json_end_object(&j);
    json_array_inline(&j, "worst");
    for (size_t i = 0; i < n->n_worst; i++)
        json_uint(&j, NULL, n->worst[i]);
    json_end_array(&j);
    json_array(&j, "layers");
    for (size_t i = 0; i < n->n_layers; i++)
        put_layer(&j, n, &n->layers[i]);
    json_end_array(&j);
    json_end_object(&j);
}
