/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's Roll: elements move along axes, and those that leave an axis come in at its other end. */
#include "converters/lowering/constants.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* By how many places the elements of an axis move: a number in [0, dim), or a tensor of one. */
struct roll {
    int64_t known;
    tensor_id computed; /* NO_TENSOR: none */
};

/* Entry i of the shifts, also where these are one number, modulo dim: modulo is the sign of dim's. */
static tensor_id shift_within(struct emit *s, uint32_t i, int64_t dim)
{
    struct lower *l = s->l;
    const uint64_t count = shape_count(&build_type(l->b, l->in[1])->shape);
    tensor_id list = emit_reshape(s, emit_cast(s, l->in[1], DT_INT32), &SHAPE((int64_t)count));
    tensor_id shift = emit_slice(s, list, 0, i, i + 1);
    return emit_binary(s, OP_ElementWiseMod, shift, emit_scalar(s, shift, (double)dim));
}

/* The shifts of all entries, of which an axis may have several. */
static odlc_status read_shifts(struct emit *s, const struct shape *shape, struct roll *by)
{
    struct lower *l = s->l;
    const int64_t *shifts = NULL, *axes;
    uint32_t n_shifts, count, axis;
    tensor_id shift;
    TRY(lower_need(l, 1, "shift", &shift));
    TRY(lower_const_ints(l, 2, "axis", &axes, &count));
    n_shifts = (uint32_t)shape_count(&build_type(l->b, shift)->shape);
    if (build_is_const(l->b, shift))
        TRY(lower_const_ints(l, 1, "shift", &shifts, &n_shifts));
    if (n_shifts != count)
        return lower_invalid(l, "shift", NULL, "%u shifts for %u axes", n_shifts, count);
    for (uint32_t i = 0; i < count; i++) {
        TRY(lower_axis(l, "axis", axes[i], shape->rank, &axis));
        int64_t dim = max_i64(shape->dims[axis], 1);
        struct roll *roll = &by[axis];
        if (shifts)
            roll->known = (roll->known + shifts[i] % dim + dim) % dim;
        else if (dim > 1) {
            tensor_id next = shift_within(s, i, dim);
            roll->computed =
                roll->computed == NO_TENSOR ? next : emit_binary(s, OP_ElementWiseAdd, roll->computed, next);
        }
    }
    return s->status;
}

static tensor_id roll_axis(struct emit *s, tensor_id x, uint32_t axis, const struct roll *by)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    int64_t dim = build_type(s->l->b, x)->shape.dims[axis];
    tensor_id from = emit_positions(s, dim);
    tensor_id shift = by->computed == NO_TENSOR ? emit_scalar(s, from, (double)by->known) : by->computed;
    from = emit_binary(s, OP_ElementWiseSubtract, from, shift);
    return emit_gather(s, x, emit_binary(s, OP_ElementWiseMod, from, emit_scalar(s, from, (double)dim)), axis);
}

odlc_status tf_roll(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id in;
    struct roll by[MAX_RANK];
    TRY(lower_need(l, 0, "input", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    for (uint32_t i = 0; i < MAX_RANK; i++)
        by[i] = (struct roll){.computed = NO_TENSOR};
    TRY(read_shifts(&s, &shape, by));
    for (uint32_t i = 0; i < shape.rank; i++)
        if (by[i].known || by[i].computed != NO_TENSOR)
            in = roll_axis(&s, in, i, &by[i]);
    return emit_give(&s, 0, in);
}
