/* TensorFlow operators that cut a part out of a tensor, or put it into a larger one: Slice, StridedSlice, Pad; and
 * those that turn it around: Reverse, Roll. */
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- Slice ---- */

odlc_status tf_slice(struct lower *l)
{
    tensor_id in;
    const int64_t *begin, *size;
    uint32_t n_begin, n_size;
    TRY(lower_need(l, 0, "input", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    TRY(lower_const_ints(l, 1, "begin", &begin, &n_begin));
    TRY(lower_const_ints(l, 2, "size", &size, &n_size));
    if (n_begin != shape.rank || n_size != shape.rank)
        return lower_invalid(l, "begin", NULL, "%u begins and %u sizes for a tensor of rank %u", n_begin, n_size,
                             shape.rank);
    struct slices s = slices_whole(&shape);
    for (uint32_t i = 0; i < shape.rank; i++) {
        int64_t dim = shape.dims[i], count = size[i] == -1 ? dim - begin[i] : size[i];
        if (begin[i] < 0 || begin[i] > dim || count < 0 || count > dim - begin[i])
            return lower_invalid(l, "begin", NULL, "%lld elements from %lld on are outside axis %u of %s",
                                 (long long)size[i], (long long)begin[i], i, shape_text(l->diags->arena, &shape));
        slices_set(&s, i, begin[i], begin[i] + count, 1, dim);
    }
    return lower_slices(l, in, &s, lower_out_name(l, 0), &l->out[0]);
}

/* ---- StridedSlice ---- */

/* The specification as the node gives it: a row of begin, end and stride for each entry, and what the masks say. */
struct spec {
    const int64_t *begin, *end, *strides;
    uint32_t count;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
};

/* What it means for a tensor: slices, and which axes the result has. */
struct strided {
    const struct shape *shape;
    struct slices slices;
    uint32_t axis; /* the next of the tensor */
    uint32_t rank; /* of the result */
    bool is_new[2 * MAX_RANK];
    uint32_t from[2 * MAX_RANK]; /* axis of the tensor, where the result's is not new */
};

static bool in_mask(int64_t mask, uint32_t i)
{
    return mask >> i & 1;
}

static odlc_status read_spec(const struct lower *l, struct spec *s)
{
    uint32_t n_end, n_strides;
    TRY(lower_const_ints(l, 1, "begin", &s->begin, &s->count));
    TRY(lower_const_ints(l, 2, "end", &s->end, &n_end));
    TRY(lower_const_ints(l, 3, "strides", &s->strides, &n_strides));
    TRY(lower_attr_int(l, "begin_mask", 0, &s->begin_mask));
    TRY(lower_attr_int(l, "end_mask", 0, &s->end_mask));
    TRY(lower_attr_int(l, "ellipsis_mask", 0, &s->ellipsis_mask));
    TRY(lower_attr_int(l, "new_axis_mask", 0, &s->new_axis_mask));
    TRY(lower_attr_int(l, "shrink_axis_mask", 0, &s->shrink_mask));
    if (s->count != n_end || s->count != n_strides)
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

static odlc_status take_range(const struct lower *l, const struct spec *s, uint32_t i, struct strided *t)
{
    bool shrinks = in_mask(s->shrink_mask, i), down = s->strides[i] < 0;
    TRY(add_axis(l, t, false, !shrinks));
    uint32_t axis = t->axis - 1;
    int64_t dim = t->shape->dims[axis], begin = s->begin[i];
    if (s->strides[i] == 0 || (shrinks && down))
        return lower_invalid(l, "strides", NULL, "the stride of entry %u is %lld", i, (long long)s->strides[i]);
    if (shrinks) {
        if (begin < -dim || begin >= dim)
            return lower_invalid(l, "begin", NULL, "index %lld is outside axis %u of %s", (long long)begin, axis,
                                 shape_text(l->diags->arena, t->shape));
        begin = begin < 0 ? begin + dim : begin;
        slices_set(&t->slices, axis, begin, begin + 1, 1, dim);
        return ODLC_OK;
    }
    begin = in_mask(s->begin_mask, i) ? (down ? dim - 1 : 0) : place(begin, dim, down);
    int64_t end = in_mask(s->end_mask, i) ? (down ? -1 : dim) : place(s->end[i], dim, down);
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
    TRY(lower_slices(l, in, &t.slices, reshaped ? step_name(l, "sliced") : name, &l->out[0]));
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

odlc_status tf_pad(struct lower *l)
{
    tensor_id in;
    struct pads p = {.mode = MODE_CONSTANT};
    TRY(lower_need(l, 0, "input", &in));
    TRY(read_paddings(l, build_rank(l->b, in), &p));
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

/* ---- Reverse, Roll ---- */

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

/* The elements of an axis `shift` places on; those that leave it come in at the other end. */
static odlc_status roll_axis(const struct lower *l, tensor_id *in, uint32_t axis, int64_t shift, const char *name)
{
    int64_t dim = build_type(l->b, *in)->shape.dims[axis], *positions;
    TRY(lower_table(l, (uint64_t)dim, sizeof *positions, &positions));
    for (int64_t i = 0; i < dim; i++)
        positions[(i + shift) % dim] = i;
    return lower_gather_positions(l, *in, axis, positions, dim, name, in);
}

odlc_status tf_roll(struct lower *l)
{
    tensor_id in;
    const int64_t *shifts, *list;
    uint32_t n_shifts, count, axis, last = MAX_RANK;
    int64_t by[MAX_RANK] = {0};
    TRY(lower_need(l, 0, "input", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    TRY(lower_const_ints(l, 1, "shift", &shifts, &n_shifts));
    TRY(lower_const_ints(l, 2, "axis", &list, &count));
    if (n_shifts != count)
        return lower_invalid(l, "shift", NULL, "%u shifts for %u axes", n_shifts, count);
    for (uint32_t i = 0; i < count; i++) { /* an axis may come more than once */
        TRY(lower_axis(l, "axis", list[i], shape.rank, &axis));
        int64_t dim = max_i64(shape.dims[axis], 1);
        by[axis] = (by[axis] + shifts[i] % dim + dim) % dim;
    }
    for (uint32_t i = 0; i < shape.rank; i++)
        last = by[i] ? i : last;
    for (uint32_t i = 0; i < shape.rank; i++)
        if (by[i])
            TRY(roll_axis(l, &in, i, by[i], i == last ? lower_out_name(l, 0) : step_name(l, "rolled")));
    l->out[0] = in;
    return ODLC_OK;
}
