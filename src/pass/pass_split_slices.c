/* SPDX-License-Identifier: Apache-2.0 */
/* With --split_slices, StridedSlices that cut a tensor along one axis into parts, without a gap and without a step, are
 * one Split. */
#include <stdlib.h>

#include "op/op.h"
#include "op/params.h"
#include "op/ranges.h"
#include "pass/pass.h"

pass_fn pass_split_slices;

struct slice {
    tensor_id x;
    uint32_t axis;
    int64_t begin, end;
    size_t at; /* in the order */
};

static int by_place(const void *a, const void *b)
{
    const struct slice *s = a, *t = b;
    if (s->x != t->x)
        return s->x < t->x ? -1 : 1;
    if (s->axis != t->axis)
        return s->axis < t->axis ? -1 : 1;
    return (s->begin > t->begin) - (s->begin < t->begin);
}

/* Whether the node takes neighbouring elements of one axis, and all of the others. */
static bool read_slice(const struct graph *g, const struct node *n, struct slice *s)
{
    struct range ranges[2 * MAX_RANK];
    uint32_t count, cut = 0;
    if (!node_is(n, OP_StridedSlice))
        return false;
    const struct tensor *x = node_input(g, n, 0);
    const struct shape *shape = &x->type->shape;
    if (x->kind == TENSOR_STATIC || !ranges_read(n, shape, ranges, &count) || count != shape->rank)
        return false;
    s->x = n->inputs[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (r->shrink || r->added || r->count == 0 || (r->count > 1 && r->stride != 1))
            return false;
        if (r->count == shape->dims[i])
            continue;
        s->axis = i;
        s->begin = r->begin;
        s->end = r->begin + r->count;
        cut++;
    }
    return cut == 1;
}

/* The number of slices, from the first of `left` on, that together are a tensor; 0: they are not. */
static size_t whole(const struct graph *g, const struct slice *slices, size_t left)
{
    const int64_t extent = graph_tensor(g, slices->x)->type->shape.dims[slices->axis];
    int64_t end = 0;
    for (size_t i = 0; i < left && slices[i].x == slices->x && slices[i].axis == slices->axis; i++) {
        if (slices[i].begin != end)
            return 0;
        end = slices[i].end;
        if (end == extent)
            return i + 1;
    }
    return 0;
}

/* Puts a Split in the place of the first of the slices that is executed. */
static void split(struct pass_context *c, struct graph *g, const struct slice *slices, size_t count)
{
    tensor_id *outputs = arena_array(c->scratch, tensor_id, count);
    int64_t *cuts = arena_array(c->scratch, int64_t, count);
    size_t first = slices[0].at;
    for (size_t i = 0; i < count; i++) {
        first = slices[i].at < first ? slices[i].at : first;
        cuts[i] = slices[i].end;
    }
    const struct node model = *graph_node(g, g->order.data[first]);
    for (size_t i = 0; i < count; i++) {
        outputs[i] = graph_node(g, g->order.data[slices[i].at])->outputs[0];
        graph_remove_node(g, g->order.data[slices[i].at]);
    }
    const struct op *row = op_row(OP_Split);
    const struct shape rank1 = SHAPE((int64_t)count - 1);
    const node_id id = graph_add_node(g, row, row->n_params, model.name, &slices->x, 1, outputs, (uint32_t)count);
    graph_node(g, id)->source = model.source;
    node_set_int(graph_node(g, id), PARAM_axis, slices->axis);
    node_set_ints(g, graph_node(g, id), PARAM_split_index, &rank1, cuts);
    g->order.data[first] = id;
}

odlc_status pass_split_slices(struct pass_context *c, struct graph *g)
{
    VEC(struct slice) slices = {0};
    if (!c->options->split_slices)
        return ODLC_OK;
    for (size_t i = 0; i < g->order.count; i++) {
        struct slice s = {.at = i};
        if (read_slice(g, graph_node(g, g->order.data[i]), &s))
            vec_push(c->scratch, &slices, s);
    }
    if (slices.count < 2)
        return ODLC_OK;
    qsort(slices.data, slices.count, sizeof *slices.data, by_place);
    for (size_t i = 0; i < slices.count;) {
        const size_t count = whole(g, &slices.data[i], slices.count - i);
        if (count)
            split(c, g, &slices.data[i], count);
        i += count ? count : 1;
    }
    graph_compact(g);
    return ODLC_OK;
}
