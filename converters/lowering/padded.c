/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/padded.h"

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"

bool lower_pads(const struct lower *l, uint32_t i)
{
    return l->pads && lower_in(l, i) != NO_TENSOR && !build_is_const(l->b, l->in[i]);
}

odlc_status lower_need_values(const struct lower *l, uint32_t i, const char *what)
{
    return lower_need_const(l, i, what,
                            "the shapes of the results depend on its values; --pad_dynamic makes room for all");
}

/* ---- counts ---- */

odlc_status lower_count_output(struct lower *l, tensor_id flags, tensor_id *count)
{
    struct emit s = {.l = l};
    int64_t axes[MAX_RANK];
    uint32_t rank = build_rank(l->b, flags);
    const char *name = lower_out_name(l, 0);
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    tensor_id sum = emit_reshape(&s, emit_reduce(&s, OP_ReduceSum, flags, axes, rank, false), &SHAPE(1));
    TRY(s.status);
    name = arena_printf(l->arena, "%s_count", name ? name : step_name(l, "rows"));
    TRY(build_cast(l->b, sum, DT_UINT32, name, count));
    build_keep(l->b, *count);
    return ODLC_OK;
}

/* Output 0 has room. */
static void note_padded(const struct lower *l, tensor_id result, tensor_id count)
{
    const char *shape = shape_text(l->diags->arena, &build_type(l->b, result)->shape);
    diag_note(l->diags,
              AT(.file = l->path, .node = fw_node_label(l->node), .hint = "that number is a graph output of its own"),
              "worst-case-shape", "%s: worst-case shape %s; %s says how many rows are valid", l->node->op->type, shape,
              graph_tensor(l->b->graph, count)->name);
}

/* 0, 1, … as a vector. */
static tensor_id emit_numbers(struct emit *s, int64_t count)
{
    struct shape shape = SHAPE(count);
    int64_t *numbers = NULL;
    if (s->status == ODLC_OK)
        s->status = lower_table(s->l, (uint64_t)count, sizeof *numbers, &numbers);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = i;
    return build_const_ints(s->l->b, step_name(s->l, "numbers"), DT_INT32, &shape, numbers);
}

/* ---- different slices ---- */

/* More comparisons are not for a device. */
#define MOST_PAIRS (1u << 26)

/* Int_32 each. */
struct padded_unique {
    tensor_id places;  /* where each different slice stands first; as many as there are slices */
    tensor_id counts;  /* how often each occurs; as many */
    tensor_id inverse; /* for each slice, the number of its equal in `places` */
    tensor_id count;   /* of different slices: see lower_count_output */
};

/* At work: all pairs of slices are compared. */
struct pairs {
    struct emit s;
    int64_t count, size; /* slices, elements of each */
    tensor_id numbers;   /* [count] */
    tensor_id column;    /* [count, 1] */
};

static tensor_id as_column(struct pairs *p, tensor_id x)
{
    return emit_reshape(&p->s, x, &SHAPE(p->count, 1));
}

/* Along the second axis of [count, count] flags: the first that is set, the last position where none is. */
static tensor_id first_set(struct pairs *p, tensor_id flags)
{
    struct shape shape = SHAPE(p->count, p->count);
    tensor_id numbers = emit_broadcast(&p->s, p->numbers, &shape);
    tensor_id last = emit_scalar(&p->s, p->numbers, (double)(p->count - 1));
    return emit_reduce(&p->s, OP_ReduceMin, emit_select(&p->s, flags, numbers, last), (int64_t[]){1}, 1, false);
}

/* Along the second axis of [count, count] flags: how many are set. */
static tensor_id set_in_row(struct pairs *p, tensor_id flags)
{
    return emit_reduce(&p->s, OP_ReduceSum, emit_cast(&p->s, flags, DT_INT32), (int64_t[]){1}, 1, false);
}

/* The slices as [count, 1, size] and [1, count, size]. */
static void two_sides(struct pairs *p, tensor_id data, uint32_t axis, tensor_id side[2])
{
    uint32_t rank = build_rank(p->s.l->b, data);
    struct perm to_front = {.rank = rank, .axis = {(uint8_t)axis}};
    for (uint32_t i = 0, k = 1; i < rank; i++)
        if (i != axis)
            to_front.axis[k++] = (uint8_t)i;
    if (build_type(p->s.l->b, data)->dtype == DT_BOOL)
        data = emit_cast(&p->s, data, DT_INT32);
    tensor_id rows = emit_transpose(&p->s, data, &to_front);
    side[0] = emit_reshape(&p->s, rows, &SHAPE(p->count, 1, p->size));
    side[1] = emit_reshape(&p->s, rows, &SHAPE(1, p->count, p->size));
}

/* The differences in front of each element along the last axis of [count, count, size]. */
static tensor_id differences_before(struct emit *s, tensor_id differs)
{
    const char *name = step_name(s->l, "before");
    tensor_id before = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(s->l->b, OP_CumulativeSum, name);
    build_in(s->l->b, differs);
    build_int(s->l->b, PARAM_axis, 2);
    build_int(s->l->b, PARAM_exclusive, 1);
    build_int(s->l->b, PARAM_reverse, 0);
    s->status = build_end(s->l->b, name, &before);
    return before;
}

/* [count, count]: whether slices are equal; whether the second one comes before the first one, in order of values. */
static tensor_id pairs_equal(struct pairs *p, const tensor_id side[2], bool sorted, tensor_id *before)
{
    struct emit *s = &p->s;
    struct shape square = SHAPE(p->count, p->count);
    *before = NO_TENSOR;
    if (p->size == 1) {
        if (sorted)
            *before = emit_reshape(s, emit_binary(s, OP_ElementWiseLess, side[1], side[0]), &square);
        return emit_reshape(s, emit_binary(s, OP_ElementWiseEqual, side[0], side[1]), &square);
    }
    tensor_id differs = emit_cast(s, emit_binary(s, OP_ElementWiseNotEqual, side[0], side[1]), DT_INT32);
    tensor_id any = emit_reduce(s, OP_ReduceMax, differs, (int64_t[]){2}, 1, false);
    tensor_id zero = emit_scalar(s, p->numbers, 0);
    if (sorted) {
        tensor_id less = emit_binary(s, OP_ElementWiseLess, side[1], side[0]);
        tensor_id first = emit_binary(s, OP_ElementWiseEqual, differences_before(s, differs), zero);
        tensor_id decides = emit_cast(s, emit_binary(s, OP_ElementWiseAnd, less, first), DT_INT32);
        tensor_id is_less = emit_reduce(s, OP_ReduceMax, decides, (int64_t[]){2}, 1, false);
        *before = emit_binary(s, OP_ElementWiseNotEqual, is_less, zero);
    }
    return emit_binary(s, OP_ElementWiseEqual, any, zero);
}

/* The numbers min(k, count - 1), where only `count` of them are valid. */
static tensor_id valid_numbers(struct pairs *p, tensor_id count)
{
    struct emit *s = &p->s;
    tensor_id last =
        emit_binary(s, OP_ElementWiseSubtract, emit_cast(s, count, DT_INT32), emit_scalar(s, p->numbers, 1));
    return emit_binary(s, OP_ElementWiseMinimum, p->numbers, last);
}

/* A slice is new where it is the first of its equals, and has the number of new ones before it, in either order. */
static odlc_status number_slices(struct pairs *p, tensor_id equal, tensor_id before, struct padded_unique *out)
{
    struct emit *s = &p->s;
    tensor_id first = first_set(p, equal);
    tensor_id is_new = emit_binary(s, OP_ElementWiseEqual, first, p->numbers);
    if (before == NO_TENSOR)
        before = emit_binary(s, OP_ElementWiseLess, p->numbers, as_column(p, first));
    tensor_id new_row = emit_reshape(s, is_new, &SHAPE(1, p->count));
    tensor_id flags = emit_cast(s, is_new, DT_INT32);
    out->inverse = set_in_row(p, emit_binary(s, OP_ElementWiseAnd, before, new_row));
    TRY(s->status);
    TRY(lower_count_output(s->l, flags, &out->count));
    tensor_id wanted = as_column(p, valid_numbers(p, out->count));
    tensor_id hits = emit_binary(s, OP_ElementWiseEqual, wanted, out->inverse);
    out->places = first_set(p, hits);
    out->counts = set_in_row(p, hits);
    TRY(s->status);
    build_set_filler(s->l->b, out->places, (struct filler){.axes = 1});
    build_set_filler(s->l->b, out->counts, (struct filler){.axes = 1});
    return ODLC_OK;
}

static odlc_status find_unique(struct lower *l, tensor_id data, uint32_t axis, bool sorted, struct padded_unique *out)
{
    const struct type type = *build_type(l->b, data);
    const uint64_t all = shape_count(&type.shape);
    struct pairs p = {.s = {.l = l}, .count = type.shape.dims[axis]};
    tensor_id side[2], before;
    if (type.dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "the input holds strings");
    if (all == 0)
        return lower_unsupported(l, NULL, NULL, "the input has no elements");
    if (all > MOST_PAIRS / (uint64_t)p.count)
        return lower_limit(l, NULL, "fewer elements, or a user-defined op in its place",
                           "%lld slices of %s, each compared with each, are more than %u pairs of elements",
                           (long long)p.count, shape_text(l->diags->arena, &type.shape), MOST_PAIRS);
    p.size = (int64_t)all / p.count;
    p.numbers = emit_numbers(&p.s, p.count);
    two_sides(&p, data, axis, side);
    tensor_id equal = pairs_equal(&p, side, sorted, &before);
    TRY(p.s.status);
    return number_slices(&p, equal, before, out);
}

odlc_status lower_padded_outputs(struct lower *l, tensor_id data, uint32_t axis, const struct unique_outputs *outputs)
{
    struct padded_unique u;
    struct emit s = {.l = l};
    TRY(find_unique(l, data, axis, outputs->sorted, &u));
    tensor_id slices = emit_gather(&s, data, u.places, axis);
    TRY(emit_give(&s, 0, slices));
    if (outputs->places && outputs->places < l->n_out)
        TRY(emit_give(&s, outputs->places, emit_cast(&s, u.places, outputs->type)));
    if (outputs->inverse < l->n_out)
        TRY(emit_give(&s, outputs->inverse, emit_cast(&s, u.inverse, outputs->type)));
    if (outputs->counts < l->n_out)
        TRY(emit_give(&s, outputs->counts, emit_cast(&s, u.counts, outputs->type)));
    note_padded(l, slices, u.count);
    return ODLC_OK;
}

/* ---- slices that are kept ---- */

odlc_status lower_padded_kept(struct lower *l, tensor_id data, uint32_t axis, uint32_t i)
{
    struct emit s = {.l = l};
    tensor_id list = lower_in(l, i), rows, count;
    const struct shape shape = build_type(l->b, list)->shape;
    if (shape.rank != 1 || shape.dims[0] > build_type(l->b, data)->shape.dims[axis])
        return lower_invalid(l, NULL, NULL, "flags %s do not fit axis %u of %s", shape_text(l->diags->arena, &shape),
                             axis, shape_text(l->diags->arena, &build_type(l->b, data)->shape));
    if (shape.dims[0] == 0)
        return lower_unsupported(l, NULL, NULL, "the list of flags is empty");
    TRY(lower_count_output(l, emit_cast(&s, list, DT_INT32), &count));
    build_op(l->b, OP_NonZero, step_name(l, "rows"));
    build_in(l->b, list);
    TRY(build_end(l->b, step_name(l, "rows"), &rows));
    tensor_id found = emit_binary(&s, OP_ElementWiseMaximum, rows, emit_scalar(&s, rows, 0));
    tensor_id places = emit_reshape(&s, found, &shape);
    tensor_id kept = emit_gather(&s, data, places, axis);
    TRY(emit_give(&s, 0, kept));
    note_padded(l, kept, count);
    return ODLC_OK;
}
