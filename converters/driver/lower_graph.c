/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/lower_graph.h"

#include <string.h>

#include "converters/driver/check_declared.h"
#include "converters/driver/lower_node.h"

enum { TOLD_EVERY = 1024 }; /* nodes between two reports of progress */

/* ---- inputs and constants ---- */

static odlc_status add_inputs(struct scope *s)
{
    struct diags *diags = s->all->c->diags;
    struct graph *g = s->all->b.graph;
    for (size_t i = 0; i < s->graph->inputs.count; i++) {
        const struct fw_value *v = &s->graph->inputs.data[i];
        struct type type = {.dtype = v->dtype, .shape.rank = v->rank};
        if (v->rank > 0)
            memcpy(type.shape.dims, v->dims, v->rank * sizeof *v->dims);
        if (shape_too_large(&type.shape))
            return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = s->all->path), "tensor-too-large",
                              "graph input %s is too large", v->name);
        if (dtype_is_small_float(v->dtype))
            return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                              AT(.file = s->all->path, .hint = "known values of the type are converted to float32"),
                              "input-dtype", "graph input %s is of type %s, which containers do not have", v->name,
                              dtype_info(v->dtype)->name);
        tensor_id id = graph_add_tensor(g, v->name, TENSOR_INPUT, &type);
        vec_push(g->arena, &g->inputs, id);
        scope_define_tensor(s, v->id, id);
    }
    return ODLC_OK;
}

static void add_initializers(struct scope *s, const struct fw_graph *g)
{
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct fw_tensor *t = &g->initializers.data[i];
        tensor_id id = graph_add_constant(s->all->b.graph, scope_name(s, t->name), t->view.dtype, &t->view);
        scope_define_tensor(s, t->id, id);
    }
}

/* Small constants are read through the mapping. */
static void drop_pages(const struct fw_model *model)
{
    if (model->file)
        file_drop(model->file, 0, model->file->size);
}

/* The graph has their views now; encodings from a file still ask for the names. */
static void forget_initializers(const struct context *c, struct fw_graph *g)
{
    if (c->options->quantization_overrides)
        return;
    arena_release(c->model_arena, g->initializers.data, g->initializers.capacity * sizeof *g->initializers.data);
    memset(&g->initializers, 0, sizeof g->initializers);
}

/* ---- subgraphs ---- */

static odlc_status subgraph_results(struct lower *l, const struct scope *s, const struct fw_graph *g,
                                    struct lower_value *results)
{
    for (size_t i = 0; i < g->outputs.count; i++) {
        if (!scope_find(s, g->outputs.data[i].id, &results[i]))
            return lower_invalid(l, NULL, NULL, "nothing in its graph gives %s", g->outputs.data[i].name);
        if (results[i].kind == VALUE_ABSENT)
            return report_not_given(s->all, l->node->name, g->outputs.data[i].name);
    }
    return ODLC_OK;
}

static odlc_status lower_nodes_inside(struct lower *l, struct scope *s, const struct lower_value *values, size_t count,
                                      struct lower_value *results)
{
    const struct fw_graph *g = s->graph;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < count; i++)
        scope_define(s, g->inputs.data[i].id, values[i]);
    add_initializers(s, g);
    for (size_t i = 0; i < g->nodes.count; i++) {
        odlc_status lowered = lower_node(s, &g->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    TRY(status);
    return subgraph_results(l, s, g, results);
}

/* Bytes of the names that lowering a graph makes. */
static uint64_t text_of(const struct fw_graph *g, const char *prefix)
{
    uint64_t prefix_size = strlen(prefix), size = 0;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        size += prefix_size + strlen(n->name);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            size += prefix_size + strlen(n->outputs[k]);
    }
    return size;
}

static odlc_status lower_inner_graph(struct lower *l, const struct fw_graph *g, const char *prefix,
                                     const struct lower_value *values, size_t count, struct lower_value *results)
{
    struct lowering *all = l->scope->all;
    struct scope s = {.all = all, .outer = l->scope, .prefix = prefix, .graph = g};
    if (count != g->inputs.count)
        return lower_invalid(l, NULL, NULL, "its graph takes %zu inputs, but gets %zu", g->inputs.count, count);
    all->expanded += g->nodes.count + 1 + text_of(g, prefix) / LOWER_TEXT_PER_NODE;
    if (all->expanded > LOWER_MAX_EXPANSION)
        return diag_error(l->diags, ODLC_ERR_LIMIT,
                          AT(.file = l->path, .node = l->node->name,
                             .hint = "fewer trips of the loop, or a user-defined op in its place"),
                          "expansion", "the graphs inside of nodes expand to more than %d nodes", LOWER_MAX_EXPANSION);
    s.first_definition = bindings_enter(&all->names);
    s.first_other = all->others.count;
    odlc_status status = lower_nodes_inside(l, &s, values, count, results);
    scope_leave(&s);
    return status;
}

/* ---- the model's own graph ---- */

/* The same value under another name; the op goes by the node's. */
static tensor_id copy_value(const struct scope *s, tensor_id value, const char *name)
{
    const struct frontend *frontend = s->all->c->frontend;
    struct graph *g = s->all->b.graph;
    const tensor_id copy = build_copy(g, value, name);
    if (frontend->short_name)
        graph_rename_node(g, graph_tensor(g, copy)->producer, frontend->short_name(g->arena, name));
    return copy;
}

/* A count of rows leaves its name to the output of the model that has the same. */
static bool leave_name(const struct lowering *all, tensor_id holder)
{
    struct graph *g = all->b.graph;
    const char *name = graph_tensor(g, holder)->name;
    for (size_t i = 0; i < all->b.kept.count; i++) {
        if (all->b.kept.data[i] != holder)
            continue;
        graph_rename_tensor(g, holder, graph_free_tensor_name(g, arena_printf(g->arena, "%s.value", name)));
        diag_warn(all->c->diags, AT(.file = all->path), "renamed-count",
                  "%s is an output of the model: what says how many rows are valid is called %s", name,
                  graph_tensor(g, holder)->name);
        return true;
    }
    return false;
}

static odlc_status add_output(struct scope *s, const struct fw_value *output)
{
    const char *name = output->name;
    struct diags *diags = s->all->c->diags;
    struct graph *g = s->all->b.graph;
    struct lower_value value;
    if (!scope_find(s, output->id, &value))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = s->all->path), "undefined-output",
                          "no node gives the graph output %s", name);
    if (value.kind == VALUE_ABSENT)
        return report_not_given(s->all, NULL, name);
    if (value.kind != VALUE_TENSOR)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = s->all->path, .hint = "name the outputs to keep with --out_node"), "output-type",
                          "the graph output %s is %s: a container holds tensors alone", name, value_kind_text(&value));
    tensor_id id = value.tensor, holder = graph_find_tensor(g, name);
    const struct tensor *t = graph_tensor(g, id);
    if (t->type->dtype == DT_STRING)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = s->all->path), "output-type",
                          "the graph output %s holds strings: a container computes on numbers", name);
    if (build_filler(&s->all->b, id).sizes)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = s->all->path, .hint = "end the model before it with --out_node"), "unknown-size",
                          "the graph output %s is a size that depends on how much an op finds while the model runs",
                          name);
    bool same_name = strcmp(t->name, name) == 0;
    if (t->kind == TENSOR_OUTPUT && same_name) /* the model lists it twice */
        return ODLC_OK;
    if (t->kind == TENSOR_INPUT && same_name)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = s->all->path, .hint = "put an Identity between them"),
                          "input-is-output",
                          "%s is a graph input and a graph output under one name, which a container cannot express",
                          name);
    if (t->kind != TENSOR_NATIVE) /* an input, a constant, another output: the result of an Identity, say */
        id = copy_value(s, id, name);
    else if (!same_name && (holder == NO_TENSOR || leave_name(s->all, holder)))
        graph_rename_tensor(g, id, name);
    graph_tensor(g, id)->kind = TENSOR_OUTPUT;
    vec_push(g->arena, &g->outputs, id);
    return ODLC_OK;
}

/* Counts of rows that are valid, which no output of the model gives. */
static void add_kept(const struct build *b)
{
    struct graph *g = b->graph;
    for (size_t i = 0; i < b->kept.count; i++) {
        struct tensor *t = graph_tensor(g, b->kept.data[i]);
        if (t->kind != TENSOR_NATIVE)
            continue;
        t->kind = TENSOR_OUTPUT;
        vec_push(g->arena, &g->outputs, b->kept.data[i]);
    }
}

odlc_status lower_graph(struct lowering *all, struct graph *graph)
{
    const struct context *c = all->c;
    const struct fw_graph *model = &all->in->model->graph;
    struct scope s = {.all = all, .graph = model};
    odlc_status status = ODLC_OK;
    all->path = all->in->model->path;
    all->subgraph = lower_inner_graph;
    all->origins = (struct layout_origins){.arena = c->model_arena, .graph = graph};
    build_init(&all->b, graph, c->diags);
    bindings_init(&all->names, c->model_arena, all->in->model->n_names);
    /* A node of the graph is mostly one of the model with one result. */
    graph_reserve(graph, model->nodes.count + model->initializers.count, model->nodes.count);
    TRY(add_inputs(&s));
    add_initializers(&s, model);
    forget_initializers(c, &all->in->model->graph);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (i % TOLD_EVERY == 0) {
            TRY(progress_report(c->progress, c->diags, i, model->nodes.count));
            drop_pages(all->in->model);
        }
        if (!all->in->live[i])
            continue;
        if (i + 1 < model->nodes.count && model->nodes.data[i + 1].n_outputs)
            graph_expect(graph, model->nodes.data[i + 1].outputs[0], model->nodes.data[i + 1].name);
        odlc_status lowered = lower_node(&s, &model->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    graph_expect(graph, NULL, NULL); /* names of the model go before those of the graph */
    drop_pages(all->in->model);
    odlc_status finished = udo_finish(all->udos);
    warn_of_contradictions(all);
    TRY(status);
    TRY(finished);
    for (size_t i = 0; i < model->outputs.count; i++)
        TRY(add_output(&s, &model->outputs.data[i]));
    add_kept(&all->b);
    return ODLC_OK;
}
