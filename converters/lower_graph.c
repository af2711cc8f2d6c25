/* The model's graph becomes an IR graph: inputs, initializers, then node after node in order. A node that fails spoils
 * what depends on it and nothing else, so that one run reports all that is wrong.
 *
 * A graph inside a node (a branch, a loop's body) is lowered where the node stands, once for each time that it runs, in
 * a scope of its own: what it defines is known there alone, what it does not define is looked up around it. */
#include <string.h>

#include "converters/driver.h"

/* Nodes that the subgraphs of a model may expand to. */
enum { MAX_EXPANSION = 100000 };

enum { TOLD_EVERY = 1024 }; /* nodes between two reports of progress */

struct scope {
    struct conversion *c;
    struct build *b;
    struct scope *outer; /* of the graph around; NULL for the model's own */
    const char *prefix;  /* of names, or NULL */
    const struct fw_graph *graph;
    struct map names; /* → values */
    VEC(struct lower_value) values;
    bool knows_declared; /* declared is filled, which happens when it is asked for */
    struct map declared; /* name → declared_values: what the graph itself says of its values */
    VEC(const struct fw_value *) declared_values;
};

/* ---- values ---- */

static void define(struct scope *s, const char *name, struct lower_value value)
{
    uint32_t known = map_get(&s->names, name);
    if (known != MAP_NONE) {
        s->values.data[known] = value;
        return;
    }
    map_put(&s->names, name, (uint32_t)s->values.count);
    vec_push(s->c->arena, &s->values, value);
}

static void define_tensor(struct scope *s, const char *name, tensor_id id)
{
    define(s, name, (struct lower_value){.kind = VALUE_TENSOR, .tensor = id});
}

/* NULL when nothing defines the name. */
static const struct lower_value *find_value(const struct scope *s, const char *name)
{
    for (; s; s = s->outer) {
        uint32_t known = map_get(&s->names, name);
        if (known != MAP_NONE)
            return &s->values.data[known];
    }
    return NULL;
}

static const char *kind_text(const struct lower_value *value)
{
    return value->kind == VALUE_SEQUENCE ? "a sequence" : "an empty optional";
}

/* ---- inputs and constants ---- */

/* A graph may speak of a value twice, and then says more in one place. */
static void note_declared(struct scope *s, const struct fw_value *v)
{
    uint32_t known = map_get(&s->declared, v->name);
    if (known != MAP_NONE && s->declared_values.data[known]->has_shape && !v->has_shape)
        return;
    map_put(&s->declared, v->name, (uint32_t)s->declared_values.count);
    vec_push(s->c->arena, &s->declared_values, v);
}

/* What the scope's graph declares of a value of its own, or NULL. */
static const struct fw_value *find_declared(struct scope *s, const char *name)
{
    if (!s->knows_declared) {
        s->knows_declared = true;
        map_init(&s->declared, s->c->arena);
        for (size_t i = 0; i < s->graph->values.count; i++)
            note_declared(s, &s->graph->values.data[i]);
        for (size_t i = 0; i < s->graph->outputs.count; i++)
            note_declared(s, &s->graph->outputs.data[i]);
    }
    uint32_t at = *name ? map_get(&s->declared, name) : MAP_NONE;
    return at == MAP_NONE ? NULL : s->declared_values.data[at];
}

static odlc_status add_inputs(struct scope *s)
{
    struct conversion *c = s->c;
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        struct type type = {.dtype = v->dtype, .shape.rank = v->rank};
        if (v->dtype == DT_STRING)
            return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "input-type",
                              "graph input %s holds strings: a container computes on numbers", v->name);
        memcpy(type.shape.dims, v->dims, v->rank * sizeof *v->dims);
        if (shape_too_large(&type.shape))
            return diag_error(&c->diags, ODLC_ERR_LIMIT, AT(.file = c->model->path), "tensor-too-large",
                              "graph input %s is too large", v->name);
        if (dtype_is_small_float(v->dtype))
            return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED,
                              AT(.file = c->model->path, .hint = "known values of the type are converted to float32"),
                              "input-dtype", "graph input %s is of type %s, which containers do not have", v->name,
                              dtype_info(v->dtype)->name);
        tensor_id id = graph_add_tensor(c->graph, v->name, TENSOR_INPUT, &type);
        vec_push(c->graph->arena, &c->graph->inputs, id);
        define_tensor(s, v->name, id);
    }
    return ODLC_OK;
}

static const char *prefixed(const struct scope *s, const char *name)
{
    return s->prefix && *name ? arena_printf(s->c->arena, "%s/%s", s->prefix, name) : name;
}

static void add_initializers(struct scope *s, const struct fw_graph *g)
{
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct fw_tensor *t = &g->initializers.data[i];
        tensor_id id = graph_add_constant(s->c->graph, prefixed(s, t->name), t->view.dtype, &t->view);
        define_tensor(s, t->name, id);
    }
}

/* ---- nodes ---- */

static odlc_status report_not_given(struct conversion *c, const char *node, const char *value)
{
    return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path, .node = node), "output-not-given",
                      "%s is used, but its node does not give that output", value);
}

/* Reads the inputs; false when one of them cannot be had. */
static bool resolve_inputs(struct scope *s, const struct fw_node *n, struct lower_value *values, tensor_id *ids,
                           uint32_t *count)
{
    *count = 0;
    for (size_t k = 0; k < n->n_inputs; k++) {
        ids[k] = NO_TENSOR;
        if (!*n->inputs[k])
            continue;
        const struct lower_value *value = find_value(s, n->inputs[k]);
        if (value && value->kind == VALUE_ABSENT)
            (void)report_not_given(s->c, n->name, n->inputs[k]);
        if (!value || value->kind == VALUE_ABSENT || value->kind == VALUE_SPOILED)
            return false;
        values[k] = *value;
        ids[k] = value->kind == VALUE_TENSOR ? value->tensor : NO_TENSOR;
        *count = (uint32_t)k + 1;
    }
    return true;
}

/* The declared element type of an output against the computed one: a difference means that the model or the converter
 * is wrong. */
static odlc_status check_declared(struct scope *s, const struct fw_node *n, const char *name, tensor_id id)
{
    struct conversion *c = s->c;
    const struct fw_value *v = s->outer ? NULL : find_declared(s, name);
    const struct tensor *t = graph_tensor(c->graph, id);
    if (v && v->dtype != DT_NONE && v->dtype != t->type.dtype)
        return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path, .node = n->name), "declared-type",
                          "the model declares %s as %s, but %s gives %s", name, dtype_info(v->dtype)->name, n->op_type,
                          dtype_info(t->type.dtype)->name);
    return ODLC_OK;
}

/* The IR node that gives the framework node's first output goes by that node's name, unless another part of the
 * lowering has it already. */
static void keep_node_name(struct graph *g, const struct fw_node *n, tensor_id out)
{
    node_id producer = out == NO_TENSOR ? NO_NODE : graph_tensor(g, out)->producer;
    if (producer == NO_NODE)
        return;
    const struct node *node = graph_node(g, producer);
    bool named_after_tensor = strcmp(node->name, graph_tensor(g, out)->name) == 0;
    if (node->source != n->name || node->layout_only || !named_after_tensor)
        return;
    graph_rename_node(g, producer, n->name);
}

/* Operators of tensors get nothing else. */
static odlc_status check_kinds(const struct lower *l)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->values[i].kind > VALUE_TENSOR)
            return lower_unsupported(l, NULL, NULL, "input %u is %s instead of a tensor", i, kind_text(&l->values[i]));
    return ODLC_OK;
}

static odlc_status check_strings(const struct conversion *c, const struct lower *l)
{
    if (c->frontend->takes_strings(l->node->domain, l->node->op_type))
        return ODLC_OK;
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->in[i] != NO_TENSOR && build_type(l->b, l->in[i])->dtype == DT_STRING)
            return lower_invalid(l, NULL, NULL, "input %u holds strings, which the operator does not take", i);
    return ODLC_OK;
}

/* What the model declares of the outputs of a node, which goes by other names in an inner graph. */
static odlc_status run_claimed(struct scope *s, const struct fw_node *n, struct lower *l, const struct udo_def *def)
{
    const struct fw_value **declared = arena_array(s->c->arena, const struct fw_value *, n->n_outputs);
    for (size_t i = 0; i < n->n_outputs; i++)
        declared[i] = find_declared(s, n->outputs[i]);
    return lower_claimed(s->c, l, def, declared);
}

/* def: what claims the node, or NULL. */
static odlc_status run_row(struct scope *s, const struct fw_node *n, struct lower *l, const struct udo_def *def)
{
    struct conversion *c = s->c;
    const struct lower_row *row = def ? NULL : find_row(c->frontend, n->domain, n->op_type, n->version);
    if (!def && !row) /* the survey leaves nodes of branches to their lowering: a branch may not be taken */
        return report_missing_op(c, l->node);
    if (def || !row->arg || strcmp(row->arg, TAKES_VALUES) != 0)
        TRY(check_kinds(l));
    if (def)
        return run_claimed(s, n, l, def);
    TRY(check_strings(c, l));
    l->arg = row->arg;
    return row->fn(l);
}

/* The outputs of a node that was lowered. */
static odlc_status define_outputs(struct scope *s, const struct lower *l, const struct fw_node *n, bool claimed)
{
    for (size_t k = 0; k < n->n_outputs; k++) {
        if (!*n->outputs[k])
            continue;
        struct lower_value value = l->results[k];
        if (value.kind == VALUE_ABSENT && l->out[k] != NO_TENSOR)
            value = (struct lower_value){.kind = VALUE_TENSOR, .tensor = l->out[k]};
        /* What a definition says of its outputs stands above the model's word. */
        if (value.kind == VALUE_TENSOR && !claimed)
            TRY(check_declared(s, n, n->outputs[k], value.tensor));
        define(s, n->outputs[k], value);
    }
    return ODLC_OK;
}

/* The node under the names that it has in the graph. */
static const struct fw_node *named_in(const struct scope *s, const struct fw_node *n)
{
    if (!s->prefix)
        return n;
    struct fw_node *copy = arena_new(s->c->arena, struct fw_node);
    *copy = *n;
    copy->name = prefixed(s, n->name);
    copy->outputs = arena_array(s->c->arena, const char *, n->n_outputs);
    for (size_t k = 0; k < n->n_outputs; k++)
        copy->outputs[k] = prefixed(s, n->outputs[k]);
    return copy;
}

static odlc_status lower_node(struct scope *s, const struct fw_node *n)
{
    struct conversion *c = s->c;
    struct lower_value *values = arena_array(c->arena, struct lower_value, n->n_inputs);
    tensor_id *in = arena_array(c->arena, tensor_id, n->n_inputs);
    tensor_id *out = arena_array(c->arena, tensor_id, n->n_outputs);
    struct lower l = {.b = s->b,
                      .arena = c->graph->arena,
                      .diags = &c->diags,
                      .path = c->model->path,
                      .node = named_in(s, n),
                      .version = n->version,
                      .in = in,
                      .out = out,
                      .n_out = (uint32_t)n->n_outputs,
                      .values = values,
                      .results = arena_array(c->arena, struct lower_value, n->n_outputs),
                      .scope = s};
    for (size_t k = 0; k < n->n_outputs; k++) {
        out[k] = NO_TENSOR;
        if (*n->outputs[k])
            define(s, n->outputs[k], (struct lower_value){.kind = VALUE_SPOILED});
    }
    if (!resolve_inputs(s, n, values, in, &l.n_in))
        return ODLC_ERR_INVALID;       /* reported where it came from */
    const char *source = s->b->source; /* of the node around, when this one is in a subgraph */
    s->b->source = l.node->name;
    const struct udo_def *def = udo_find(&c->udos, n->op_type, n->domain);
    odlc_status status = run_row(s, n, &l, def);
    s->b->source = source;
    TRY(status);
    keep_node_name(c->graph, l.node, n->n_outputs ? out[0] : NO_TENSOR);
    return define_outputs(s, &l, n, def != NULL);
}

/* ---- subgraphs ---- */

static odlc_status subgraph_results(struct lower *l, const struct scope *s, const struct fw_graph *g,
                                    struct lower_value *results)
{
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct lower_value *value = find_value(s, g->outputs.data[i].name);
        if (!value)
            return lower_invalid(l, NULL, NULL, "nothing in its graph gives %s", g->outputs.data[i].name);
        if (value->kind == VALUE_ABSENT)
            return report_not_given(s->c, l->node->name, g->outputs.data[i].name);
        results[i] = *value;
    }
    return ODLC_OK;
}

odlc_status lower_subgraph(struct lower *l, const struct fw_graph *g, const char *prefix,
                           const struct lower_value *values, size_t count, struct lower_value *results)
{
    struct conversion *c = l->scope->c;
    struct scope s = {.c = c, .b = l->b, .outer = l->scope, .prefix = prefix, .graph = g};
    odlc_status status = ODLC_OK;
    if (count != g->inputs.count)
        return lower_invalid(l, NULL, NULL, "its graph takes %zu inputs, but gets %zu", g->inputs.count, count);
    c->expanded += g->nodes.count + 1;
    if (c->expanded > MAX_EXPANSION)
        return diag_error(&c->diags, ODLC_ERR_LIMIT, AT(.file = l->path, .node = l->node->name), "expansion",
                          "the graphs inside of nodes expand to more than %d nodes", MAX_EXPANSION);
    map_init(&s.names, c->arena);
    for (size_t i = 0; i < count; i++)
        define(&s, g->inputs.data[i].name, values[i]);
    add_initializers(&s, g);
    for (size_t i = 0; i < g->nodes.count; i++) {
        odlc_status lowered = lower_node(&s, &g->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    TRY(status);
    return subgraph_results(l, &s, g, results);
}

/* ---- the model's own graph ---- */

static odlc_status add_output(struct scope *s, const char *name)
{
    struct conversion *c = s->c;
    struct graph *g = c->graph;
    const struct lower_value *value = find_value(s, name);
    if (!value)
        return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path), "undefined-output",
                          "no node gives the graph output %s", name);
    if (value->kind == VALUE_ABSENT)
        return report_not_given(c, NULL, name);
    if (value->kind != VALUE_TENSOR)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "output-type",
                          "the graph output %s is %s: a container holds tensors alone", name, kind_text(value));
    tensor_id id = value->tensor, holder = graph_find_tensor(g, name);
    const struct tensor *t = graph_tensor(g, id);
    if (t->type.dtype == DT_STRING)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "output-type",
                          "the graph output %s holds strings: a container computes on numbers", name);
    bool same_name = strcmp(t->name, name) == 0;
    if (t->kind == TENSOR_OUTPUT && same_name) /* the model lists it twice */
        return ODLC_OK;
    if (t->kind == TENSOR_INPUT && same_name)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = c->model->path, .hint = "put an Identity between them"), "input-is-output",
                          "%s is a graph input and a graph output under one name, which a container cannot express",
                          name);
    if (t->kind != TENSOR_NATIVE) /* an input, a constant, another output: the result of an Identity, say */
        id = build_copy(g, id, name);
    else if (!same_name && holder == NO_TENSOR)
        graph_rename_tensor(g, id, name);
    graph_tensor(g, id)->kind = TENSOR_OUTPUT;
    vec_push(g->arena, &g->outputs, id);
    return ODLC_OK;
}

odlc_status lower_graph(struct conversion *c)
{
    const struct fw_graph *model = &c->model->graph;
    struct build b;
    struct scope s = {.c = c, .b = &b, .graph = model};
    odlc_status status = ODLC_OK;
    build_init(&b, c->graph, &c->diags);
    map_init(&s.names, c->arena);
    TRY(add_inputs(&s));
    add_initializers(&s, model);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (i % TOLD_EVERY == 0)
            TRY(progress_report(&c->progress, &c->diags, i, model->nodes.count));
        if (!c->live[i])
            continue;
        odlc_status lowered = lower_node(&s, &model->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    odlc_status finished = udo_finish(&c->udos);
    TRY(status);
    TRY(finished);
    for (size_t i = 0; i < model->outputs.count; i++)
        TRY(add_output(&s, model->outputs.data[i].name));
    return ODLC_OK;
}
