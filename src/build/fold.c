/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ir/quant.h"
#include "kernel/eval.h"
#include "kernel/kernel.h"
#include "op/op.h"
#include "op/params.h"
#include "build/fold.h"
#include "build/fold_parts.h"

/* Folding must not make the model's size the peak of memory: large constants are computed in parts and put into a file
 * (fold_parts.h). What would take too much memory all the same, or too much time, stays a node (ir/growth.h). Views and
 * splats cost nothing and have no such limit. */

static bool all_inputs_constant(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && graph_tensor(g, n->inputs[i])->kind != TENSOR_STATIC)
            return false;
    return n->n_inputs > 0;
}

/* A cast that can be left to the view: one that keeps every value, or makes a float of it. A cast to fewer bits wraps,
 * which is the kernel's business. */
static bool is_view_cast(enum dtype from, enum dtype to)
{
    bool widens = dtype_size(to) > dtype_size(from) && dtype_info(from)->cls == dtype_info(to)->cls;
    return from != DT_STRING && to != DT_STRING && (dtype_is_float(to) || (dtype_is_int(to) && widens));
}

/* Whether a view's elements stay what they are in the result: fixed-point ones with one encoding, that of the result.
 */
static bool keeps_encoding(const struct tensor *in, const struct tensor *result)
{
    if (!dtype_is_fixed(in->type->dtype) && !dtype_is_fixed(result->type->dtype))
        return true;
    return in->type->dtype == result->type->dtype && quant_equal(in->quant, result->quant) &&
           !(in->quant && in->quant->per_axis);
}

/* Transpose, Reshape and Cast of a view are views. */
static bool fold_as_view(const struct graph *g, const struct node *n, struct view *out)
{
    const struct tensor *in = graph_tensor(g, n->inputs[0]);
    const struct tensor *result = graph_tensor(g, n->outputs[0]);
    if (!keeps_encoding(in, result))
        return false;
    *out = *in->view;
    if (node_is(n, OP_Transpose)) {
        struct perm perm = node_perm(n);
        view_permute(out, &perm);
        return true;
    }
    if (node_is(n, OP_Reshape))
        return view_reshape(out, &result->type->shape);
    /* The pending cast of the input comes before what this node does, so there can be only one. */
    bool cast_pending = in->view->dtype != in->type->dtype;
    return node_is(n, OP_Cast) && !cast_pending && is_view_cast(in->type->dtype, result->type->dtype);
}

/* What the elements of some tensors add up to. Loops may run over the other dimensions of a tensor that is empty. */
struct extent {
    uint64_t elements, steps;
};

static void add_extent(const struct graph *g, const tensor_id *ids, uint32_t count, struct extent *e)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == NO_TENSOR)
            continue;
        const struct shape *shape = &graph_tensor(g, ids[i])->type->shape;
        e->elements = sat_add(e->elements, shape_count(shape));
        e->steps = sat_add(e->steps, shape_steps(shape));
    }
}

/* Kernels take elements as 8 bytes; at most so many at a time. */
static bool affordable(struct graph *g, const struct node *n, uint64_t most)
{
    struct extent e = {0};
    add_extent(g, n->inputs, n->n_inputs, &e);
    add_extent(g, n->outputs, n->n_outputs, &e);
    uint64_t bytes = sat_mul(e.elements, 8), work = e.steps;
    if (bytes > most)
        return false;
    if (n->op->macs)
        work = sat_add(work, n->op->macs(g, n));
    if (n->op->work)
        work = sat_add(work, n->op->work(g, n));
    return growth_fold(&g->growth, bytes, work);
}

static struct buffer constant_buffer(struct arena *scratch, const struct tensor *t)
{
    struct buffer b = {.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
    if (t->type->dtype == DT_STRING) {
        uint64_t count = shape_count(&t->type->shape);
        const char **strings = arena_array(scratch, const char *, count);
        for (uint64_t i = 0; i < count; i++)
            strings[i] = t->view->strings[t->view->splat ? 0 : i];
        b.data = strings;
    } else {
        b.data = (void *)(uintptr_t)view_load(scratch, t->view, t->type->dtype);
    }
    return b;
}

/* The result lives in the graph's arena; what it took to compute it does not. */
static odlc_status compute(struct graph *g, const struct node *n, struct diags *diags, struct buffer *out)
{
    struct arena *arena = g->arena;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (!t)
            continue;
        size_t size = t->type->dtype == DT_STRING ? sizeof(char *) : dtype_size(t->type->dtype);
        out[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        out[i].data = arena_calloc(arena, shape_count(&t->type->shape), size);
    }
    struct arena_mark mark = arena_mark(arena);
    struct buffer *in = arena_array(arena, struct buffer, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR)
            in[i] = constant_buffer(arena, graph_tensor(g, n->inputs[i]));
    size_t before = diags->list.count;
    odlc_status status = eval_node(n, in, out, arena, diags);
    if (diags->list.count == before) /* a diagnostic lives in the same arena */
        arena_rewind(arena, mark);
    return status;
}

static void make_constant(struct graph *g, tensor_id id, const struct view *view)
{
    struct tensor *t = graph_tensor(g, id);
    t->kind = TENSOR_STATIC;
    graph_set_view(g, id, view);
}

/* ---- small and large nodes ---- */

/* Computes a node in memory. */
static odlc_status compute_small(struct graph *g, const struct node *n, struct diags *diags, struct view *views,
                                 bool *done)
{
    *done = affordable(g, n, FOLD_MOST);
    if (!*done)
        return ODLC_OK;
    struct buffer *out = arena_array(g->arena, struct buffer, n->n_outputs);
    TRY(compute(g, n, diags, out));
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        views[i] = view_of(out[i].data, out[i].dtype, &out[i].shape);
        if (out[i].dtype == DT_STRING)
            views[i].strings = out[i].data;
    }
    return ODLC_OK;
}

/* Whether a node takes more memory than one may, or gives more than shall stay in memory. */
static bool is_large(const struct graph *g, const struct node *n)
{
    struct extent e = {0};
    const struct tensor *result = node_output(g, n, 0);
    add_extent(g, n->inputs, n->n_inputs, &e);
    add_extent(g, n->outputs, n->n_outputs, &e);
    return result && (e.elements > FOLD_MOST / 8 ||
                      shape_count(&result->type->shape) * dtype_size(result->type->dtype) >= SPILL_LEAST);
}

static odlc_status compute_in_parts(struct graph *g, const struct node *n, struct diags *diags, struct view *views,
                                    bool *done)
{
    struct cut cut;
    *done = cut_node(g, n, FOLD_PART, &cut) && affordable(g, n, UINT64_MAX);
    return *done ? fold_cut(g, n, &cut, diags, views) : ODLC_OK;
}

/* A node that leaves no axis to be cut along is two: one that leaves an axis, and one along that. */
static odlc_status compute_in_steps(struct graph *g, const struct node *n, struct diags *diags, struct view *views,
                                    bool *done)
{
    struct node first, last;
    struct view between;
    *done = n->op->combine != OP_CUSTOM ? split_reduction(g, n, &first, &last) : split_axes(g, n, &first, &last);
    if (!*done)
        return ODLC_OK;
    TRY(compute_in_parts(g, &first, diags, &between, done));
    if (!*done)
        return ODLC_OK;
    make_constant(g, first.outputs[0], &between);
    TRY(compute_small(g, &last, diags, views, done));
    return *done ? ODLC_OK : compute_in_parts(g, &last, diags, views, done);
}

/* The value of a view whose elements a Reshape would need in another order. */
static odlc_status reshape_large(struct graph *g, const struct node *n, struct diags *diags, struct view *views,
                                 bool *done)
{
    const struct tensor *in = node_input(g, n, 0), *result = node_output(g, n, 0);
    *done = node_is(n, OP_Reshape) && in->type->dtype != DT_STRING && keeps_encoding(in, result) &&
            affordable(g, n, UINT64_MAX);
    if (!*done)
        return ODLC_OK;
    TRY(spill_constant(g, in, diags, views));
    return view_reshape(views, &result->type->shape) ? ODLC_OK : ODLC_ERR_INTERNAL;
}

static odlc_status compute_views(struct graph *g, const struct node *n, struct diags *diags, struct view *views,
                                 bool *done)
{
    typedef odlc_status way_fn(struct graph *, const struct node *, struct diags *, struct view *, bool *);
    static way_fn *const ways[] = {reshape_large, compute_in_parts, compute_in_steps, compute_small};
    size_t first = g->spill && is_large(g, n) ? 0 : COUNT_OF(ways) - 1;
    *done = n->n_outputs == 1 && fold_as_view(g, n, views);
    for (size_t i = first; !*done && i < COUNT_OF(ways); i++)
        TRY(ways[i](g, n, diags, views, done));
    return ODLC_OK;
}

odlc_status fold_node(struct graph *g, node_id id, struct diags *diags, bool *folded)
{
    const struct node *n = graph_node(g, id);
    struct view one, *views = &one;
    *folded = false;
    if (!kernel_of(n->op) || !all_inputs_constant(g, n))
        return ODLC_OK;
    if (n->n_outputs > 1)
        views = arena_array(g->arena, struct view, n->n_outputs);
    TRY(compute_views(g, n, diags, views, folded));
    if (!*folded)
        return ODLC_OK;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            make_constant(g, n->outputs[i], &views[i]);
    graph_remove_node(g, id);
    return ODLC_OK;
}
