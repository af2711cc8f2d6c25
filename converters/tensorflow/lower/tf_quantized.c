/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators on tensors of quint8, qint8 and their kin: plain integers here, beside which the range that
 * they stand for goes as two more tensors. Ranges have to be known. */
#include <float.h>
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/computed_ranges.h"
#include "converters/tensorflow/lower/quantized_ranges.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/schema/tf_types.h"

struct quantize {
    tensor_id x;
    enum dtype integer;
    int half_to_even;
    struct quantized_ranges r;
    float *min, *max;       /* the ranges as the results give them */
    double *scale, *offset; /* places of the grid from one real to the next; what is added to scaled reals */
};

/* The integers that stand for elements of a quantized type. */
static odlc_status quantized_type(const struct lower *l, const char *attribute, enum dtype *out)
{
    int64_t code;
    TRY(lower_attr_int(l, attribute, 0, &code));
    *out = tf_dtype(code) == DT_NONE ? tf_stored_dtype(code) : DT_NONE;
    if (*out == DT_NONE || *out == DT_INT32)
        return lower_unsupported(l, attribute, "FakeQuantWithMinMaxVars quantizes tensors of floats",
                                 "elements of type %s are not supported", tf_dtype_name(code));
    return ODLC_OK;
}

static odlc_status read_quantize(const struct lower *l, struct quantize *q)
{
    static const struct choice rounding[] = {{"HALF_AWAY_FROM_ZERO", false}, {"HALF_TO_EVEN", true}};
    TRY(lower_need(l, 0, "input", &q->x));
    TRY(quantized_type(l, "T", &q->integer));
    TRY(read_quantized_ranges(l, q->x, q->integer, &q->r));
    TRY(lower_choose(l, "round_mode", "HALF_AWAY_FROM_ZERO", rounding, COUNT_OF(rounding), &q->half_to_even));
    if (q->half_to_even && q->r.mode != SCALED)
        return lower_invalid(l, "round_mode", NULL, "round_mode HALF_TO_EVEN is there for mode SCALED alone");
    return ODLC_OK;
}

/* 0 is kept within a range, and its ends apart. All is computed in floats, as TensorFlow does. */
static odlc_status widen_ranges(const struct lower *l, struct quantize *q)
{
    double least;
    TRY(lower_attr_float(l, "ensure_minimum_range", (double)0.01f, &least));
    q->min = arena_array(l->arena, float, q->r.count);
    q->max = arena_array(l->arena, float, q->r.count);
    for (uint32_t i = 0; i < q->r.count; i++) {
        const float min = (float)q->r.min[i], max = (float)q->r.max[i];
        const float apart = fmaxf(1, fmaxf(fabsf(min), fabsf(max))) * (float)least;
        q->min[i] = fminf(0, min);
        q->max[i] = fmaxf(0, fmaxf(max, q->min[i] + apart));
        if (!(q->min[i] < q->max[i]))
            return lower_unsupported(l, NULL, NULL, "a range that has 0 alone is not supported");
    }
    return ODLC_OK;
}

/* The side that reaches farther gives the scale, and the range becomes as wide as the integers; 0: there are none. */
static double scale_around_zero(struct quantize *q, uint32_t i)
{
    const float lowest = (float)q->r.lowest + (float)q->r.narrow, highest = (float)q->r.highest;
    const float below = lowest * q->min[i] > 0 ? lowest / q->min[i] : FLT_MAX;
    const float above = highest * q->max[i] > 0 ? highest / q->max[i] : FLT_MAX;
    const float scale = fminf(below, above);
    if (scale >= FLT_MAX)
        return 0;
    q->min[i] = lowest / scale;
    q->max[i] = highest / scale;
    return (double)scale;
}

static odlc_status make_scales(const struct lower *l, struct quantize *q)
{
    const double steps = q->r.highest - q->r.lowest;
    q->scale = arena_array(l->arena, double, q->r.count);
    q->offset = arena_array(l->arena, double, q->r.count);
    for (uint32_t i = 0; i < q->r.count; i++) {
        const float range = q->max[i] - q->min[i];
        if (q->r.mode == SCALED) {
            q->scale[i] = scale_around_zero(q, i);
            if (q->scale[i] == 0)
                return lower_unsupported(l, NULL, NULL, "mode SCALED has no integers for the range from %g to %g",
                                         (double)q->min[i], (double)q->max[i]);
            continue;
        }
        const float scale = q->r.mode == MIN_FIRST ? (float)(steps / (double)range) : (float)steps / range;
        q->scale[i] = (double)scale;
        q->offset[i] = q->r.lowest;
        if (q->r.mode == MIN_FIRST)
            q->offset[i] -= (double)roundf(q->min[i] * scale);
    }
    return ODLC_OK;
}

static tensor_id per_range(struct emit *s, const struct quantize *q, const double *values)
{
    return per_quantized_range(s, &q->r, q->x, values);
}

static tensor_id per_range_float(struct emit *s, const struct quantize *q, const float *values)
{
    double *wide = arena_array(s->l->arena, double, q->r.count);
    for (uint32_t i = 0; i < q->r.count; i++)
        wide[i] = (double)values[i];
    return per_range(s, q, wide);
}

/* In the order of TensorFlow, which matters where numbers are rounded. */
static tensor_id places(struct emit *s, const struct quantize *q)
{
    tensor_id x = q->x, scale = per_range(s, q, q->scale);
    if (q->r.mode == MIN_FIRST) {
        x = emit_round_away(s, emit_binary(s, OP_ElementWiseMultiply, x, scale));
        x = emit_binary(s, OP_ElementWiseAdd, x, per_range(s, q, q->offset));
        return emit_clamp(s, x, q->r.lowest, q->r.highest);
    }
    tensor_id min = per_range_float(s, q, q->min), max = per_range_float(s, q, q->max);
    x = emit_binary(s, OP_ElementWiseMinimum, x, max);
    x = emit_binary(s, OP_ElementWiseMaximum, x, min);
    if (q->r.mode == SCALED) {
        x = emit_binary(s, OP_ElementWiseMultiply, x, scale);
        return q->half_to_even ? emit_unary(s, OP_ElementWiseRound, x) : emit_round_away(s, x);
    }
    x = emit_binary(s, OP_ElementWiseSubtract, x, min);
    x = emit_binary(s, OP_ElementWiseMultiply, x, scale);
    if (q->r.lowest == 0)
        return emit_unary(s, OP_ElementWiseFloor, emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, q->x, 0.5)));
    return emit_round_away(s, emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, q->x, q->r.lowest)));
}

odlc_status tf_quantize_v2(struct lower *l)
{
    struct quantize q;
    struct emit s = {.l = l};
    TRY(quantized_type(l, "T", &q.integer));
    if (has_computed_range(l))
        return quantize_by_computed(l, q.integer);
    TRY(read_quantize(l, &q));
    TRY(widen_ranges(l, &q));
    TRY(make_scales(l, &q));
    tensor_id integers = places(&s, &q);
    TRY(emit_give(&s, 0, emit_cast(&s, integers, q.integer)));
    const struct shape range = q.r.per_axis ? SHAPE(q.r.count) : (struct shape){.rank = 0};
    const float *const bounds[] = {q.min, q.max};
    for (uint32_t i = 0; i < 2; i++) {
        const struct view view = view_of(bounds[i], DT_FLOAT32, &range);
        lower_give_view(l, i + 1, &view);
    }
    return ODLC_OK;
}

/* ---- operators that keep the range of their input ---- */

static void pass_range(const struct lower *l, uint32_t first)
{
    for (uint32_t i = 0; i < 2 && i + 1 < l->n_out; i++)
        l->out[i + 1] = l->in[first + i];
}

/* The integer that stands for a real, as float32. Of a range that is known it is computed in doubles. */
static odlc_status integer_of(struct emit *s, const struct quantized *q, double real, tensor_id *out)
{
    uint64_t count;
    const double *min = build_const_as_floats(s->l->b, q->min, &count),
                 *max = build_const_as_floats(s->l->b, q->max, &count);
    if (!min || !max) {
        *out = emit_cast(s, quantized_integers(s, q, emit_scalar(s, q->min, real)), DT_FLOAT32);
        return s->status;
    }
    if (!(min[0] < max[0]) || !isfinite(max[0] - min[0]))
        return lower_invalid(s->l, NULL, NULL, "the range from %g to %g is none", min[0], max[0]);
    const double scale = (q->highest - q->lowest) / (max[0] - min[0]);
    const double place = round(real * scale) - round(min[0] * scale) + q->lowest;
    *out = emit_scalar(s, q->min, fmin(fmax(place, q->lowest), q->highest));
    return s->status;
}

/* Between the integers of 0 and, of a row with the variant, 6. */
odlc_status tf_quantized_relu(struct lower *l)
{
    static const enum dtype bytes[] = {DT_UINT8, DT_NONE}; /* TensorFlow computes no others */
    struct emit s = {.l = l};
    struct quantized q;
    int64_t result;
    tensor_id least, greatest;
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "features", bytes, &q));
    TRY(lower_attr_int(l, "out_type", TF_QUINT8, &result));
    if (result != TF_QUINT8)
        return lower_unsupported(l, "out_type", NULL, "a result of %s, not of quint8", tf_dtype_name(result));
    TRY(integer_of(&s, &q, 0, &least));
    tensor_id x = emit_binary(&s, OP_ElementWiseMaximum, emit_cast(&s, q.x, DT_FLOAT32), least);
    if (l->variant) {
        TRY(integer_of(&s, &q, 6, &greatest));
        x = emit_binary(&s, OP_ElementWiseMinimum, x, greatest);
    }
    return give_quantized(&s, emit_cast(&s, x, q.integer), q.min, q.max);
}

odlc_status tf_quantized_reshape(struct lower *l)
{
    tensor_id min, max;
    TRY(lower_need(l, 2, "input_min", &min));
    TRY(lower_need(l, 3, "input_max", &max));
    TRY(tf_reshape(l));
    pass_range(l, 2);
    return ODLC_OK;
}
