/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators on tensors of quint8, qint8 and their kin: plain integers here, beside which the range that
 * they stand for goes as two more tensors. Ranges have to be known. */
#include <float.h>
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_ranges.h"
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
        q->scale[i] = q->r.mode == MIN_FIRST ? steps / (double)range : (double)((float)steps / range);
        q->offset[i] = q->r.lowest;
        if (q->r.mode == MIN_FIRST)
            q->offset[i] -= round((double)q->min[i] * q->scale[i]);
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

/* The nearest whole number, halves away from zero. */
static tensor_id round_away(struct emit *s, tensor_id x)
{
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id whole = emit_unary(s, OP_ElementWiseFloor, size);
    tensor_id rest = emit_binary(s, OP_ElementWiseSubtract, size, whole);
    tensor_id up = emit_binary(s, OP_ElementWiseGreaterEqual, rest, emit_scalar(s, x, 0.5));
    whole = emit_binary(s, OP_ElementWiseAdd, whole, emit_cast(s, up, DT_FLOAT32));
    return emit_binary(s, OP_ElementWiseMultiply, whole, emit_unary(s, OP_ElementWiseSign, x));
}

/* In the order of TensorFlow, which matters where numbers are rounded. */
static tensor_id places(struct emit *s, const struct quantize *q)
{
    tensor_id x = q->x, scale = per_range(s, q, q->scale);
    if (q->r.mode == MIN_FIRST) {
        x = round_away(s, emit_binary(s, OP_ElementWiseMultiply, x, scale));
        x = emit_binary(s, OP_ElementWiseAdd, x, per_range(s, q, q->offset));
        return emit_clamp(s, x, q->r.lowest, q->r.highest);
    }
    tensor_id min = per_range_float(s, q, q->min), max = per_range_float(s, q, q->max);
    x = emit_binary(s, OP_ElementWiseMinimum, x, max);
    x = emit_binary(s, OP_ElementWiseMaximum, x, min);
    if (q->r.mode == SCALED) {
        x = emit_binary(s, OP_ElementWiseMultiply, x, scale);
        return q->half_to_even ? emit_unary(s, OP_ElementWiseRound, x) : round_away(s, x);
    }
    x = emit_binary(s, OP_ElementWiseSubtract, x, min);
    x = emit_binary(s, OP_ElementWiseMultiply, x, scale);
    if (q->r.lowest == 0)
        return emit_unary(s, OP_ElementWiseFloor, emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, q->x, 0.5)));
    return round_away(s, emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, q->x, q->r.lowest)));
}

odlc_status tf_quantize_v2(struct lower *l)
{
    struct quantize q;
    struct emit s = {.l = l};
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

/* The integer that stands for a real, in the range of inputs 1 and 2. */
static odlc_status integer_of(const struct lower *l, enum dtype integer, double real, double *out)
{
    double bounds[2];
    int64_t lowest, highest;
    TRY(lower_one_float(l, 1, "min_features", &bounds[0]));
    TRY(lower_one_float(l, 2, "max_features", &bounds[1]));
    if (!(bounds[0] < bounds[1]) || !isfinite(bounds[1] - bounds[0]))
        return lower_invalid(l, NULL, NULL, "the range from %g to %g is none", bounds[0], bounds[1]);
    integer_range(integer, &lowest, &highest);
    const double scale = (double)(highest - lowest) / (bounds[1] - bounds[0]);
    *out = fmin(fmax(round(real * scale) - round(bounds[0] * scale) + (double)lowest, (double)lowest), (double)highest);
    return ODLC_OK;
}

/* Between the integers of 0 and, of a row with the variant, 6. */
odlc_status tf_quantized_relu(struct lower *l)
{
    struct emit s = {.l = l};
    const enum dtype integer = DT_UINT8; /* TensorFlow computes no others */
    int64_t result;
    tensor_id x;
    double zero, six = 255;
    TRY(lower_need(l, 0, "features", &x));
    TRY(lower_attr_int(l, "out_type", TF_QUINT8, &result));
    if (build_type(l->b, x)->dtype != integer || tf_stored_dtype(result) != integer)
        return lower_unsupported(l, "out_type", NULL, "the types of the input and the result are not both quint8");
    TRY(integer_of(l, integer, 0, &zero));
    if (l->variant)
        TRY(integer_of(l, integer, 6, &six));
    x = emit_clamp(&s, emit_cast(&s, x, DT_FLOAT32), zero, six);
    TRY(emit_give(&s, 0, emit_cast(&s, x, integer)));
    pass_range(l, 1);
    return ODLC_OK;
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
