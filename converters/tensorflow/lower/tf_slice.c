/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that cut a part out of a tensor, or put it into a larger one: Slice, StridedSlice, Pad; and
 * those that turn it around: Reverse. */
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- Slice ---- */

odlc_status tf_slice(struct lower *l)
{
    tensor_id in;
    struct partly begin;
    const int64_t *size;
    uint32_t n_size;
    TRY(lower_need(l, 0, "input", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    TRY(read_partly(l, 1, "begin", &begin));
    TRY(lower_const_ints(l, 2, "size", &size, &n_size));
    if (begin.count != shape.rank || n_size != shape.rank)
        return lower_invalid(l, "begin", NULL, "%u begins and %u sizes for a tensor of rank %u", begin.count, n_size,
                             shape.rank);
    struct slices s = slices_whole(&shape);
    struct moves moves = {.count = 0};
    for (uint32_t i = 0; i < shape.rank; i++) {
        bool known = begin.known[i];
        int64_t dim = shape.dims[i], first = begin.values[i], count = size[i] == -1 && known ? dim - first : size[i];
        if (!known && size[i] == -1)
            return lower_partly_unknown(l, &begin);
        if (first < 0 || first > dim || count < 0 || count > dim - first)
            return lower_invalid(l, "begin", NULL, "%lld elements from %lld on are outside axis %u of %s",
                                 (long long)size[i], (long long)first, i, shape_text(l->diags->arena, &shape));
        if (known || count == 0 || count == dim)
            slices_set(&s, i, first, first + count, 1, dim);
        else
            moves.list[moves.count++] = (struct move){.axis = i, .entry = i, .size = count};
    }
    struct emit steps = {.l = l};
    return emit_give(&steps, 0, emit_moving_slices(&steps, in, &s, &begin, &moves, lower_out_name(l, 0)));
}

/* ---- StridedSlice ---- */

/* The specification as the node gives it: a row of begin, end and stride for each entry, and what the masks say. */
struct spec {
    struct partly begin, end;
    const int64_t *strides;
    uint32_t count;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
};

/* What it means for a tensor: slices, and which axes the result has. */
struct strided {
    const struct shape *shape;
    struct slices slices;
    struct moves moves; /* axes of which one element is taken whose place is computed */
    uint32_t axis;      /* the next of the tensor */
    uint32_t rank;      /* of the result */
    bool is_new[2 * MAX_RANK];
    uint32_t from[2 * MAX_RANK]; /* axis of the tensor, where the result's is not new */
};

static bool in_mask(int64_t mask, uint32_t i)
{
    return mask >> i & 1;
}

static odlc_status read_spec(const struct lower *l, struct spec *s)
{
    uint32_t n_strides;
    TRY(read_partly(l, 1, "begin", &s->begin));
    TRY(read_partly(l, 2, "end", &s->end));
    TRY(lower_const_ints(l, 3, "strides", &s->strides, &n_strides));
    s->count = s->begin.count;
    TRY(lower_attr_int(l, "begin_mask", 0, &s->begin_mask));
    TRY(lower_attr_int(l, "end_mask", 0, &s->end_mask));
    TRY(lower_attr_int(l, "ellipsis_mask", 0, &s->ellipsis_mask));
    TRY(lower_attr_int(l, "new_axis_mask", 0, &s->new_axis_mask));
    TRY(lower_attr_int(l, "shrink_axis_mask", 0, &s->shrink_mask));
    if (s->count != s->end.count || s->count != n_strides)
        return lower_invalid(l, "begin", NULL, "begin, end and strides differ in length");
    if (s->count > 2 * MAX_RANK)
        return lower_unsupported(l, "begin", NULL, "a slice of %u entries", s->count);
    return ODLC_OK;
}

static odlc_status add_axis(const struct lower *l, struct strided *t, bool is_new, bool in_result)
{
    if (!is_new && t->axis == t->shape->rank)
        return lower_invalid(l, "begin", NULL, "the slice has more entries than %s has axes",
                             shape_text(l->diags->arena, t->shape));
    if (in_result && t->rank == COUNT_OF(t->from))
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    if (in_result) {
        t->is_new[t->rank] = is_new;
        t->from[t->rank++] = t->axis;
    }
    t->axis += !is_new;
    return ODLC_OK;
}

/* Where a range begins or ends: negative numbers count from the back, then all are brought to the places of the axis or
 * the one beyond them in the range's direction. */
static int64_t place(int64_t value, int64_t dim, bool down)
{
    int64_t low = down ? -1 : 0, high = down ? dim - 1 : dim;
    return max_i64(low, min_i64(value < 0 ? value + dim : value, high));
}

/* One element, without its axis. */
static odlc_status take_element(const struct lower *l, const struct spec *s, uint32_t i, struct strided *t)
{
    uint32_t axis = t->axis - 1;
    int64_t dim = t->shape->dims[axis], at = s->begin.values[i];
    if (!s->begin.known[i]) {
        t->moves.list[t->moves.count++] = (struct move){.axis = axis, .entry = i, .size = 1, .both_ends = true};
        return ODLC_OK;
    }
    if (at < -dim || at >= dim)
        return lower_invalid(l, "begin", NULL, "index %lld is outside axis %u of %s", (long long)at, axis,
                             shape_text(l->diags->arena, t->shape));
    at = at < 0 ? at + dim : at;
    slices_set(&t->slices, axis, at, at + 1, 1, dim);
    return ODLC_OK;
}

static odlc_status take_range(const struct lower *l, const struct spec *s, uint32_t i, struct strided *t)
{
    bool shrinks = in_mask(s->shrink_mask, i), down = s->strides[i] < 0;
    bool from_start = in_mask(s->begin_mask, i), to_end = in_mask(s->end_mask, i);
    TRY(add_axis(l, t, false, !shrinks));
    uint32_t axis = t->axis - 1;
    int64_t dim = t->shape->dims[axis];
    if (s->strides[i] == 0 || (shrinks && down))
        return lower_invalid(l, "strides", NULL, "the stride of entry %u is %lld", i, (long long)s->strides[i]);
    if (shrinks)
        return take_element(l, s, i, t);
    if (!from_start && !s->begin.known[i])
        return lower_partly_unknown(l, &s->begin);
    if (!to_end && !s->end.known[i])
        return lower_partly_unknown(l, &s->end);
    int64_t begin = from_start ? (down ? dim - 1 : 0) : place(s->begin.values[i], dim, down);
    int64_t end = to_end ? (down ? -1 : dim) : place(s->end.values[i], dim, down);
    slices_set(&t->slices, axis, begin, end, s->strides[i], dim);
    return ODLC_OK;
}

/* The ellipsis stands for as many axes as the entries behind it leave; without one the last axes are whole. */
static odlc_status apply_spec(const struct lower *l, const struct spec *s, struct strided *t)
{
    bool seen = false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (in_mask(s->ellipsis_mask, i)) {
            uint32_t behind = 0;
            for (uint32_t k = i + 1; k < s->count; k++)
                behind += !in_mask(s->new_axis_mask, k);
            if (seen)
                return lower_invalid(l, "ellipsis_mask", NULL, "there is more than one ellipsis");
            seen = true;
            while (t->axis + behind < t->shape->rank)
                TRY(add_axis(l, t, false, true));
        } else if (in_mask(s->new_axis_mask, i)) {
            TRY(add_axis(l, t, true, true));
        } else {
            TRY(take_range(l, s, i, t));
        }
    }
    while (t->axis < t->shape->rank)
        TRY(add_axis(l, t, false, true));
    return ODLC_OK;
}

odlc_status tf_strided_slice(struct lower *l)
{
    tensor_id in;
    struct spec spec;
    TRY(lower_need(l, 0, "input", &in));
    TRY(read_spec(l, &spec));
    const struct shape shape = build_type(l->b, in)->shape;
    struct strided t = {.shape = &shape, .slices = slices_whole(&shape)};
    TRY(apply_spec(l, &spec, &t));
    if (t.rank > MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    bool reshaped = t.rank != shape.rank;
    for (uint32_t i = 0; i < t.rank; i++)
        reshaped |= t.is_new[i];
    const char *name = lower_out_name(l, 0);
    struct emit steps = {.l = l};
    l->out[0] = emit_moving_slices(&steps, in, &t.slices, &spec.begin, &t.moves, reshaped ? step_name(l, "cut") : name);
    TRY(steps.status);
    const struct shape sliced = build_type(l->b, l->out[0])->shape;
    struct shape result = {.rank = t.rank};
    for (uint32_t i = 0; i < t.rank; i++)
        result.dims[i] = t.is_new[i] ? 1 : sliced.dims[t.from[i]];
    return build_reshape(l->b, l->out[0], &result, name, &l->out[0]);
}

/* ---- Pad, PadV2, MirrorPad ---- */

static odlc_status read_paddings(const struct lower *l, uint32_t rank, struct pads *p)
{
    const int64_t *paddings;
    uint32_t count;
    TRY(lower_const_ints(l, 1, "paddings", &paddings, &count));
    if (count != 2 * rank)
        return lower_invalid(l, "paddings", NULL, "%u paddings for a tensor of rank %u", count, rank);
    for (uint32_t i = 0; i < rank; i++) {
        p->before[i] = paddings[2 * i];
        p->after[i] = paddings[2 * i + 1];
        if (p->before[i] < 0 || p->after[i] < 0)
            return lower_invalid(l, "paddings", NULL, "axis %u has a negative padding", i);
    }
    return ODLC_OK;
}

/* A number that is computed, where a padded mask says that the input is not. */
static odlc_status pad_with(struct lower *l, tensor_id in, struct pads *p, tensor_id value)
{
    struct emit s = {.l = l};
    struct pads ring = *p;
    tensor_id inside = lower_splat(l, step_name(l, "inside"), DT_INT32, &build_type(l->b, in)->shape, 1);
    TRY(lower_pad_value(l, l->n_in, "constant_values", build_type(l->b, in)->dtype, p));
    TRY(lower_pad_value(l, l->n_in, "constant_values", DT_INT32, &ring));
    TRY(lower_padded(l, in, p, step_name(l, "padded"), &in));
    TRY(lower_padded(l, inside, &ring, step_name(l, "mask"), &inside));
    return emit_give(&s, 0, emit_select(&s, emit_cast(&s, inside, DT_BOOL), in, value));
}

odlc_status tf_pad(struct lower *l)
{
    tensor_id in;
    struct pads p = {.mode = MODE_CONSTANT};
    TRY(lower_need(l, 0, "input", &in));
    TRY(read_paddings(l, build_rank(l->b, in), &p));
    const tensor_id value = lower_in(l, 2);
    if (value != NO_TENSOR && !build_is_const(l->b, value) && build_rank(l->b, value) == 0)
        return pad_with(l, in, &p, value);
    TRY(lower_pad_value(l, 2, "constant_values", build_type(l->b, in)->dtype, &p));
    return lower_padded(l, in, &p, lower_out_name(l, 0), &l->out[0]);
}

odlc_status tf_mirror_pad(struct lower *l)
{
    static const struct choice modes[] = {{"REFLECT", MODE_REFLECT}, {"SYMMETRIC", MODE_SYMMETRIC}};
    tensor_id in;
    struct pads p;
    int mode;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_choose(l, "mode", "", modes, COUNT_OF(modes), &mode));
    p.mode = (enum pad_mode)mode;
    const struct shape *shape = &build_type(l->b, in)->shape;
    TRY(read_paddings(l, shape->rank, &p));
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t most = max_i64(p.before[i], p.after[i]), reach = shape->dims[i] - (p.mode == MODE_REFLECT);
        if (most && most > reach)
            return lower_invalid(l, "paddings", NULL, "axis %u of %s is mirrored beyond its %lld elements", i,
                                 shape_text(l->diags->arena, shape), (long long)shape->dims[i]);
    }
    return lower_padded(l, in, &p, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Reverse ---- */

static odlc_status reverse_axes(struct lower *l, tensor_id in, uint32_t mask)
{
    const struct shape shape = build_type(l->b, in)->shape;
    struct slices s = slices_whole(&shape);
    for (uint32_t i = 0; i < shape.rank; i++)
        if (mask >> i & 1 && shape.dims[i] > 1)
            slices_set(&s, i, shape.dims[i] - 1, -1, -1, shape.dims[i]);
    return lower_slices(l, in, &s, lower_out_name(l, 0), &l->out[0]);
}

/* Which axes is a list of booleans. */
odlc_status tf_reverse(struct lower *l)
{
    tensor_id in;
    const int64_t *dims;
    uint32_t count, mask = 0;
    TRY(lower_need(l, 0, "tensor", &in));
    TRY(lower_const_ints(l, 1, "dims", &dims, &count));
    if (count != build_rank(l->b, in))
        return lower_invalid(l, "dims", NULL, "%u values for a tensor of rank %u", count, build_rank(l->b, in));
    for (uint32_t i = 0; i < count; i++)
        mask |= (uint32_t)(dims[i] != 0) << i;
    return reverse_axes(l, in, mask);
}

odlc_status tf_reverse_v2(struct lower *l)
{
    tensor_id in;
    const int64_t *list;
    uint32_t count, axes[MAX_RANK], mask = 0;
    TRY(lower_need(l, 0, "tensor", &in));
    TRY(lower_const_ints(l, 1, "axis", &list, &count));
    TRY(lower_axes(l, "axis", list, count, build_rank(l->b, in), axes));
    for (uint32_t i = 0; i < count; i++)
        mask |= 1u << axes[i];
    return reverse_axes(l, in, mask);
}
