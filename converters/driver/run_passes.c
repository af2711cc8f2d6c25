#include "converters/driver/run_passes.h"

#include <string.h>

#include "op/op.h"
#include "pass/pass.h"

static odlc_status parse_qdq(const struct context *c, bool *keep_encodings)
{
    const struct odlc_convert_options *o = c->options;
    const char *text = o->qdq ? o->qdq : "fixed";
    *keep_encodings = strcmp(text, "encodings") == 0;
    if (!*keep_encodings && strcmp(text, "fixed") != 0)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "fixed or encodings"), "bad-qdq",
                          "--qdq %s: there is no such form", text);
    if (*keep_encodings && o->keep_quant_nodes)
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "give one of the two"), "bad-qdq",
                          "--qdq encodings leaves no quantizing op that --keep_quant_nodes could keep");
    return ODLC_OK;
}

/* preserve_names and input_layouts as maps, which live in `names` and `layouts`. */
static odlc_status pass_options(const struct context *c, struct map *names, struct map *layouts,
                                struct pass_options *out)
{
    static const char *const known[] = {
        [INPUT_NCHW] = "NCHW", [INPUT_NHWC] = "NHWC", [INPUT_NONTRIVIAL] = "NONTRIVIAL"};
    const struct odlc_convert_options *o = c->options;
    *out = (struct pass_options){.no_batchnorm_folding = o->no_batchnorm_folding,
                                 .fold_bias = c->frontend->bias_apart,
                                 .preserve_layout = o->preserve_layout,
                                 .preserve_dtype = o->preserve_dtype,
                                 .keep_disconnected = o->keep_disconnected_nodes,
                                 .keep_quant_nodes = o->keep_quant_nodes,
                                 .keep_int64_inputs = o->keep_int64_inputs,
                                 .target_release = c->release,
                                 .dump_after = o->dump_ir_after};
    TRY(parse_qdq(c, &out->keep_encodings));
    map_init(names, c->arena);
    map_init(layouts, c->arena);
    for (size_t i = 0; i < o->n_preserve_names; i++)
        map_put(names, o->preserve_names[i], 1);
    for (size_t i = 0; i < o->n_input_layouts; i++) {
        uint32_t layout = 0;
        while (layout < COUNT_OF(known) && strcmp(known[layout], o->input_layouts[i].value) != 0)
            layout++;
        if (layout == COUNT_OF(known))
            return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "NCHW, NHWC or NONTRIVIAL"), "bad-layout",
                              "--input_layout %s: there is no layout %s", o->input_layouts[i].name,
                              o->input_layouts[i].value);
        map_put(layouts, o->input_layouts[i].name, layout);
    }
    out->preserve_names = o->n_preserve_names ? names : NULL;
    out->input_layouts = o->n_input_layouts ? layouts : NULL;
    return ODLC_OK;
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
                out->static_bytes += shape_count(&t->type->shape) * dtype_size(t->type->dtype);
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

odlc_status run_passes(const struct context *c, struct udo_set *udos, struct graph *graph, struct outcome *out)
{
    const size_t n_claimed = udos->reports.count;
    struct pass_options options;
    struct map names, layouts;
    TRY(pass_options(c, &names, &layouts, &options));
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
