/* SPDX-License-Identifier: Apache-2.0 */
/* A framework graph as text, in the manner of src/op/graph_text.h: what a front end's tests compare.
 *
 *     input "x" float32[2,?]
 *     const "c" int32[2] {1, 2}
 *     node "n" Op ("x", "c") {axis=1, body={
 *       …
 *     }} conditional -> "n", "n:1"
 *     output "n"
 */
#ifndef TESTS_SUPPORT_FW_TEXT_H
#define TESTS_SUPPORT_FW_TEXT_H

#include <inttypes.h>

#include "converters/frontend/frontend.h"

static inline void fw_text_graph(struct arena *arena, text *t, const struct fw_graph *g, int depth);

static inline void fw_text_value(struct arena *arena, text *t, const struct fw_value *v)
{
    text_add(arena, t, " %s[%s]", v->dtype == DT_NONE ? "?" : dtype_info(v->dtype)->name, fw_dims_text(arena, v));
}

static inline void fw_text_tensor(struct arena *arena, text *t, const struct fw_tensor *tensor)
{
    const struct view *view = &tensor->view;
    const uint64_t count = shape_count(&view->shape);
    const double *values = view->dtype == DT_STRING ? NULL : view_load(arena, view, DT_FLOAT64);
    text_add(arena, t, "const \"%s\" %s%s {", tensor->name, dtype_info(view->dtype)->name,
             shape_text(arena, &view->shape));
    for (uint64_t i = 0; i < count; i++) {
        text_add(arena, t, "%s", i ? ", " : "");
        if (values)
            text_add(arena, t, "%g", values[i]);
        else
            text_add(arena, t, "\"%s\"", view->strings[view->splat ? 0 : i]);
    }
    text_add(arena, t, "}\n");
}

static inline void fw_text_attr(struct arena *arena, text *t, const struct fw_attr *a, int depth)
{
    text_add(arena, t, "%s=", a->name);
    if (a->kind == FW_INT || a->kind == FW_BOOL)
        text_add(arena, t, "%" PRId64, a->i);
    else if (a->kind == FW_FLOAT)
        text_add(arena, t, "%g", (double)a->f);
    else if (a->kind == FW_STRING)
        text_add(arena, t, "\"%s\"", a->s);
    else if (a->kind == FW_FUNCTION)
        text_add(arena, t, "function %s", a->function->name);
    else if (a->kind == FW_INTS)
        for (size_t i = 0; i < a->count; i++)
            text_add(arena, t, "%s%" PRId64 "%s", i ? ", " : "[", a->ints[i], i + 1 == a->count ? "]" : "");
    if (a->kind == FW_GRAPH) {
        text_add(arena, t, "{\n");
        fw_text_graph(arena, t, a->graph, depth + 1);
        text_add(arena, t, "%*s}", 2 * depth, "");
    }
}

static inline void fw_text_node(struct arena *arena, text *t, const struct fw_node *n, int depth)
{
    text_add(arena, t, "node \"%s\" %s (", n->name, n->op->type);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        text_add(arena, t, "%s\"%s\"", i ? ", " : "", n->inputs[i]);
    text_add(arena, t, ")%s", n->n_attrs ? " {" : "");
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        text_add(arena, t, "%s", i ? ", " : "");
        fw_text_attr(arena, t, &n->attrs[i], depth);
    }
    text_add(arena, t, "%s%s ->", n->n_attrs ? "}" : "", n->conditional ? " conditional" : "");
    for (uint32_t i = 0; i < n->n_outputs; i++)
        text_add(arena, t, "%s \"%s\"", i ? "," : "", n->outputs[i]);
    text_add(arena, t, "\n");
}

static inline void fw_text_graph(struct arena *arena, text *t, const struct fw_graph *g, int depth)
{
    const int indent = 2 * depth;
    for (size_t i = 0; i < g->inputs.count; i++) {
        text_add(arena, t, "%*sinput \"%s\"", indent, "", g->inputs.data[i].name);
        fw_text_value(arena, t, &g->inputs.data[i]);
        text_add(arena, t, "\n");
    }
    for (size_t i = 0; i < g->initializers.count; i++) {
        text_add(arena, t, "%*s", indent, "");
        fw_text_tensor(arena, t, &g->initializers.data[i]);
    }
    for (size_t i = 0; i < g->nodes.count; i++) {
        text_add(arena, t, "%*s", indent, "");
        fw_text_node(arena, t, &g->nodes.data[i], depth);
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        text_add(arena, t, "%*soutput \"%s\"\n", indent, "", g->outputs.data[i].name);
}

#endif
