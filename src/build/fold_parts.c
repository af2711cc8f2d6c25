/* SPDX-License-Identifier: Apache-2.0 */
#include "build/fold_parts.h"

#include <string.h>

#include "ir/quant.h"
#include "kernel/eval.h"
#include "op/axes.h"
#include "op/op.h"

/* ---- how a node is cut ---- */

/* An encoding per index of an axis would have to be cut, too. */
static bool is_plain_tensor(const struct tensor *t)
{
    return t->type->dtype != DT_STRING && !(t->quant && t->quant->per_axis);
}

/* Bytes, at 8 an element, of an index of the axis, or of a tensor that is not cut. */
static uint64_t bytes_of_index(const struct tensor *t, uint32_t axis)
{
    uint64_t bytes = sat_mul(shape_count(&t->type->shape), 8);
    return axis == NOT_CUT ? bytes : bytes / (uint64_t)t->type->shape.dims[axis];
}

static bool has_extent(const struct tensor *t, uint32_t axis, int64_t extent)
{
    return axis < t->type->shape.rank && t->type->shape.dims[axis] == extent;
}

/* Cuts along cut->axis: the axes of the inputs, and how many indices a part can have. */
static bool cut_axis(const struct graph *g, struct cut *cut, uint32_t *in_axes, uint64_t most)
{
    uint64_t each = 0, whole = 0;
    struct node *n = &cut->node;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (t && (!is_plain_tensor(t) || !has_extent(t, cut->axis, cut->extent)))
            return false;
        each = sat_add(each, t ? bytes_of_index(t, cut->axis) : 0);
    }
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        in_axes[i] = NOT_CUT;
        if (!t)
            continue;
        if (!is_plain_tensor(t) || !n->op->cut(g, n, cut->axis, i, &in_axes[i]) ||
            (in_axes[i] != NOT_CUT && !has_extent(t, in_axes[i], cut->extent)))
            return false;
        uint64_t *sum = in_axes[i] == NOT_CUT ? &whole : &each;
        *sum = sat_add(*sum, bytes_of_index(t, in_axes[i]));
    }
    cut->step = whole >= most || each == 0 ? 0 : (int64_t)min_u64((most - whole) / each, (uint64_t)cut->extent);
    return cut->step > 0;
}

bool cut_node(struct graph *g, const struct node *n, uint64_t most, struct cut *out)
{
    const struct tensor *first = node_output(g, n, 0);
    uint32_t *in_axes = arena_array(g->arena, uint32_t, n->n_inputs);
    struct packed_param *params = arena_array(g->arena, struct packed_param, n->op->n_params);
    for (uint32_t axis = 0; first && n->op->cut && axis < first->type->shape.rank; axis++) {
        *out = (struct cut){.axis = axis, .extent = first->type->shape.dims[axis], .in_axes = in_axes, .node = *n};
        out->node.params = params;
        memcpy(params, n->params, n->op->n_params * sizeof *params);
        if (out->extent > 1 && cut_axis(g, out, in_axes, most))
            return true;
    }
    return false;
}

static void set_axes(struct graph *g, struct node *n, uint32_t axes)
{
    int64_t listed[MAX_RANK];
    struct shape count = SHAPE(0);
    for (uint32_t i = 0; i < MAX_RANK; i++)
        if (axes >> i & 1)
            listed[count.dims[0]++] = i;
    node_set_ints(g, n, PARAM_axes, &count, listed);
}

/* Two nodes with params of their own, the second of which reads a new tensor that the first gives. */
static void make_two(struct graph *g, const struct node *n, const struct type *between, struct node *first,
                     struct node *last)
{
    tensor_id *id = arena_new(g->arena, tensor_id);
    *id = graph_add_tensor(g, node_output(g, n, 0)->name, TENSOR_NATIVE, between);
    graph_tensor(g, *id)->quant = node_input(g, n, 0)->quant;
    *last = *first = *n;
    first->outputs = last->inputs = id;
    first->params = arena_array(g->arena, struct packed_param, n->op->n_params);
    last->params = arena_array(g->arena, struct packed_param, n->op->n_params);
    memcpy(first->params, n->params, n->op->n_params * sizeof *n->params);
    memcpy(last->params, n->params, n->op->n_params * sizeof *n->params);
}

bool split_axes(struct graph *g, const struct node *n, struct node *first, struct node *last)
{
    const struct tensor *in = node_input(g, n, 0), *result = node_output(g, n, 0);
    const struct shape *shape = &in->type->shape;
    struct type between = *result->type;
    uint32_t left = 0;
    while (left < shape->rank && shape->dims[left] <= 1)
        left++;
    if (!n->op->along || left == shape->rank || between.shape.rank != shape->rank || between.dtype != in->type->dtype ||
        !quant_equal(in->quant, result->quant))
        return false;
    between.shape.dims[left] = shape->dims[left];
    make_two(g, n, &between, first, last);
    return n->op->along(g, first, ~(1u << left)) && n->op->along(g, last, 1u << left);
}

bool split_reduction(struct graph *g, const struct node *n, struct node *first, struct node *last)
{
    const struct type in = *node_input(g, n, 0)->type;
    uint32_t axes, left = 0;
    if (!node_axes(n, in.shape.rank, &axes))
        return false;
    while (left < in.shape.rank && (!(axes >> left & 1) || in.shape.dims[left] <= 1))
        left++;
    axes &= ~(1u << left);
    if (left == in.shape.rank || axes == 0)
        return false;
    const struct type type = {in.dtype, reduced_shape(&in.shape, axes, true)};
    make_two(g, n, &type, first, last);
    set_axes(g, first, axes);
    node_set_int(first, PARAM_keep_dims, 1);
    last->op = op_row(n->op->combine);
    return true;
}

/* ---- computing a part ---- */

struct folding {
    struct graph *g;
    const struct cut *cut;
    struct diags *diags;
    struct buffer *in, *out;
    struct spill_room *rooms; /* of the outputs */
};

static odlc_status unreadable(struct diags *diags, const struct tensor *t)
{
    return diag_error(diags, ODLC_ERR_IO, AT(.file = t->view->file ? t->view->file->path : NULL), "io",
                      "cannot read the data of tensor %s", t->name);
}

/* Of an input that is not cut: all of it. */
static odlc_status load_input(const struct folding *f, uint32_t i, int64_t from, int64_t count)
{
    const struct tensor *t = node_input(f->g, &f->cut->node, i);
    const uint32_t axis = f->cut->in_axes[i];
    struct view part = *t->view;
    struct buffer *b = &f->in[i];
    *b = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
    if (axis != NOT_CUT) {
        if (view_part(f->g->arena, t->view, axis, from, count, &part) != ODLC_OK)
            return unreadable(f->diags, t);
        b->shape.dims[axis] = count;
    }
    b->data = (void *)(uintptr_t)view_load(f->g->arena, &part, b->dtype);
    return ODLC_OK;
}

static odlc_status load_inputs(const struct folding *f, bool cut, int64_t from, int64_t count)
{
    const struct node *n = &f->cut->node;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && (f->cut->in_axes[i] != NOT_CUT) == cut)
            TRY(load_input(f, i, from, count));
    return ODLC_OK;
}

static void make_outputs(const struct folding *f, int64_t count)
{
    const struct node *n = &f->cut->node;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(f->g, n, i);
        if (!t)
            continue;
        struct buffer *b = &f->out[i];
        *b = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        b->shape.dims[f->cut->axis] = count;
        b->data = arena_calloc(f->g->arena, shape_count(&b->shape), dtype_size(b->dtype));
    }
}

/* A part of an output stands in as many runs as there are indices of the axes before the one that is cut. */
static odlc_status put_output(const struct folding *f, uint32_t i, int64_t from)
{
    const struct buffer *b = &f->out[i];
    uint64_t runs = shape_count_range(&b->shape, 0, f->cut->axis);
    uint64_t index = shape_count_range(&b->shape, f->cut->axis + 1, b->shape.rank) * dtype_size(b->dtype);
    uint64_t run = index * (uint64_t)b->shape.dims[f->cut->axis];
    for (uint64_t k = 0; k < runs; k++) {
        uint64_t at = (k * (uint64_t)f->cut->extent + (uint64_t)from) * index;
        TRY(spill_write(&f->rooms[i], at, (const uint8_t *)b->data + k * run, run));
    }
    return ODLC_OK;
}

static odlc_status fold_part(const struct folding *f, int64_t from, int64_t count)
{
    const struct node *n = &f->cut->node;
    TRY(load_inputs(f, true, from, count));
    make_outputs(f, count);
    TRY(eval_node(n, f->in, f->out, f->g->arena, f->diags));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (f->out[i].data)
            TRY(put_output(f, i, from));
    return ODLC_OK;
}

/* ---- whole nodes ---- */

static odlc_status take_room(struct graph *g, const struct tensor *t, struct spill_room *room, struct view *view)
{
    TRY(spill_take(g->spill, shape_count(&t->type->shape) * dtype_size(t->type->dtype), room));
    *view = view_of(room->file->data + room->at, t->type->dtype, &t->type->shape);
    view->file = room->file;
    return ODLC_OK;
}

odlc_status fold_cut(struct graph *g, const struct node *n, const struct cut *cut, struct diags *diags,
                     struct view *views)
{
    struct folding f = {.g = g, .cut = cut, .diags = diags};
    f.in = arena_array(g->arena, struct buffer, n->n_inputs);
    f.out = arena_array(g->arena, struct buffer, n->n_outputs);
    f.rooms = arena_array(g->arena, struct spill_room, n->n_outputs);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            TRY(take_room(g, node_output(g, n, i), &f.rooms[i], &views[i]));
    struct arena_mark before = arena_mark(g->arena);
    TRY(load_inputs(&f, false, 0, 0));
    for (int64_t from = 0; from < cut->extent; from += cut->step) {
        struct arena_mark mark = arena_mark(g->arena);
        TRY(fold_part(&f, from, min_i64(cut->step, cut->extent - from)));
        arena_rewind(g->arena, mark);
    }
    arena_rewind(g->arena, before);
    return ODLC_OK;
}

struct spilling {
    const struct spill_room *room;
    odlc_status written;
};

static odlc_status put(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct spilling *s = user;
    return s->written = spill_write(s->room, offset, bytes, size);
}

odlc_status spill_constant(struct graph *g, const struct tensor *t, struct diags *diags, struct view *out)
{
    struct spill_room room;
    struct spilling s = {.room = &room};
    TRY(take_room(g, t, &room, out));
    if (view_stream(g->arena, t->view, t->type->dtype, put, &s) == ODLC_OK)
        return ODLC_OK;
    return s.written != ODLC_OK ? s.written : unreadable(diags, t);
}
