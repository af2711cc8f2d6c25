/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/moving.h"

#include "op/op.h"

/* ---- lists of which some elements are known ---- */

/* The node that joins lists of numbers to this one; NULL: none does. */
static const struct node *joins(const struct graph *g, tensor_id list)
{
    const struct tensor *t = graph_tensor(g, list);
    const struct node *n = t->producer == NO_NODE ? NULL : graph_node(g, t->producer);
    return n && n->op->id == OP_Concat && t->type->shape.rank == 1 ? n : NULL;
}

/* The part of a joined list in which element *i is; *i becomes its place there. */
static tensor_id part_with(const struct build *b, const struct node *n, int64_t *i)
{
    uint32_t part = 0;
    for (int64_t size; *i >= (size = build_type(b, n->inputs[part])->shape.dims[0]); part++)
        *i -= size;
    return n->inputs[part];
}

/* Element i of a list, where it is known. */
static bool known_element(const struct build *b, tensor_id list, int64_t i, int64_t *out)
{
    uint64_t count;
    for (const struct node *n; (n = joins(b->graph, list));)
        list = part_with(b, n, &i);
    if (!build_is_const(b, list) || build_filler(b, list).sizes)
        return false;
    *out = build_const_as_ints(b, list, &count)[i];
    return true;
}

odlc_status read_partly(const struct lower *l, uint32_t i, const char *what, struct partly *out)
{
    const int64_t *values;
    *out = (struct partly){.input = i, .what = what};
    TRY(lower_need(l, i, what, &out->list));
    const struct type type = *build_type(l->b, out->list);
    if (type.shape.rank != 1 || !dtype_is_int(type.dtype) || shape_count(&type.shape) > UINT16_MAX)
        return lower_invalid(l, what, NULL, "input %u (%s) is no list of integers", i, what);
    out->count = (uint32_t)shape_count(&type.shape);
    out->values = arena_array(l->arena, int64_t, out->count);
    out->known = arena_array(l->arena, bool, out->count);
    if (build_is_const(l->b, out->list))
        TRY(lower_const_ints(l, i, what, &values, &out->count));
    for (uint32_t k = 0; k < out->count; k++)
        out->known[k] = known_element(l->b, out->list, k, &out->values[k]);
    return ODLC_OK;
}

odlc_status lower_partly_unknown(const struct lower *l, const struct partly *p)
{
    const int64_t *values;
    uint32_t count;
    return lower_const_ints(l, p->input, p->what, &values, &count);
}

/* ---- slices ---- */

tensor_id emit_positions(struct emit *s, int64_t count)
{
    double *numbers;
    if (s->status == ODLC_OK)
        s->status = lower_table(s->l, (uint64_t)count, sizeof *numbers, &numbers);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (double)i;
    return emit_constant(s, DT_INT32, &SHAPE(count), numbers);
}

static tensor_id take(struct emit *s, tensor_id x, const struct partly *begin, const struct move *m)
{
    tensor_id first = emit_cast(s, emit_slice(s, begin->list, 0, m->entry, m->entry + 1), DT_INT32);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    int64_t dim = build_type(s->l->b, x)->shape.dims[m->axis];
    if (m->both_ends) {
        tensor_id is_back = emit_binary(s, OP_ElementWiseLess, first, emit_scalar(s, first, 0));
        tensor_id front = emit_binary(s, OP_ElementWiseAdd, first, emit_scalar(s, first, (double)dim));
        first = emit_select(s, is_back, front, first);
    }
    if (m->size > 1)
        first = emit_binary(s, OP_ElementWiseAdd, first, emit_positions(s, m->size));
    return emit_gather(s, x, first, m->axis);
}

tensor_id emit_moving_slices(struct emit *s, tensor_id in, const struct slices *slices, const struct partly *begin,
                             const struct moves *moves, const char *out_name)
{
    if (s->status == ODLC_OK)
        s->status = lower_slices(s->l, in, slices, moves->count ? step_name(s->l, "sliced") : out_name, &in);
    for (uint32_t i = 0; i < moves->count; i++)
        in = take(s, in, begin, &moves->list[i]);
    return in;
}
