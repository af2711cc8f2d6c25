/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators that change the ranges of quantized tensors, and those that move quantized elements. */
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/schema/tf_types.h"

static const enum dtype quint8[] = {DT_UINT8, DT_NONE}, qint32[] = {DT_INT32, DT_NONE};

/* ---- sums as bytes ---- */

struct bounds {
    tensor_id min, max;
};

/* Half of the sum of the bounds. */
static tensor_id middle_of(struct emit *s, const struct quantized *q)
{
    tensor_id both = emit_binary(s, OP_ElementWiseAdd, q->min, q->max);
    return emit_binary(s, OP_ElementWiseMultiply, both, emit_scalar(s, both, 0.5));
}

/* x · factor + shift, rounded, halves up, where the middle of the sums' range is 0 but for rounding; all 0 of an empty
 * range. TensorFlow computes this in integers of 48 bits, whose last digit is as much as a float's. */
static tensor_id bytes_of(struct emit *s, const struct quantized *q, const struct bounds *to)
{
    tensor_id wide = emit_binary(s, OP_ElementWiseSubtract, to->max, to->min);
    tensor_id empty = emit_binary(s, OP_ElementWiseEqual, to->max, to->min), zero = emit_scalar(s, wide, 0);
    tensor_id level = emit_binary(s, OP_ElementWiseMultiply, quantized_level(s, q), emit_scalar(s, wide, 255));
    tensor_id above = emit_binary(s, OP_ElementWiseSubtract, middle_of(s, q), to->min);
    above = emit_binary(s, OP_ElementWiseMultiply, above, emit_scalar(s, above, 255));
    tensor_id factor = emit_select(s, empty, zero, emit_binary(s, OP_ElementWiseDivide, level, wide));
    tensor_id shift = emit_select(s, empty, zero, emit_binary(s, OP_ElementWiseDivide, above, wide));
    shift = emit_binary(s, OP_ElementWiseAdd, shift, emit_scalar(s, shift, 0.5));
    tensor_id x = emit_binary(s, OP_ElementWiseMultiply, emit_cast(s, q->x, DT_FLOAT32), factor);
    x = emit_unary(s, OP_ElementWiseFloor, emit_binary(s, OP_ElementWiseAdd, x, shift));
    return emit_cast(s, emit_clamp(s, x, 0, 255), DT_UINT8);
}

static odlc_status read_sums(const struct lower *l, struct quantized *q)
{
    int64_t code;
    TRY(lower_attr_int(l, "out_type", TF_QUINT8, &code));
    if (code != TF_QUINT8)
        return lower_unsupported(l, "out_type", NULL, "a result of %s, not of quint8", tf_dtype_name(code));
    return read_quantized(l, (struct quantized_places){0, 1, 2}, "the input", qint32, q);
}

odlc_status tf_requantize(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    struct bounds to;
    TRY(read_sums(l, &q));
    TRY(read_bound(l, 3, "requested_output_min", &to.min));
    TRY(read_bound(l, 4, "requested_output_max", &to.max));
    return give_quantized(&s, bytes_of(&s, &q, &to), to.min, to.max);
}

/* Reals of sums: half a step above where the integers would have them, whose middle is -1/2. */
static tensor_id real_of(struct emit *s, const struct quantized *q, tensor_id x)
{
    x = emit_binary(s, OP_ElementWiseAdd, emit_cast(s, x, DT_FLOAT32), emit_scalar(s, q->min, 0.5));
    x = emit_binary(s, OP_ElementWiseMultiply, x, quantized_level(s, q));
    return emit_binary(s, OP_ElementWiseAdd, x, middle_of(s, q));
}

/* The reals of the least and the greatest element; 0 is kept in the range. */
static struct bounds used_range(struct emit *s, const struct quantized *q)
{
    int64_t axes[MAX_RANK];
    const uint32_t rank = build_rank(s->l->b, q->x);
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    struct bounds found = {q->x, q->x};
    if (rank > 0) {
        found.min = emit_reduce(s, OP_ReduceMin, q->x, axes, rank, false);
        found.max = emit_reduce(s, OP_ReduceMax, q->x, axes, rank, false);
    }
    found.min = real_of(s, q, found.min);
    found.max = real_of(s, q, found.max);
    found.min = emit_binary(s, OP_ElementWiseMinimum, found.min, emit_scalar(s, found.min, 0));
    return found;
}

static odlc_status need_elements(const struct lower *l, const struct quantized *q)
{
    if (shape_count(&build_type(l->b, q->x)->shape) == 0)
        return lower_unsupported(l, NULL, NULL, "an input without elements has no range");
    return ODLC_OK;
}

odlc_status tf_requantization_range(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "the input", qint32, &q));
    TRY(need_elements(l, &q));
    const struct bounds found = used_range(&s, &q);
    TRY(emit_give(&s, 0, found.min));
    return l->n_out > 1 ? emit_give(&s, 1, found.max) : ODLC_OK;
}

odlc_status tf_quantize_down(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    TRY(read_sums(l, &q));
    TRY(need_elements(l, &q));
    const struct bounds found = used_range(&s, &q);
    return give_quantized(&s, bytes_of(&s, &q, &found), found.min, found.max);
}

/* ---- pools ---- */

/* The row's op on the bytes as floats. An average is rounded down: half of the smallest part that it can have keeps it
 * from falling below a whole number. */
odlc_status tf_quantized_pool(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    const int64_t *sizes;
    uint32_t count;
    tensor_id x, y = NO_TENSOR;
    double elements = 1;
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "the input", quint8, &q));
    TRY(lower_attr_ints(l, "ksize", &sizes, &count));
    for (uint32_t i = 0; i < count; i++)
        elements *= (double)sizes[i];
    x = emit_cast(&s, q.x, DT_FLOAT32);
    TRY(s.status);
    TRY(lower_step(l, tf_pool, NULL, &x, 1, &y));
    if (l->op == OP_PoolAvg2d)
        y = emit_unary(&s, OP_ElementWiseFloor,
                       emit_binary(&s, OP_ElementWiseAdd, y, emit_scalar(&s, y, 0.5 / elements)));
    return give_quantized(&s, emit_cast(&s, y, q.integer), q.min, q.max);
}

/* ---- QuantizedConcat ---- */

/* Whether both are one tensor, or known and equal. */
static bool same_bound(const struct build *b, tensor_id x, tensor_id y)
{
    uint64_t count;
    const double *left = build_const_as_floats(b, x, &count), *right = build_const_as_floats(b, y, &count);
    return x == y || (left && right && *left == *right);
}

/* Bytes of the common range, which has 0, of bytes that have another one. */
static odlc_status join(struct lower *l, struct quantized *parts, uint32_t count, uint32_t axis)
{
    struct emit s = {.l = l};
    struct quantized all = parts[0];
    tensor_id *x = arena_array(l->arena, tensor_id, count), zero = emit_scalar(&s, all.min, 0);
    for (uint32_t i = 1; i < count; i++) {
        all.min = emit_binary(&s, OP_ElementWiseMinimum, all.min, parts[i].min);
        all.max = emit_binary(&s, OP_ElementWiseMaximum, all.max, parts[i].max);
    }
    all.min = emit_binary(&s, OP_ElementWiseMinimum, all.min, zero);
    TRY(s.status);
    for (uint32_t i = 0; i < count; i++) {
        bool same = same_bound(l->b, parts[i].min, all.min) && same_bound(l->b, parts[i].max, all.max);
        x[i] = same ? parts[i].x : quantized_integers(&s, &all, quantized_reals(&s, &parts[i]));
    }
    return give_quantized(&s, emit_concat(&s, x, count, axis), all.min, all.max);
}

/* Parts, then the least of their ranges, then the greatest; the axis comes before them, or behind the parts. */
odlc_status tf_quantized_concat(struct lower *l)
{
    const uint32_t count = l->n_in / 3, before = l->variant == NULL;
    int64_t axis;
    uint32_t at;
    if (l->n_in < 4 || l->n_in % 3 != 1)
        return lower_invalid(l, NULL, NULL, "%u inputs are no parts with ranges and an axis", l->n_in);
    struct quantized *parts = arena_array(l->arena, struct quantized, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct quantized_places at_part = {before + i, count + 1 + i, 2 * count + 1 + i};
        TRY(read_quantized(l, at_part, "a part", quint8, &parts[i]));
    }
    TRY(lower_one_int(l, before ? 0 : count, "axis", &axis));
    TRY(lower_axis(l, "axis", axis, build_rank(l->b, parts[0].x), &at));
    return join(l, parts, count, at);
}
