/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/run_passes.h"

#include <string.h>

#include "ir/nibbles.h"
#include "op/op.h"
#include "pass/input_layout.h"
#include "pass/pass.h"

static odlc_status parse_qdq(const struct context *c, bool *keep_encodings)
{
    const struct odlc_convert_options *o = c->options;
    const char *text = o->qdq ? o->qdq : o->quantization_overrides ? "encodings" : "fixed";
    *keep_encodings = strcmp(text, "encodings") == 0;
    if (!*keep_encodings && strcmp(text, "fixed") != 0)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "fixed or encodings"), "bad-qdq",
                          "--qdq %s: there is no such form", text);
    if (!*keep_encodings && o->quantization_overrides)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "leave --qdq out"), "bad-qdq",
                          "--quantization_overrides gives encodings of floats, which --qdq fixed does not leave");
    if (*keep_encodings && o->keep_quant_nodes)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "give one of the two"), "bad-qdq",
                          "%s leaves no quantizing op that --keep_quant_nodes could keep",
                          o->qdq ? "--qdq encodings" : "--quantization_overrides");
    return ODLC_OK;
}

static odlc_status check_float_widths(const struct context *c)
{
    const int64_t all = c->options->float_bitwidth, biases = c->options->float_bias_bitwidth;
    if (all != 16 && all != 32)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "16 or 32"), "bad-float-bitwidth",
                          "--float_bitwidth: there are no floats of %lld bits", (long long)all);
    if (biases != 0 && biases != 32 && biases != all)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "0 (as all others), or 32"), "bad-float-bitwidth",
                          "--float_bias_bitwidth: biases of %lld bits do not go with floats of %lld", (long long)biases,
                          (long long)all);
    return ODLC_OK;
}

static odlc_status parse_io_layout(const struct context *c, bool *model)
{
    const char *text = c->options->io_layout;
    *model = text && strcmp(text, "model") == 0;
    if (text && !*model && strcmp(text, "channels_last") != 0)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "channels_last or model"), "bad-io-layout",
                          "--io_layout: there is no layout %s of graph inputs and outputs", text);
    return ODLC_OK;
}

/* What --input_layout gives an input, as its index. */
static odlc_status parse_layout(const struct context *c, const struct graph *g, const struct odlc_name_value *given,
                                uint32_t *out)
{
    text names = {0};
    for (uint32_t i = 0; input_layout_at(i); i++)
        text_add(c->scratch, &names, "%s%s", i ? ", " : "the layouts are ", input_layout_at(i)->name);
    *out = input_layout_find(given->value);
    if (*out == MAP_NONE)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = names.data), "bad-layout",
                          "--input_layout %s: there is no layout %s", given->name, given->value);
    const struct input_layout *layout = input_layout_at(*out);
    tensor_id input = graph_find_tensor(g, given->name);
    uint32_t rank = input == NO_TENSOR ? layout->rank : graph_tensor(g, input)->type->shape.rank;
    if (layout->rank && layout->rank != rank)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "NONTRIVIAL fits every rank"), "bad-layout",
                          "--input_layout %s: %s is a layout of tensors of %u dimensions, the input has %u",
                          given->name, layout->name, layout->rank, rank);
    return ODLC_OK;
}

static odlc_status parse_layouts(const struct context *c, const struct graph *g, struct map *layouts)
{
    const struct odlc_convert_options *o = c->options;
    for (size_t i = 0; i < o->n_input_layouts; i++) {
        uint32_t layout;
        TRY(parse_layout(c, g, &o->input_layouts[i], &layout));
        map_put(layouts, o->input_layouts[i].name, layout);
    }
    return ODLC_OK;
}

/* preserve_names and input_layouts as maps, which live in `names` and `layouts`. */
static odlc_status pass_options(const struct context *c, const struct graph *g, struct map *names, struct map *layouts,
                                struct pass_options *out)
{
    const struct odlc_convert_options *o = c->options;
    *out = (struct pass_options){.no_batchnorm_folding = o->no_batchnorm_folding,
                                 .channels_first = c->frontend->channels_first,
                                 .preserve_layout = o->preserve_layout,
                                 .preserve_dtype = o->preserve_dtype,
                                 .keep_disconnected = o->keep_disconnected_nodes,
                                 .keep_quant_nodes = o->keep_quant_nodes,
                                 .keep_integer_ops = o->keep_integer_ops,
                                 .dequantize_weights = o->dequantize_weights,
                                 .keep_int64_inputs = o->keep_int64_inputs,
                                 .approximate_gelu = o->approximate_gelu,
                                 .split_slices = o->split_slices,
                                 .halve_floats = o->float_bitwidth == 16,
                                 .keep_float_biases = o->float_bias_bitwidth == 32,
                                 .no_fusions = o->no_fusions,
                                 .n_no_fusions = o->n_no_fusions,
                                 .target_release = c->release,
                                 .dump_after = o->dump_ir_after};
    TRY(check_float_widths(c));
    TRY(parse_qdq(c, &out->keep_encodings));
    TRY(parse_io_layout(c, &out->model_layout));
    map_init(names, c->arena);
    map_init(layouts, c->arena);
    for (size_t i = 0; i < o->n_preserve_names; i++)
        map_put(names, o->preserve_names[i], 1);
    TRY(parse_layouts(c, g, layouts));
    out->preserve_names = o->n_preserve_names ? names : NULL;
    out->input_layouts = o->n_input_layouts ? layouts : NULL;
    return ODLC_OK;
}

static uint64_t stored_bytes(const struct context *c, const struct tensor *t)
{
    if (c->packs_blocks && dtype_is_nibble(t->type->dtype))
        return nibbles_size(&t->type->shape, t->quant && t->quant->per_axis);
    return shape_count(&t->type->shape) * dtype_size(t->type->dtype);
}

static void summarize(const struct context *c, const struct graph *g, const struct pass_context *passes,
                      struct odlc_conversion_summary *out)
{
    bool *counted = arena_array(c->scratch, bool, g->tensors.count);
    out->permutes_inserted = (uint32_t)passes->permutes.count;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        out->ops++;
        out->udo_ops += n->op->package != NULL;
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            if (n->inputs[k] == NO_TENSOR || counted[n->inputs[k]])
                continue;
            const struct tensor *t = graph_tensor(g, n->inputs[k]);
            counted[n->inputs[k]] = true;
            if (t->kind == TENSOR_STATIC)
                out->static_bytes += stored_bytes(c, t);
        }
    }
}

/* Hands the permutes that the passes found on to the reports of their nodes, which lowering made: the first n. */
static void add_permutes(const struct context *c, struct udo_set *udos, const struct pass_context *passes, size_t n)
{
    typedef VEC(struct odlc_udo_permute) permutes;
    struct map nodes;
    map_init(&nodes, c->scratch);
    permutes *lists = arena_array(c->scratch, permutes, n);
    for (size_t i = 0; i < n; i++)
        map_put(&nodes, udos->reports.data[i].node, (uint32_t)i);
    for (size_t i = 0; i < passes->udo_permutes.count; i++) {
        const struct pass_permute *p = &passes->udo_permutes.data[i];
        uint32_t at = map_get(&nodes, p->node);
        const char *first = "NCHW", *last = "NHWC";
        if (at != MAP_NONE)
            vec_push(c->arena, &lists[at],
                     (struct odlc_udo_permute){.tensor = p->tensor,
                                               .from = p->to_first ? last : first,
                                               .to = p->to_first ? first : last,
                                               .after = p->after,
                                               .reason = p->reason});
    }
    for (size_t i = 0; i < n; i++) {
        udos->reports.data[i].permutes = lists[i].data;
        udos->reports.data[i].n_permutes = lists[i].count;
    }
}

static odlc_status replace_natives(void *udos, struct graph *g)
{
    return udo_replace_natives(udos, g);
}

static odlc_status keep_declared_types(void *udos, struct graph *g)
{
    udo_keep_types(udos, g);
    return ODLC_OK;
}

/* Whether MatMuls become operations that do not know of transposed operands. */
static bool has_plain_products(const struct udo_set *udos)
{
    for (size_t i = 0; i < udos->defs.count; i++) {
        const struct udo_def *def = udos->defs.data[i];
        if (def->replaces_native && strcmp(def->type, op_row(OP_MatMul)->name) == 0)
            return op_param_index(def->row, "transpose_in0") < 0 || op_param_index(def->row, "transpose_in1") < 0;
    }
    return false;
}

odlc_status run_passes(const struct context *c, struct udo_set *udos, const struct custom_io *io, struct graph *graph,
                       struct outcome *out)
{
    const size_t n_claimed = udos->reports.count;
    struct pass_options options;
    struct map names, layouts;
    TRY(pass_options(c, graph, &names, &layouts, &options));
    options.custom_io = io->file ? &io->names : NULL;
    options.plain_products = has_plain_products(udos);
    struct pass_context passes = {.scratch = c->scratch,
                                  .diags = c->diags,
                                  .options = &options,
                                  .progress = c->progress,
                                  .replace_natives = {replace_natives, udos},
                                  .keep_declared_types = {keep_declared_types, udos}};
    odlc_status status = pass_run_all(&passes, graph);
    out->dumped = passes.dumped;
    add_permutes(c, udos, &passes, n_claimed);
    if (status == ODLC_OK)
        summarize(c, graph, &passes, &out->summary);
    return status;
}
