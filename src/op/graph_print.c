/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "op/graph_text.h"
#include "op/op.h"
#include "op/params.h"

enum { VALUES_SHOWN = 16 };

static void print_string(struct arena *arena, text *t, const char *s)
{
    text_add(arena, t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_add(arena, t, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            text_add(arena, t, "\\x%02x", (unsigned char)*s);
        else
            text_add_bytes(arena, t, s, 1);
    }
    text_add(arena, t, "\"");
}

static void print_type(struct arena *arena, text *t, const struct type *type)
{
    text_add(arena, t, " %s%s", dtype_info(type->dtype)->name, shape_text(arena, &type->shape));
}

static void print_values(struct arena *arena, text *t, const struct tensor *tensor)
{
    uint64_t count = shape_count(&tensor->type->shape);
    enum dtype dtype = tensor->type->dtype;
    if (count > VALUES_SHOWN)
        return;
    text_add(arena, t, " {");
    for (uint64_t i = 0; i < count; i++) {
        const char *comma = i ? ", " : "";
        text_add(arena, t, "%s", comma);
        if (dtype == DT_STRING)
            print_string(arena, t, tensor->view->strings[tensor->view->splat ? 0 : i]);
        else if (dtype_is_float(dtype))
            text_add(arena, t, "%.9g", ((const double *)view_load(arena, tensor->view, DT_FLOAT64))[i]);
        else
            text_add(arena, t, "%lld", (long long)((const int64_t *)view_load(arena, tensor->view, DT_INT64))[i]);
    }
    text_add(arena, t, "}");
}

static void print_element(struct arena *arena, text *t, const struct param *p, uint64_t i)
{
    if (p->dtype == DT_STRING)
        print_string(arena, t, p->is_tensor ? p->strings[i] : p->s);
    else if (dtype_is_float(p->dtype))
        text_add(arena, t, "%.9g", p->is_tensor ? p->floats[i] : p->f);
    else
        text_add(arena, t, "%lld", (long long)(p->is_tensor ? p->ints[i] : p->i));
}

static void print_param(struct arena *arena, text *t, const struct param_def *def, const struct param *p)
{
    text_add(arena, t, "%s=", p->name);
    if (def->dtype == DT_NONE)
        text_add(arena, t, "%s ", dtype_info(p->dtype)->name);
    if (!p->is_tensor) {
        print_element(arena, t, p, 0);
        return;
    }
    text_add(arena, t, "%s{", shape_text(arena, &p->shape));
    for (uint64_t i = 0; i < shape_count(&p->shape); i++) {
        text_add(arena, t, "%s", i ? ", " : "");
        print_element(arena, t, p, i);
    }
    text_add(arena, t, "}");
}

static void print_node(struct arena *arena, text *t, const struct graph *g, const struct node *n)
{
    text_add(arena, t, "node ");
    print_string(arena, t, n->name);
    text_add(arena, t, " %s%s%s (", n->op->package ? n->op->package : "", n->op->package ? "::" : "", n->op->name);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *in = node_input(g, n, i);
        text_add(arena, t, "%s", i ? ", " : "");
        if (in)
            print_string(arena, t, in->name);
        else
            text_add(arena, t, "-");
    }
    text_add(arena, t, ")");
    bool any = false;
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        if (!n->params[i].set)
            continue;
        text_add(arena, t, any ? ", " : " {");
        const struct param value = node_get_param(n, i);
        print_param(arena, t, &n->op->params[i], &value);
        any = true;
    }
    text_add(arena, t, "%s%s ->", any ? "}" : "", n->layout_only ? " layout_only" : "");
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *out = node_output(g, n, i);
        text_add(arena, t, i ? ", " : " ");
        if (!out) {
            text_add(arena, t, "-");
            continue;
        }
        print_string(arena, t, out->name);
        print_type(arena, t, out->type);
    }
    text_add(arena, t, "\n");
}

static void print_tensor(struct arena *arena, text *t, const char *keyword, const struct tensor *tensor, bool with_type)
{
    text_add(arena, t, "%s ", keyword);
    print_string(arena, t, tensor->name);
    if (with_type)
        print_type(arena, t, tensor->type);
    if (tensor->kind == TENSOR_STATIC && with_type)
        print_values(arena, t, tensor);
    text_add(arena, t, "\n");
}

const char *graph_print(struct arena *arena, const struct graph *g)
{
    text t = {0};
    bool *printed = arena_array(arena, bool, g->tensors.count);
    text_add(arena, &t, "graph ");
    print_string(arena, &t, g->name);
    text_add(arena, &t, "\n");
    for (size_t i = 0; i < g->inputs.count; i++)
        print_tensor(arena, &t, "input", graph_tensor(g, g->inputs.data[i]), true);
    /* A constant stands before its first reader. */
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; n->op && k < n->n_inputs; k++) {
            const struct tensor *in = node_input(g, n, k);
            if (!in || in->kind != TENSOR_STATIC || printed[n->inputs[k]])
                continue;
            print_tensor(arena, &t, "const", in, true);
            printed[n->inputs[k]] = true;
        }
        if (n->op)
            print_node(arena, &t, g, n);
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        print_tensor(arena, &t, "output", graph_tensor(g, g->outputs.data[i]), false);
    return t.data;
}
