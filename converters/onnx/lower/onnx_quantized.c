/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/lower/onnx_quantized.h"

#include <math.h>

bool is_quantized_type(enum dtype dtype)
{
    return dtype_is_int(dtype) && dtype_value_bits(dtype) <= 16;
}

bool is_zero(const struct build *b, tensor_id t)
{
    if (t == NO_TENSOR)
        return true;
    uint64_t count;
    const double *values = build_const_as_floats(b, t, &count);
    for (uint64_t i = 0; values && i < count; i++)
        if (values[i] != 0)
            return false;
    return values != NULL;
}

/* [.., blocks, ..] repeated along the axis to the extent of x. */
static tensor_id repeat_blocks(struct emit *s, tensor_id t, const struct shape *x, const struct granularity *g)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct shape from = build_type(s->l->b, t)->shape;
    struct shape apart = {.rank = from.rank + 1}, joined = from;
    for (uint32_t i = 0, to = 0; i < from.rank; i++) {
        apart.dims[to++] = from.dims[i];
        if (i == g->axis)
            apart.dims[to++] = 1;
    }
    t = emit_reshape(s, t, &apart);
    apart.dims[g->axis + 1] = g->block;
    t = emit_broadcast(s, t, &apart);
    joined.dims[g->axis] = from.dims[g->axis] * g->block;
    t = emit_reshape(s, t, &joined);
    if (joined.dims[g->axis] == x->dims[g->axis])
        return t;
    return emit_slice(s, t, g->axis, 0, x->dims[g->axis]);
}

tensor_id emit_align(struct emit *s, tensor_id t, const struct shape *x, const struct granularity *g)
{
    if (s->status != ODLC_OK || t == NO_TENSOR)
        return t;
    const struct shape *from = &build_type(s->l->b, t)->shape;
    if (shape_count(from) == 1)
        return emit_reshape(s, t, &(struct shape){.rank = 0});
    if (g->block > 0)
        return repeat_blocks(s, t, x, g);
    struct shape along = {.rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++)
        along.dims[i] = i == g->axis ? x->dims[i] : 1;
    return emit_reshape(s, t, &along);
}

tensor_id emit_center(struct emit *s, tensor_id t, tensor_id zero)
{
    t = emit_cast(s, t, DT_INT32);
    if (s->status != ODLC_OK || is_zero(s->l->b, zero))
        return t;
    zero = emit_cast(s, zero, DT_INT32);
    return emit_binary(s, OP_ElementWiseSubtract, t, zero);
}

tensor_id emit_saturate(struct emit *s, tensor_id x, tensor_id zero, enum dtype to)
{
    unsigned bits = dtype_value_bits(to);
    double low = dtype_info(to)->cls == CLASS_INT ? -ldexp(1, (int)bits - 1) : 0, high = low + ldexp(1, (int)bits) - 1;
    x = emit_unary(s, OP_ElementWiseRound, x);
    x = emit_cast(s, x, DT_FLOAT32); /* which holds all sums that are in range, as halves do not */
    if (s->status == ODLC_OK && !is_zero(s->l->b, zero)) {
        zero = emit_cast(s, zero, DT_FLOAT32);
        x = emit_binary(s, OP_ElementWiseAdd, x, zero);
    }
    x = emit_binary(s, OP_ElementWiseMaximum, x, emit_scalar(s, x, low));
    x = emit_binary(s, OP_ElementWiseMinimum, x, emit_scalar(s, x, high));
    return emit_cast(s, x, to);
}
