/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/computed_ranges.h"

#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"

static const char *mode_of(const struct lower *l)
{
    const char *mode;
    int64_t axis;
    bool whole = lower_attr_string(l, "mode", "MIN_COMBINED", &mode) == ODLC_OK &&
                 lower_attr_int(l, "axis", -1, &axis) == ODLC_OK && axis == -1;
    return whole ? mode : "";
}

bool has_computed_range(const struct lower *l)
{
    const tensor_id min = lower_in(l, 1), max = lower_in(l, 2);
    const bool dequantizes = strcmp(l->node->op->type, "Dequantize") == 0;
    if (min == NO_TENSOR || max == NO_TENSOR || (build_is_const(l->b, min) && build_is_const(l->b, max)))
        return false;
    return strcmp(mode_of(l), "MIN_FIRST") == 0 || (dequantizes && strcmp(mode_of(l), "MIN_COMBINED") == 0);
}

/* 0 is kept within the range, and its ends apart. */
static odlc_status widen(struct emit *s, struct quantized *q)
{
    double least;
    TRY(lower_attr_float(s->l, "ensure_minimum_range", (double)0.01f, &least));
    tensor_id zero = emit_scalar(s, q->min, 0);
    tensor_id below = emit_unary(s, OP_ElementWiseAbs, q->min), above = emit_unary(s, OP_ElementWiseAbs, q->max);
    tensor_id size = emit_binary(s, OP_ElementWiseMaximum, emit_binary(s, OP_ElementWiseMaximum, below, above),
                                 emit_scalar(s, q->min, 1));
    tensor_id apart = emit_binary(s, OP_ElementWiseMultiply, size, emit_scalar(s, size, least));
    q->min = emit_binary(s, OP_ElementWiseMinimum, q->min, zero);
    q->max = emit_binary(s, OP_ElementWiseMaximum, q->max, emit_binary(s, OP_ElementWiseAdd, q->min, apart));
    q->max = emit_binary(s, OP_ElementWiseMaximum, q->max, zero);
    return s->status;
}

odlc_status quantize_by_computed(struct lower *l, enum dtype integer)
{
    struct emit s = {.l = l};
    struct quantized q = {.integer = integer};
    int64_t lowest, highest;
    TRY(lower_need(l, 0, "input", &q.x));
    TRY(read_bound(l, 1, "min_range", &q.min));
    TRY(read_bound(l, 2, "max_range", &q.max));
    TRY(widen(&s, &q));
    integer_range(integer, &lowest, &highest);
    q.lowest = (double)lowest;
    q.highest = (double)highest;
    return give_quantized(&s, quantized_integers(&s, &q, q.x), q.min, q.max);
}

odlc_status dequantize_by_computed(struct lower *l)
{
    static const enum dtype types[] = {DT_UINT8, DT_INT8, DT_UINT16, DT_INT16, DT_NONE};
    struct emit s = {.l = l};
    struct quantized q;
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "input", types, &q));
    if (strcmp(mode_of(l), "MIN_FIRST") == 0)
        return emit_give(&s, 0, quantized_reals(&s, &q));
    tensor_id x = emit_cast(&s, q.x, DT_FLOAT32);
    x = emit_binary(&s, OP_ElementWiseSubtract, x, emit_scalar(&s, x, q.lowest));
    x = emit_binary(&s, OP_ElementWiseMultiply, x, quantized_level(&s, &q));
    return emit_end_binary(&s, OP_ElementWiseAdd, x, q.min);
}
