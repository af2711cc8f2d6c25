/* The model's graph becomes an IR graph: inputs, initializers, then node after node in order. A node that fails spoils
 * what depends on it and nothing else, so that one run reports all that is wrong. */
#include <string.h>

#include "converters/driver.h"

/* In c->values: a value whose node failed, and one that its node names but the op does not give. */
#define SPOILED (UINT32_MAX - 1)
#define NOT_GIVEN (UINT32_MAX - 2)

static void index_declared_values(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    map_init(&c->declared, c->arena);
    for (size_t i = 0; i < g->values.count; i++)
        vec_push(c->arena, &c->all_values, &g->values.data[i]);
    for (size_t i = 0; i < g->outputs.count; i++)
        vec_push(c->arena, &c->all_values, &g->outputs.data[i]);
    for (size_t i = 0; i < c->all_values.count; i++)
        map_put(&c->declared, c->all_values.data[i]->name, (uint32_t)i);
}

static odlc_status add_inputs(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        struct type type = {.dtype = v->dtype, .shape.rank = v->rank};
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
        map_put(&c->values, v->name, id);
    }
    return ODLC_OK;
}

static void add_initializers(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct fw_tensor *t = &g->initializers.data[i];
        map_put(&c->values, t->name, graph_add_constant(c->graph, t->name, t->view.dtype, &t->view));
    }
}

static odlc_status report_not_given(struct conversion *c, const char *node, const char *value)
{
    return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path, .node = node), "output-not-given",
                      "%s is used, but its node does not give that output", value);
}

/* Reads the inputs' ids; false when one of them is spoiled. */
static bool resolve_inputs(struct conversion *c, const struct fw_node *n, tensor_id *ids, uint32_t *count)
{
    *count = 0;
    for (size_t k = 0; k < n->n_inputs; k++) {
        ids[k] = *n->inputs[k] ? map_get(&c->values, n->inputs[k]) : NO_TENSOR;
        if (ids[k] == NOT_GIVEN)
            (void)report_not_given(c, n->name, n->inputs[k]);
        if (ids[k] == SPOILED || ids[k] == NOT_GIVEN)
            return false;
        if (ids[k] != NO_TENSOR)
            *count = (uint32_t)k + 1;
    }
    return true;
}

/* The declared element type of an output against the computed one: a difference means that the model or the converter
 * is wrong. */
static odlc_status check_declared(struct conversion *c, const struct fw_node *n, const char *name, tensor_id id)
{
    uint32_t at = map_get(&c->declared, name);
    if (at == MAP_NONE)
        return ODLC_OK;
    const struct fw_value *v = c->all_values.data[at];
    const struct tensor *t = graph_tensor(c->graph, id);
    if (v->dtype != DT_NONE && v->dtype != t->type.dtype)
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

static odlc_status lower_node(struct conversion *c, struct build *b, const struct fw_node *n)
{
    struct arena *arena = c->arena;
    tensor_id *in = arena_array(arena, tensor_id, n->n_inputs);
    tensor_id *out = arena_array(arena, tensor_id, n->n_outputs);
    struct lower l = {.b = b,
                      .arena = c->graph->arena,
                      .diags = &c->diags,
                      .path = c->model->path,
                      .node = n,
                      .version = n->version,
                      .in = in,
                      .out = out,
                      .n_out = (uint32_t)n->n_outputs};
    for (size_t k = 0; k < n->n_outputs; k++) {
        out[k] = NO_TENSOR;
        if (*n->outputs[k])
            map_put(&c->values, n->outputs[k], SPOILED);
    }
    if (!resolve_inputs(c, n, in, &l.n_in))
        return ODLC_ERR_INVALID; /* reported where it came from */
    b->source = n->name;
    const struct udo_def *def = udo_find(&c->udos, n->op_type, n->domain);
    if (def) {
        TRY(lower_claimed(c, &l, def));
    } else {
        const struct lower_row *row = find_row(c->frontend, n->domain, n->op_type, n->version);
        l.arg = row->arg;
        TRY(row->fn(&l));
    }
    keep_node_name(c->graph, n, n->n_outputs ? out[0] : NO_TENSOR);
    for (size_t k = 0; k < n->n_outputs; k++) {
        if (!*n->outputs[k])
            continue;
        if (out[k] == NO_TENSOR) {
            map_put(&c->values, n->outputs[k], NOT_GIVEN);
            continue;
        }
        if (!def) /* what a definition says of its outputs stands above the model's word */
            TRY(check_declared(c, n, n->outputs[k], out[k]));
        map_put(&c->values, n->outputs[k], out[k]);
    }
    return ODLC_OK;
}

static odlc_status add_outputs(struct conversion *c)
{
    struct graph *g = c->graph;
    const struct fw_graph *model = &c->model->graph;
    for (size_t i = 0; i < model->outputs.count; i++) {
        const char *name = model->outputs.data[i].name;
        tensor_id id = map_get(&c->values, name);
        if (id == NO_TENSOR)
            return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path), "undefined-output",
                              "no node gives the graph output %s", name);
        if (id == NOT_GIVEN)
            return report_not_given(c, NULL, name);
        const struct tensor *t = graph_tensor(g, id);
        tensor_id holder = graph_find_tensor(g, name);
        bool same_name = strcmp(t->name, name) == 0;
        if (t->kind == TENSOR_OUTPUT && same_name) /* the model lists it twice */
            continue;
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
    }
    return ODLC_OK;
}

odlc_status lower_graph(struct conversion *c)
{
    const struct fw_graph *model = &c->model->graph;
    struct build b;
    odlc_status status = ODLC_OK;
    build_init(&b, c->graph, &c->diags);
    map_init(&c->values, c->arena);
    index_declared_values(c);
    TRY(add_inputs(c));
    add_initializers(c);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (!c->live[i])
            continue;
        odlc_status lowered = lower_node(c, &b, &model->nodes.data[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    odlc_status finished = udo_finish(&c->udos);
    TRY(status);
    TRY(finished);
    return add_outputs(c);
}
