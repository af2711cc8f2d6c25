/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/control.h"

#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

static bool starts_inside(const struct lower *l, const char *source)
{
    size_t length = strlen(l->node->name);
    return source && strncmp(source, l->node->name, length) == 0 && source[length] == '/';
}

void control_give(struct lower *l, uint32_t i, const struct lower_value *value)
{
    struct graph *g = l->b->graph;
    const char *name = lower_out_name(l, i);
    if (!name)
        return;
    l->results[i] = *value;
    if (value->kind != VALUE_TENSOR)
        return;
    const struct tensor *t = graph_tensor(g, value->tensor);
    if (t->kind == TENSOR_NATIVE && t->producer != NO_NODE && graph_find_tensor(g, name) == NO_TENSOR &&
        starts_inside(l, graph_node(g, t->producer)->source))
        graph_rename_tensor(g, value->tensor, name);
}

odlc_status control_run(struct lower *l, const char *name, const char *prefix, const struct lower_value *values,
                        size_t count, struct lower_value **results)
{
    const struct fw_graph *branch;
    TRY(lower_attr_graph(l, name, &branch));
    if (l->n_out > branch->outputs.count)
        return lower_invalid(l, name, NULL, "the graph gives %zu outputs, the node has %u", branch->outputs.count,
                             l->n_out);
    *results = arena_array(l->arena, struct lower_value, branch->outputs.count);
    return lower_subgraph(l, branch, prefix, values, count, *results);
}

odlc_status control_known(const struct lower *l, tensor_id id, const char *what, bool *out)
{
    const int64_t *value;
    uint32_t count;
    TRY(lower_tensor_ints(l, id, what, &value, &count));
    if (count != 1)
        return lower_invalid(l, NULL, NULL, "%s has %u elements instead of one", what, count);
    *out = value[0] != 0;
    return ODLC_OK;
}

odlc_status control_blame(const struct lower *l, tensor_id condition, const char *what)
{
    const int64_t *values;
    uint32_t count;
    return lower_tensor_ints(l, condition, arena_printf(l->diags->arena, "%s, and the condition", what), &values,
                             &count);
}

static bool same_value(const struct lower_value *a, const struct lower_value *b)
{
    return a->kind == b->kind && a->tensor == b->tensor && a->items == b->items && a->count == b->count;
}

odlc_status control_select(struct lower *l, tensor_id condition, uint32_t i, const struct lower_value *yes,
                           const struct lower_value *no, struct lower_value *out)
{
    bool tensors = yes->kind == VALUE_TENSOR && no->kind == VALUE_TENSOR;
    const struct type *a = tensors ? build_type(l->b, yes->tensor) : NULL,
                      *b = tensors ? build_type(l->b, no->tensor) : NULL;
    if (!tensors && same_value(yes, no)) {
        *out = *yes;
        return ODLC_OK;
    }
    if (!tensors || a->dtype != b->dtype || !shape_equal(&a->shape, &b->shape))
        return control_blame(l, condition,
                             arena_printf(l->diags->arena, "the branches differ in the type of output %u", i));
    struct emit s = {.l = l};
    tensor_id selected = emit_select(&s, condition, yes->tensor, no->tensor);
    *out = (struct lower_value){.kind = VALUE_TENSOR, .tensor = selected};
    return s.status;
}

static odlc_status select_branches(struct lower *l, tensor_id condition, const struct lower_value *values, size_t count)
{
    const char *name = l->node->name;
    struct lower_value *yes, *no;
    struct shape scalar = {.rank = 0};
    odlc_status status = control_run(l, "then_branch", arena_printf(l->arena, "%s/then", name), values, count, &yes);
    odlc_status other = control_run(l, "else_branch", arena_printf(l->arena, "%s/else", name), values, count, &no);
    if (status != ODLC_OK || other != ODLC_OK)
        return control_blame(l, condition, "a branch cannot be converted");
    TRY(build_reshape(l->b, condition, &scalar, step_name(l, "condition"), &condition));
    for (uint32_t i = 0; i < l->n_out; i++) {
        struct emit s = {.l = l};
        if (!lower_out_name(l, i))
            continue;
        TRY(control_select(l, condition, i, &yes[i], &no[i], &l->results[i]));
        if (l->results[i].kind == VALUE_TENSOR)
            TRY(emit_give(&s, i, l->results[i].tensor));
    }
    return ODLC_OK;
}

odlc_status control_if(struct lower *l, tensor_id condition, const struct lower_value *values, size_t count)
{
    struct lower_value *results;
    bool taken;
    if (!build_is_const(l->b, condition))
        return select_branches(l, condition, values, count);
    TRY(control_known(l, condition, "the condition", &taken));
    TRY(control_run(l, taken ? "then_branch" : "else_branch", l->node->name, values, count, &results));
    for (uint32_t i = 0; i < l->n_out; i++)
        control_give(l, i, &results[i]);
    return ODLC_OK;
}
