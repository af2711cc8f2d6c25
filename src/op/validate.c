/* SPDX-License-Identifier: Apache-2.0 */
#include "op/validate.h"

#include <stdarg.h>
#include <string.h>

#include "op/infer.h"

struct check {
    const struct graph *g;
    struct arena *scratch;
    struct diags *diags;
    const char *after;
    bool *defined;
};

static odlc_status broken(const struct check *c, const struct node *n, const char *format, ...) PRINTF_LIKE(3, 4);

static odlc_status broken(const struct check *c, const struct node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(c->diags->arena, format, args);
    va_end(args);
    return diag_error(c->diags, ODLC_ERR_INTERNAL,
                      AT(.node = n ? n->name : NULL, .hint = "this is a defect of OpenDLC: please report it"),
                      "invalid-graph", "the graph is not valid after %s: %s%s%s", c->after, n ? n->op->name : "",
                      n ? ": " : "", message);
}

static odlc_status check_operands(const struct check *c, const struct node *n, node_id id)
{
    const struct op *op = n->op;
    if (n->n_inputs < op->min_inputs || (op->max_inputs != VARIADIC && n->n_inputs > op->max_inputs))
        return broken(c, n, "%u inputs", n->n_inputs);
    if (n->n_outputs < op->min_outputs || (op->max_outputs != VARIADIC && n->n_outputs > op->max_outputs))
        return broken(c, n, "%u outputs", n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        tensor_id t = n->inputs[i];
        if (t == NO_TENSOR)
            continue;
        if (t >= c->g->tensors.count || !c->defined[t])
            return broken(c, n, "input %u is not defined before its use", i);
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        tensor_id t = n->outputs[i];
        if (t == NO_TENSOR)
            continue;
        if (t >= c->g->tensors.count || c->defined[t] || graph_tensor(c->g, t)->producer != id)
            return broken(c, n, "output %u is defined twice or by another node", i);
        c->defined[t] = true;
    }
    for (uint32_t i = 0; i < op->n_params; i++)
        if (op->params[i].presence == PARAM_REQUIRED && !n->params[i].set)
            return broken(c, n, "param %s is missing", op->params[i].name);
    return ODLC_OK;
}

/* A quantized tensor may stand for a float one, and be of any width: its encoding says what it means. */
static bool same_dtype(enum dtype inferred, enum dtype stored)
{
    bool quantized = dtype_is_fixed(inferred) || dtype_is_fixed(stored);
    bool real =
        (dtype_is_fixed(inferred) || dtype_is_float(inferred)) && (dtype_is_fixed(stored) || dtype_is_float(stored));
    return inferred == stored || (quantized && real);
}

/* The container has no rank 0: one element of rank 1 stands for it. */
static bool same_type(const struct type *inferred, const struct type *stored)
{
    struct shape one = SHAPE(1);
    bool scalar = inferred->shape.rank == 0 && shape_equal(&stored->shape, &one);
    return same_dtype(inferred->dtype, stored->dtype) && (scalar || shape_equal(&inferred->shape, &stored->shape));
}

static odlc_status check_types(const struct check *c, const struct node *n)
{
    if (!n->op->infer)
        return ODLC_OK;
    struct type few[2],
        *types = n->n_outputs <= COUNT_OF(few) ? few : arena_array(c->scratch, struct type, n->n_outputs);
    if (types == few)
        memset(few, 0, sizeof few);
    struct infer infer = {.graph = c->g, .node = n, .out = types, .diags = c->diags};
    if (n->op->infer(&infer) != ODLC_OK)
        return broken(c, n, "its types cannot be inferred");
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(c->g, n, i);
        if (t && !same_type(&types[i], t->type))
            return broken(c, n, "output %u is %s %s, but %s %s follows from its inputs", i,
                          dtype_info(t->type->dtype)->name, shape_text(c->scratch, &t->type->shape),
                          dtype_info(types[i].dtype)->name, shape_text(c->scratch, &types[i].shape));
    }
    return ODLC_OK;
}

static odlc_status check_tensors(const struct check *c)
{
    for (tensor_id t = 0; t < c->g->tensors.count; t++) {
        const struct tensor *tensor = graph_tensor(c->g, t);
        c->defined[t] = tensor->kind == TENSOR_INPUT || tensor->kind == TENSOR_STATIC;
        if (tensor->kind != TENSOR_STATIC)
            continue;
        struct shape shape = view_shape(tensor->view);
        if (!shape_equal(&shape, &tensor->type->shape))
            return broken(c, NULL, "constant %s has data of shape %s", tensor->name, shape_text(c->scratch, &shape));
    }
    return ODLC_OK;
}

odlc_status graph_validate(const struct graph *g, struct arena *scratch, struct diags *diags, const char *after)
{
    struct arena_mark mark = arena_mark(scratch);
    struct check c = {.g = g, .scratch = scratch, .diags = diags, .after = after};
    c.defined = arena_array(scratch, bool, g->tensors.count);
    odlc_status status = check_tensors(&c);
    for (size_t i = 0; status == ODLC_OK && i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (!n->op)
            continue;
        status = check_operands(&c, n, g->order.data[i]);
        if (status != ODLC_OK)
            break;
        const struct arena_mark before = arena_mark(scratch);
        status = check_types(&c, n);
        arena_rewind(scratch, before);
    }
    for (size_t i = 0; status == ODLC_OK && i < g->outputs.count; i++)
        if (!c.defined[g->outputs.data[i]])
            status = broken(&c, NULL, "graph output %s is not defined", graph_tensor(g, g->outputs.data[i])->name);
    arena_rewind(scratch, mark);
    return status;
}
