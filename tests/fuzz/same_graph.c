/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/kernel.h"
#include "op/params.h"
#include "same_graph.h"

#include <string.h>

struct comparison {
    struct arena *arena;
    const struct graph *a, *b;
    const char *difference;
};

/* Notes the first difference; gives false. */
static bool differs(struct comparison *c, const char *what, const char *name)
{
    if (!c->difference)
        c->difference = arena_printf(c->arena, "%s of %s", what, name);
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- tensors ---- */

static bool same_encoding(const struct encoding *a, const struct encoding *b)
{
    return a->bitwidth == b->bitwidth && same_double(a->min, b->min) && same_double(a->max, b->max) &&
           same_double(a->scale, b->scale) && a->offset == b->offset && a->symmetric == b->symmetric;
}

static bool same_quant(const struct quant *a, const struct quant *b)
{
    if (!a || !b)
        return a == b;
    uint32_t count = a->per_axis ? a->count : 1;
    if (a->per_axis != b->per_axis || a->overridden != b->overridden ||
        (a->per_axis && (a->axis != b->axis || a->count != b->count)))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!same_encoding(&a->encodings[i], &b->encodings[i]))
            return false;
    return true;
}

static bool same_strings(const char *const *a, bool splat_a, const char *const *b, bool splat_b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (strcmp(a[splat_a ? 0 : i], b[splat_b ? 0 : i]) != 0)
            return false;
    return true;
}

static bool same_elements(struct arena *arena, const struct tensor *a, const struct tensor *b)
{
    uint64_t count = shape_count(&a->type->shape);
    if (a->type->dtype == DT_STRING)
        return same_strings(a->view->strings, a->view->splat, b->view->strings, b->view->splat, count);
    const void *x = view_load(arena, a->view, a->type->dtype), *y = view_load(arena, b->view, b->type->dtype);
    return !count || memcmp(x, y, count * dtype_size(a->type->dtype)) == 0;
}

/* A graph that was read says how axes are to be read; the other may leave it to the rank. */
static bool same_format(const struct tensor *a, const struct tensor *b)
{
    return a->axis_format == b->axis_format || !a->axis_format || !b->axis_format;
}

static bool same_tensor(struct comparison *c, const struct tensor *a, const struct tensor *b)
{
    if (!a || !b)
        return a == b || differs(c, "the presence", a ? a->name : b->name);
    if (strcmp(a->name, b->name) != 0)
        return differs(c, "the name", a->name);
    if (a->kind != b->kind)
        return differs(c, "the kind", a->name);
    if (a->type->dtype != b->type->dtype || a->source_dtype != b->source_dtype)
        return differs(c, "the type", a->name);
    if (!shape_equal(&a->type->shape, &b->type->shape))
        return differs(c, "the shape", a->name);
    if (!same_format(a, b))
        return differs(c, "the axis format", a->name);
    if (!same_quant(a->quant, b->quant))
        return differs(c, "the encoding", a->name);
    if (a->kind == TENSOR_STATIC && !same_elements(c->arena, a, b))
        return differs(c, "the elements", a->name);
    return true;
}

/* ---- nodes ---- */

static bool same_values(const struct param *a, const struct param *b)
{
    uint64_t count = shape_count(&a->shape);
    if (a->dtype == DT_STRING)
        return same_strings(a->strings, false, b->strings, false, count);
    for (uint64_t i = 0; i < count; i++)
        if (dtype_is_float(a->dtype) ? !same_double(a->floats[i], b->floats[i]) : a->ints[i] != b->ints[i])
            return false;
    return true;
}

static bool same_param(const struct param *a, const struct param *b)
{
    if (a->dtype != b->dtype || a->is_tensor != b->is_tensor || a->usage != b->usage)
        return false;
    if (a->is_tensor)
        return shape_equal(&a->shape, &b->shape) && same_values(a, b);
    if (a->dtype == DT_STRING)
        return same_text(a->s ? a->s : "", b->s ? b->s : "");
    return dtype_is_float(a->dtype) ? same_double(a->f, b->f) : a->i == b->i;
}

/* The node's param of that name: a row may have it twice, but then it is set once. */
static struct param param_named(const struct node *n, const char *name)
{
    for (uint32_t i = 0; i < n->op->n_params; i++)
        if (n->params[i].set && strcmp(n->op->params[i].name, name) == 0)
            return node_get_param(n, i);
    return (struct param){0};
}

/* The params of a are those of b. */
static bool has_params(struct comparison *c, const struct node *a, const struct node *b)
{
    for (uint32_t i = 0; i < a->op->n_params; i++) {
        if (!a->params[i].set)
            continue;
        const struct param value = node_get_param(a, i);
        const struct param other = param_named(b, value.name);
        if (!other.set || !same_param(&value, &other))
            return differs(c, arena_printf(c->arena, "the param %s", value.name), a->name);
    }
    return true;
}

static uint32_t without_absent(const tensor_id *ids, uint32_t count)
{
    while (count && ids[count - 1] == NO_TENSOR)
        count--;
    return count;
}

static bool same_op(const struct op *a, const struct op *b)
{
    return a == b || (strcmp(a->dlc_type, b->dlc_type) == 0 && same_text(a->package, b->package) &&
                      (a->package || !kernel_of(b)));
}

static bool same_node(struct comparison *c, const struct node *a, const struct node *b)
{
    if (strcmp(a->name, b->name) != 0)
        return differs(c, "the name", a->name);
    if (!same_op(a->op, b->op))
        return differs(c, "the operator", a->name);
    uint32_t n_in = without_absent(a->inputs, a->n_inputs), n_out = without_absent(a->outputs, a->n_outputs);
    if (n_in != without_absent(b->inputs, b->n_inputs) || n_out != without_absent(b->outputs, b->n_outputs))
        return differs(c, "the number of operands", a->name);
    for (uint32_t i = 0; i < n_in; i++)
        if (!same_tensor(c, node_input(c->a, a, i), node_input(c->b, b, i)))
            return false;
    for (uint32_t i = 0; i < n_out; i++)
        if (!same_tensor(c, node_output(c->a, a, i), node_output(c->b, b, i)))
            return false;
    return has_params(c, a, b) && has_params(c, b, a);
}

/* ---- graphs ---- */

/* Both lists name the same tensors; names are unique in a graph. */
static bool same_ends(struct comparison *c, const tensor_id *a, size_t n_a, const tensor_id *b, size_t n_b,
                      const char *what)
{
    struct map names;
    map_init(&names, c->arena);
    if (n_a != n_b)
        return differs(c, "the number", what);
    for (size_t i = 0; i < n_a; i++)
        map_put(&names, graph_tensor(c->a, a[i])->name, a[i]);
    for (size_t i = 0; i < n_b; i++) {
        const struct tensor *t = graph_tensor(c->b, b[i]);
        uint32_t other = map_get(&names, t->name);
        if (other == MAP_NONE)
            return differs(c, what, t->name);
        if (!same_tensor(c, graph_tensor(c->a, other), t))
            return false;
    }
    return true;
}

const char *graph_difference(struct arena *arena, const struct graph *a, const struct graph *b)
{
    struct comparison c = {arena, a, b, NULL};
    if (strcmp(a->name, b->name) != 0 || a->order.count != b->order.count)
        differs(&c, "the name or the number of nodes", a->name);
    for (size_t i = 0; i < a->order.count && !c.difference; i++)
        same_node(&c, graph_node(a, a->order.data[i]), graph_node(b, b->order.data[i]));
    if (!c.difference)
        same_ends(&c, a->inputs.data, a->inputs.count, b->inputs.data, b->inputs.count, "the graph's inputs");
    if (!c.difference)
        same_ends(&c, a->outputs.data, a->outputs.count, b->outputs.data, b->outputs.count, "the graph's outputs");
    return c.difference;
}
