/* SPDX-License-Identifier: Apache-2.0 */
/* Sums with a range per channel, as graphs that were tuned for Intel's processors have them: 0 stands for 0, and the
 * bound that is farther from 0 gives the step. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/schema/tf_types.h"

/* Sums, and the bound of each channel's range that is farther from 0. */
struct channels {
    tensor_id x, reach;
};

static odlc_status read_channels(struct emit *s, struct channels *out)
{
    static const char *const names[] = {"input_min", "input_max"};
    const struct lower *l = s->l;
    tensor_id bounds[2];
    TRY(lower_need(l, 0, "input", &out->x));
    const struct type *x = build_type(l->b, out->x);
    if (x->dtype != DT_INT32 || (x->shape.rank != 4 && x->shape.rank != 5) || shape_count(&x->shape) == 0)
        return lower_invalid(l, NULL, NULL, "the input is %s of %s, not sums by channel",
                             shape_text(l->diags->arena, &x->shape), dtype_info(x->dtype)->name);
    const struct shape line = SHAPE(x->shape.dims[x->shape.rank - 1]);
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_need(l, 1 + i, names[i], &bounds[i]));
        const struct type *type = build_type(l->b, bounds[i]);
        if (type->dtype != DT_FLOAT32 || !shape_equal(&type->shape, &line))
            return lower_invalid(l, NULL, NULL, "%s is %s of %s for %lld channels", names[i],
                                 shape_text(l->diags->arena, &type->shape), dtype_info(type->dtype)->name,
                                 (long long)line.dims[0]);
    }
    out->reach = quantized_reach(s, bounds[0], bounds[1]);
    return s->status;
}

/* How far x reaches from 0, by channel: each least and greatest integer as a float, for -2³¹ has no positive one. */
static tensor_id reach_of(struct emit *s, tensor_id x, tensor_id *least)
{
    const uint32_t last = build_rank(s->l->b, x) - 1;
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < last; i++)
        axes[i] = i;
    *least = emit_reduce(s, OP_ReduceMin, x, axes, last, false);
    tensor_id most = emit_reduce(s, OP_ReduceMax, x, axes, last, false);
    return quantized_reach(s, emit_cast(s, *least, DT_FLOAT32), emit_cast(s, most, DT_FLOAT32));
}

odlc_status tf_requantization_range_per_channel(struct lower *l)
{
    static const int64_t first = 0;
    const double steps = 2147483648.0; /* above zero, too: so it is as a float32 */
    struct emit s = {.l = l};
    struct channels c;
    tensor_id least, most;
    double clip;
    if (!lower_has_attr(l, "clip_value_max"))
        return lower_invalid(l, "clip_value_max", NULL, "attribute clip_value_max is missing");
    TRY(lower_attr_float(l, "clip_value_max", 0, &clip));
    TRY(read_channels(&s, &c));
    most = emit_binary(&s, OP_ElementWiseMultiply, c.reach, reach_of(&s, c.x, &least));
    most = emit_binary(&s, OP_ElementWiseMultiply, most, emit_scalar(&s, most, 1 / steps));
    most = emit_reduce(&s, OP_ReduceMax, most, &first, 1, false);
    most = emit_binary(&s, OP_ElementWiseMinimum, most, emit_scalar(&s, most, clip));
    least = emit_reduce(&s, OP_ReduceMin, least, &first, 1, false);
    tensor_id below = emit_binary(&s, OP_ElementWiseLess, least, emit_scalar(&s, least, 0));
    tensor_id zero = emit_scalar(&s, most, 0), negative = emit_unary(&s, OP_ElementWiseNeg, most);
    TRY(emit_give(&s, 0, emit_select(&s, below, negative, zero)));
    return l->n_out > 1 ? emit_give(&s, 1, most) : ODLC_OK;
}

odlc_status tf_requantize_per_channel(struct lower *l)
{
    const double steps = 2147483648.0;
    struct emit s = {.l = l};
    struct channels c;
    tensor_id min, max;
    int64_t code, lowest, highest;
    TRY(lower_attr_int(l, "out_type", TF_QUINT8, &code));
    const enum dtype to = tf_stored_dtype(code);
    if (to != DT_INT8 && to != DT_UINT8)
        return lower_unsupported(l, "out_type", NULL, "a result of %s", tf_dtype_name(code));
    TRY(read_channels(&s, &c));
    TRY(read_bound(l, 3, "requested_output_min", &min));
    TRY(read_bound(l, 4, "requested_output_max", &max));
    integer_range(to, &lowest, &highest);
    tensor_id factor = emit_binary(&s, OP_ElementWiseDivide, c.reach, quantized_reach(&s, min, max));
    factor = emit_binary(&s, OP_ElementWiseMultiply, factor, emit_scalar(&s, factor, (double)highest / steps));
    tensor_id y = emit_binary(&s, OP_ElementWiseMultiply, emit_cast(&s, c.x, DT_FLOAT32), factor);
    y = emit_clamp(&s, emit_unary(&s, OP_ElementWiseRound, y), (double)lowest, (double)highest);
    return give_quantized(&s, emit_cast(&s, y, to), min, max);
}
