/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/graph.h"

#include <assert.h>
#include <string.h>

struct graph *graph_create(struct arena *arena, const char *name)
{
    struct graph *g = arena_new(arena, struct graph);
    g->arena = arena;
    g->name = name;
    map_init(&g->tensor_names, arena);
    map_init(&g->node_names, arena);
    type_set_init(&g->types, arena);
    return g;
}

void graph_reserve(struct graph *g, size_t n_tensors, size_t n_nodes)
{
    map_reserve(&g->tensor_names, g->tensor_names.count + n_tensors);
    map_reserve(&g->node_names, g->node_names.count + n_nodes);
}

void graph_expect(struct graph *g, const char *tensor, const char *node)
{
    map_expect(&g->tensor_names, tensor);
    map_expect(&g->node_names, node);
}

static const struct tensor *operand(const struct graph *g, const tensor_id *ids, uint32_t count, uint32_t i)
{
    return i < count && ids[i] != NO_TENSOR ? graph_tensor(g, ids[i]) : NULL;
}

const struct tensor *node_input(const struct graph *g, const struct node *n, uint32_t i)
{
    return operand(g, n->inputs, n->n_inputs, i);
}

const struct tensor *node_output(const struct graph *g, const struct node *n, uint32_t i)
{
    return operand(g, n->outputs, n->n_outputs, i);
}

/* base with the first free number behind it. The search starts behind the last number given out for that base (kept in
 * the map under the base with a control character before it), so that many equal names stay linear. */
static const char *numbered_name(struct map *names, struct arena *arena, const char *base)
{
    const char *counter = arena_printf(arena, "\x01%s", base);
    uint32_t n = map_get(names, counter);
    const char *name;
    n = n == MAP_NONE ? 0 : n;
    do
        name = arena_printf(arena, "%s.%u", base, ++n);
    while (map_get(names, name) != MAP_NONE);
    map_put(names, counter, n);
    return name;
}

const char *graph_free_tensor_name(struct graph *g, const char *base)
{
    return map_get(&g->tensor_names, base) == MAP_NONE ? base : numbered_name(&g->tensor_names, g->arena, base);
}

const struct type *graph_type(struct graph *g, enum dtype dtype, const struct shape *shape)
{
    return type_set_get(&g->types, dtype, shape);
}

void graph_set_dtype(struct graph *g, tensor_id id, enum dtype dtype)
{
    struct tensor *t = graph_tensor(g, id);
    t->type = graph_type(g, dtype, &t->type->shape);
}

void graph_set_shape(struct graph *g, tensor_id id, const struct shape *shape)
{
    struct tensor *t = graph_tensor(g, id);
    t->type = graph_type(g, t->type->dtype, shape);
}

void graph_set_view(struct graph *g, tensor_id id, const struct view *view)
{
    struct tensor *t = graph_tensor(g, id);
    if (!t->view)
        t->view = arena_new(g->arena, struct view);
    *t->view = *view;
}

tensor_id graph_add_tensor(struct graph *g, const char *name, enum tensor_kind kind, const struct type *type)
{
    tensor_id id = (tensor_id)g->tensors.count;
    const char *wanted = name && *name ? name : "tensor";
    struct tensor t = {.kind = (uint8_t)kind, .producer = NO_NODE};
    t.type = graph_type(g, type->dtype, &type->shape);
    t.name = wanted;
    if (map_add(&g->tensor_names, wanted, id) != MAP_NONE) {
        t.name = numbered_name(&g->tensor_names, g->arena, wanted);
        t.wanted = wanted;
        map_put(&g->tensor_names, t.name, id);
    }
    vec_push(g->arena, &g->tensors, t);
    return id;
}

tensor_id graph_add_constant(struct graph *g, const char *name, enum dtype as, const struct view *view)
{
    struct type type = {.dtype = as, .shape = view_shape(view)};
    tensor_id id = graph_add_tensor(g, name, TENSOR_STATIC, &type);
    graph_set_view(g, id, view);
    return id;
}

tensor_id graph_find_tensor(const struct graph *g, const char *name)
{
    tensor_id id = map_get(&g->tensor_names, name);
    return id != MAP_NONE && strcmp(graph_tensor(g, id)->name, name) == 0 ? id : NO_TENSOR;
}

void graph_rename_tensor(struct graph *g, tensor_id id, const char *name)
{
    /* The old name stays reserved: names are never reused for another tensor within one graph. */
    graph_tensor(g, id)->name = name;
    map_put(&g->tensor_names, name, id);
}

node_id graph_add_node(struct graph *g, const struct op *op, uint32_t n_params, const char *name,
                       const tensor_id *inputs, uint32_t n_inputs, const tensor_id *outputs, uint32_t n_outputs)
{
    node_id id = (node_id)g->nodes.count;
    g->changes++;
    struct node n = {.op = op, .n_inputs = n_inputs, .n_outputs = n_outputs & INT32_MAX};
    n.name = name && *name ? name : "node";
    node_id holder = map_add(&g->node_names, n.name, id);
    if (holder != MAP_NONE) {
        if (graph_node(g, holder)->op)
            n.name = numbered_name(&g->node_names, g->arena, n.name);
        map_put(&g->node_names, n.name, id);
    }
    n.inputs = arena_array(g->arena, tensor_id, (size_t)n_inputs + n_outputs);
    n.outputs = n.inputs + n_inputs;
    for (uint32_t i = 0; i < n_inputs; i++)
        n.inputs[i] = inputs[i];
    for (uint32_t i = 0; i < n_outputs; i++)
        n.outputs[i] = outputs[i];
    n.params = arena_array(g->arena, struct packed_param, n_params);
    vec_push(g->arena, &g->nodes, n);
    for (uint32_t i = 0; i < n_outputs; i++)
        if (outputs[i] != NO_TENSOR)
            graph_tensor(g, outputs[i])->producer = id;
    return id;
}

void graph_rename_node(struct graph *g, node_id id, const char *name)
{
    if (map_add(&g->node_names, name, id) == MAP_NONE)
        graph_node(g, id)->name = name;
}

void graph_remove_node(struct graph *g, node_id id)
{
    struct node *n = graph_node(g, id);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR && graph_tensor(g, n->outputs[i])->producer == id)
            graph_tensor(g, n->outputs[i])->producer = NO_NODE;
    n->op = NULL;
    g->has_removed = true;
    g->changes++;
}

void graph_replace_input(struct graph *g, node_id id, uint32_t i, tensor_id tensor)
{
    struct node *n = graph_node(g, id);
    assert(n->op && i < n->n_inputs && (tensor == NO_TENSOR || tensor < g->tensors.count));
    n->inputs[i] = tensor;
    g->changes++;
}

void graph_set_input(struct graph *g, node_id id, uint32_t i, tensor_id tensor)
{
    struct node *n = graph_node(g, id);
    if (i >= n->n_inputs) {
        tensor_id *inputs = arena_array(g->arena, tensor_id, i + 1);
        for (uint32_t k = 0; k <= i; k++)
            inputs[k] = k < n->n_inputs ? n->inputs[k] : NO_TENSOR;
        n->inputs = inputs;
        n->n_inputs = i + 1;
    }
    graph_replace_input(g, id, i, tensor);
}

void graph_replace_output(struct graph *g, node_id id, uint32_t i, tensor_id tensor)
{
    struct node *n = graph_node(g, id);
    assert(n->op && i < n->n_outputs && tensor < g->tensors.count);
    assert(graph_tensor(g, tensor)->producer == NO_NODE && graph_tensor(g, tensor)->kind != TENSOR_INPUT &&
           graph_tensor(g, tensor)->kind != TENSOR_STATIC);
    if (n->outputs[i] != NO_TENSOR && graph_tensor(g, n->outputs[i])->producer == id)
        graph_tensor(g, n->outputs[i])->producer = NO_NODE;
    n->outputs[i] = tensor;
    graph_tensor(g, tensor)->producer = id;
    g->changes++;
}

void graph_replace_result(struct graph *g, size_t i, tensor_id tensor)
{
    assert(i < g->outputs.count && tensor < g->tensors.count);
    struct tensor *before = graph_tensor(g, g->outputs.data[i]), *after = graph_tensor(g, tensor);
    if (before->kind == TENSOR_OUTPUT)
        before->kind = TENSOR_NATIVE;
    if (after->kind == TENSOR_NATIVE)
        after->kind = TENSOR_OUTPUT;
    g->outputs.data[i] = tensor;
    g->changes++;
}

void graph_forget_names(struct graph *g)
{
    map_release(&g->tensor_names);
    map_release(&g->node_names);
}

void graph_compact(struct graph *g)
{
    size_t kept = 0;
    for (size_t i = 0; g->has_removed && i < g->order.count; i++)
        if (graph_node(g, g->order.data[i])->op)
            g->order.data[kept++] = g->order.data[i];
    if (g->has_removed)
        g->order.count = kept;
    g->has_removed = false;
}

struct node *graph_producer(const struct graph *g, tensor_id id)
{
    node_id producer = id == NO_TENSOR ? NO_NODE : graph_tensor(g, id)->producer;
    return producer == NO_NODE ? NULL : graph_node(g, producer);
}

struct uses graph_uses_among(struct arena *arena, const struct graph *g, const node_id *nodes, size_t count)
{
    size_t n_tensors = g->tensors.count;
    struct uses u = {.first = arena_array(arena, uint32_t, n_tensors + 2),
                     .count = arena_array(arena, uint32_t, n_tensors + 1)};
    for (size_t i = 0; i < count; i++) {
        const struct node *n = graph_node(g, nodes[i]);
        for (uint32_t k = 0; n->op && k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                u.count[n->inputs[k]]++;
    }
    /* first[t + 1] runs from the start of t's list to its end while the list is filled. */
    uint32_t total = 0;
    for (size_t t = 0; t < n_tensors; t++) {
        u.first[t + 1] = total;
        total += u.count[t];
    }
    u.nodes = arena_array(arena, node_id, total);
    for (size_t i = 0; i < count; i++) {
        const struct node *n = graph_node(g, nodes[i]);
        for (uint32_t k = 0; n->op && k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                u.nodes[u.first[n->inputs[k] + 1]++] = nodes[i];
    }
    return u;
}

struct uses graph_uses(struct arena *arena, const struct graph *g)
{
    struct uses u = graph_uses_among(arena, g, g->order.data, g->order.count);
    for (size_t i = 0; i < g->outputs.count; i++)
        u.count[g->outputs.data[i]]++;
    return u;
}

void graph_replace_uses(struct graph *g, const struct uses *uses, tensor_id tensor, tensor_id with)
{
    for (uint32_t k = uses->first[tensor]; k < uses->first[tensor + 1]; k++) {
        node_id reader = uses->nodes[k];
        bool again = k > uses->first[tensor] && uses->nodes[k - 1] == reader;
        for (uint32_t i = 0; !again && i < graph_node(g, reader)->n_inputs; i++)
            if (graph_node(g, reader)->inputs[i] == tensor)
                graph_replace_input(g, reader, i, with);
    }
}
