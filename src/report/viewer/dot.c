/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for Graphviz. */
#include <inttypes.h>
#include <string.h>

#include "report/viewer/viewer.h"
#include "text/text_table.h"

/* A quoted string: a backslash would start one of Graphviz's escapes. */
static void add_quoted(struct arena *arena, text *dot, const char *string)
{
    text_add(arena, dot, "\"");
    for (const char *s = printable(arena, string); *s; s++)
        text_add(arena, dot, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
    text_add(arena, dot, "\"");
}

static const char *label_of(struct arena *arena, const struct odlc_op *op)
{
    static const char *const kinds[] = {"eltwise_type", "neuron_type", "udo_type"};
    text label = {0};
    text_add(arena, &label, "%s", op->type);
    for (size_t i = 0; i < op->n_attributes; i++) {
        const struct odlc_attribute *a = &op->attributes[i];
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            if (a->kind == ODLC_VALUE_STRING && strcmp(a->name, kinds[k]) == 0)
                text_add(arena, &label, " %s", a->s);
    }
    return label.data;
}

static const char *dims_of(struct arena *arena, const struct odlc_tensor *t)
{
    text dims = {0};
    text_add(arena, &dims, "%s", t->rank ? "" : "scalar");
    for (uint32_t i = 0; i < t->rank; i++)
        text_add(arena, &dims, "%s%" PRId64, i ? "×" : "", t->dims[i]);
    return dims.data;
}

static void add_ops(struct arena *arena, const struct odlc_graph *g, text *dot)
{
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct odlc_op *op = &g->ops[i];
        text_add(arena, dot, "  op%zu [label=", i);
        add_quoted(arena, dot, label_of(arena, op));
        text_add(arena, dot, ", tooltip=");
        add_quoted(arena, dot, op->name);
        if (viewer_is_udo(op))
            text_add(arena, dot, ", fillcolor=\"#fde3c8\", color=\"#b45309\"");
        text_add(arena, dot, "];\n");
    }
}

static void add_end(struct arena *arena, const struct odlc_graph *g, const struct odlc_tensor *t, text *dot)
{
    text_add(arena, dot, "  t%td [shape=box, style=\"rounded,filled\", fillcolor=\"#e3f0e6\", label=", t - g->tensors);
    add_quoted(arena, dot, t->name);
    text_add(arena, dot, "];\n");
}

/* What a graph input, an output or an op is called: "op4", "t0"; NULL for a constant. Readers see the last op before
 * them that writes the tensor, because layers of version 3 may work in place, and if there is none any that does. */
struct edges {
    struct arena *arena;
    const struct odlc_graph *graph;
    const char **writer; /* by tensor */
    text *dot;
};

static void add_edge(struct edges *e, const struct odlc_tensor *t, const char *reader)
{
    const char *writer = e->writer[t - e->graph->tensors];
    if (!writer || strcmp(writer, reader) == 0)
        return;
    text_add(e->arena, e->dot, "  %s -> %s [label=\"%s\"];\n", writer, reader, dims_of(e->arena, t));
}

static void set_writer(struct edges *e, const struct odlc_op *op, const char *name)
{
    for (size_t k = 0; k < op->n_outputs; k++)
        if (op->outputs[k].tensor)
            e->writer[op->outputs[k].tensor - e->graph->tensors] = name;
}

/* Graph inputs and outputs, and edges. In version 3 a layer writes the graph's input. */
static void add_edges(struct arena *arena, const struct odlc_graph *g, text *dot)
{
    struct edges e = {arena, g, arena_array(arena, const char *, g->n_tensors), dot};
    for (size_t i = g->n_ops; i-- > 0;)
        set_writer(&e, &g->ops[i], arena_printf(arena, "op%zu", i));
    for (size_t i = 0; i < g->n_inputs; i++) {
        ptrdiff_t tensor = g->inputs[i] - g->tensors;
        if (e.writer[tensor])
            continue;
        e.writer[tensor] = arena_printf(arena, "t%td", tensor);
        add_end(arena, g, g->inputs[i], dot);
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct odlc_op *op = &g->ops[i];
        const char *self = arena_printf(arena, "op%zu", i);
        for (size_t k = 0; k < op->n_inputs; k++)
            if (op->inputs[k].tensor)
                add_edge(&e, op->inputs[k].tensor, self);
        set_writer(&e, op, self);
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        add_end(arena, g, g->outputs[i], dot);
        add_edge(&e, g->outputs[i], arena_printf(arena, "t%td", g->outputs[i] - g->tensors));
    }
}

void viewer_add_dot(struct arena *arena, const struct odlc_graph *graph, text *dot)
{
    text_add(arena, dot, "digraph ");
    add_quoted(arena, dot, graph->name);
    text_add(arena, dot,
             " {\n"
             "  rankdir=TB;\n"
             "  node [shape=box, style=filled, fillcolor=\"#eef2f8\", color=\"#5b6b84\", fontname=\"sans-serif\","
             " fontsize=11, height=0.3];\n"
             "  edge [color=\"#7a8699\", fontname=\"sans-serif\", fontsize=9, arrowsize=0.6];\n");
    add_ops(arena, graph, dot);
    add_edges(arena, graph, dot);
    text_add(arena, dot, "}\n");
}
