#include <string.h>

#include "ir/quant.h"
#include "kernel/eval.h"
#include "kernel/kernel.h"
#include "op/op.h"
#include "op/params.h"
#include "build/fold.h"

/* A constant whose computation would need too much memory or time stays a node (ir/growth.h): folding must not make the
 * model's size the peak of memory. Views and splats cost nothing and have no such limit. */

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

/* Kernels take elements as 8 bytes. */
static bool affordable(struct graph *g, const struct node *n)
{
    struct extent e = {0};
    add_extent(g, n->inputs, n->n_inputs, &e);
    add_extent(g, n->outputs, n->n_outputs, &e);
    uint64_t bytes = sat_mul(e.elements, 8), work = e.steps;
    if (bytes > FOLD_MOST) /* below it no product of two numbers of elements overflows */
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

odlc_status fold_node(struct graph *g, node_id id, struct diags *diags, bool *folded)
{
    const struct node *n = graph_node(g, id);
    *folded = false;
    if (!kernel_of(n->op) || !all_inputs_constant(g, n))
        return ODLC_OK;
    struct view view;
    if (n->n_outputs == 1 && fold_as_view(g, n, &view)) {
        make_constant(g, n->outputs[0], &view);
        *folded = true;
    } else if (affordable(g, n)) {
        struct buffer *out = arena_array(g->arena, struct buffer, n->n_outputs);
        TRY(compute(g, n, diags, out));
        for (uint32_t i = 0; i < n->n_outputs; i++) {
            if (n->outputs[i] == NO_TENSOR)
                continue;
            view = view_of(out[i].data, out[i].dtype, &out[i].shape);
            if (out[i].dtype == DT_STRING)
                view.strings = out[i].data;
            make_constant(g, n->outputs[i], &view);
        }
        *folded = true;
    }
    if (*folded)
        graph_remove_node(g, id);
    return ODLC_OK;
}
