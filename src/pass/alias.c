/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/alias.h"

struct aliases aliases_start(struct arena *scratch, struct graph *g)
{
    struct aliases a = {.g = g, .count = g->tensors.count};
    a.to = arena_array(scratch, tensor_id, a.count);
    for (tensor_id i = 0; i < a.count; i++)
        a.to[i] = i;
    return a;
}

static void move_output(struct aliases *a, tensor_id id, tensor_id with)
{
    struct tensor *from = graph_tensor(a->g, id), *to = graph_tensor(a->g, with);
    const char *name = from->name;
    graph_rename_tensor(a->g, id, graph_free_tensor_name(a->g, to->name));
    graph_rename_tensor(a->g, with, name);
    from->kind = TENSOR_NATIVE;
    to->kind = TENSOR_OUTPUT;
    to->axis_format = from->axis_format;
}

bool aliases_replace(struct aliases *a, tensor_id id, tensor_id with)
{
    with = a->to[with];
    if (graph_tensor(a->g, id)->kind == TENSOR_OUTPUT) {
        if (graph_tensor(a->g, with)->kind != TENSOR_NATIVE)
            return false;
        move_output(a, id, with);
    }
    const struct quant *given = graph_tensor(a->g, id)->quant;
    if (given && given->overridden && !graph_tensor(a->g, with)->quant)
        graph_tensor(a->g, with)->quant = given;
    a->to[id] = with;
    return true;
}

void aliases_apply(const struct aliases *a, node_id id)
{
    const struct node *n = graph_node(a->g, id);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const tensor_id in = n->inputs[i];
        if (in != NO_TENSOR && in < a->count && a->to[in] != in)
            graph_replace_input(a->g, id, i, a->to[in]);
    }
}

void aliases_finish(const struct aliases *a)
{
    for (size_t i = 0; i < a->g->outputs.count; i++) {
        tensor_id id = a->g->outputs.data[i];
        if (id < a->count && a->to[id] != id)
            graph_replace_result(a->g, i, a->to[id]);
    }
}
