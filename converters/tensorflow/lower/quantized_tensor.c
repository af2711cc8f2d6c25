/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/quantized_tensor.h"

#include <math.h>

#include "converters/lowering/shapes.h"

odlc_status read_bound(const struct lower *l, uint32_t i, const char *what, tensor_id *out)
{
    struct emit s = {.l = (struct lower *)l};
    tensor_id bound;
    TRY(lower_need(l, i, what, &bound));
    const struct type *type = build_type(l->b, bound);
    if (type->dtype != DT_FLOAT32 || shape_count(&type->shape) != 1)
        return lower_unsupported(l, NULL, NULL, "%s is %s of %s, not one float32", what,
                                 shape_text(l->diags->arena, &type->shape), dtype_info(type->dtype)->name);
    *out = emit_reshape(&s, bound, &(struct shape){.rank = 0});
    return s.status;
}

odlc_status read_quantized(const struct lower *l, struct quantized_places at, const char *what, const enum dtype *types,
                           struct quantized *out)
{
    int64_t lowest, highest;
    TRY(lower_need(l, at.x, what, &out->x));
    out->integer = build_type(l->b, out->x)->dtype;
    while (*types != DT_NONE && *types != out->integer)
        types++;
    if (*types == DT_NONE)
        return lower_unsupported(l, NULL, NULL, "%s is of %s: TensorFlow computes with other quantized types", what,
                                 dtype_info(out->integer)->name);
    TRY(read_bound(l, at.min, "the least of a range", &out->min));
    TRY(read_bound(l, at.max, "the greatest of a range", &out->max));
    integer_range(out->integer, &lowest, &highest);
    out->lowest = (double)lowest;
    out->highest = (double)highest;
    return ODLC_OK;
}

/* ---- ranges ---- */

bool quantized_known_float(const struct build *b, tensor_id x, float *out)
{
    uint64_t count;
    const double *values = x == NO_TENSOR ? NULL : build_const_as_floats(b, x, &count);
    if (values)
        *out = (float)values[0];
    return values != NULL;
}

static tensor_id width(struct emit *s, const struct quantized *q)
{
    return emit_binary(s, OP_ElementWiseSubtract, q->max, q->min);
}

tensor_id quantized_level(struct emit *s, const struct quantized *q)
{
    return emit_binary(s, OP_ElementWiseDivide, width(s, q), emit_scalar(s, q->min, q->highest - q->lowest));
}

tensor_id quantized_reach(struct emit *s, tensor_id min, tensor_id max)
{
    tensor_id below = emit_unary(s, OP_ElementWiseAbs, min), above = emit_unary(s, OP_ElementWiseAbs, max);
    return emit_binary(s, OP_ElementWiseMaximum, below, above);
}

/* `unless`, where the range is not one number; else `empty`. */
static tensor_id unless_empty(struct emit *s, const struct quantized *q, tensor_id unless, tensor_id empty)
{
    return emit_select(s, emit_binary(s, OP_ElementWiseEqual, q->min, q->max), empty, unless);
}

/* The integer that stands for 0, as float32, which may be beyond the others. */
static tensor_id zero_place(struct emit *s, const struct quantized *q)
{
    float min, max;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    if (quantized_known_float(s->l->b, q->min, &min) &&
        quantized_known_float(s->l->b, q->max, &max)) { /* in doubles, as TensorFlow */
        const double scale = (q->highest - q->lowest) / (double)(max - min);
        return emit_scalar(s, q->min, min == max ? q->lowest : q->lowest - round((double)min * scale));
    }
    tensor_id scale = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, q->min, q->highest - q->lowest), width(s, q));
    tensor_id below = emit_round_away(s, emit_binary(s, OP_ElementWiseMultiply, q->min, scale));
    tensor_id lowest = emit_scalar(s, q->min, q->lowest);
    return unless_empty(s, q, emit_binary(s, OP_ElementWiseSubtract, lowest, below), lowest);
}

tensor_id quantized_centered(struct emit *s, const struct quantized *q)
{
    tensor_id zero = emit_cast(s, zero_place(s, q), DT_INT32);
    return emit_binary(s, OP_ElementWiseSubtract, emit_cast(s, q->x, DT_INT32), zero);
}

/* ---- reals ---- */

tensor_id emit_round_away(struct emit *s, tensor_id x)
{
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id whole = emit_unary(s, OP_ElementWiseFloor, size);
    tensor_id rest = emit_binary(s, OP_ElementWiseSubtract, size, whole);
    tensor_id up = emit_binary(s, OP_ElementWiseGreaterEqual, rest, emit_scalar(s, x, 0.5));
    whole = emit_binary(s, OP_ElementWiseAdd, whole, emit_cast(s, up, DT_FLOAT32));
    return emit_binary(s, OP_ElementWiseMultiply, whole, emit_unary(s, OP_ElementWiseSign, x));
}

tensor_id quantized_reals(struct emit *s, const struct quantized *q)
{
    tensor_id level = quantized_level(s, q);
    tensor_id places = emit_round_away(s, emit_binary(s, OP_ElementWiseDivide, q->min, level));
    places = emit_binary(s, OP_ElementWiseSubtract, places, emit_scalar(s, q->min, q->lowest));
    tensor_id x = emit_binary(s, OP_ElementWiseAdd, emit_cast(s, q->x, DT_FLOAT32), places);
    return unless_empty(s, q, emit_binary(s, OP_ElementWiseMultiply, x, level), q->min);
}

tensor_id quantized_integers(struct emit *s, const struct quantized *q, tensor_id reals)
{
    tensor_id scale = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, q->min, q->highest - q->lowest), width(s, q));
    tensor_id below = emit_round_away(s, emit_binary(s, OP_ElementWiseMultiply, q->min, scale));
    tensor_id shift = emit_binary(s, OP_ElementWiseSubtract, below, emit_scalar(s, q->min, q->lowest));
    tensor_id x = emit_round_away(s, emit_binary(s, OP_ElementWiseMultiply, reals, scale));
    x = emit_binary(s, OP_ElementWiseSubtract, x, shift);
    return emit_cast(s, emit_clamp(s, x, q->lowest, q->highest), q->integer);
}

/* ---- results ---- */

odlc_status lower_step(const struct lower *l, lower_fn *fn, const char *variant, const tensor_id *in, uint32_t n_in,
                       tensor_id *out)
{
    struct lower step = *l;
    step.variant = variant;
    step.in = in;
    step.n_in = n_in;
    step.out = out;
    step.n_out = 0;
    return fn(&step);
}

odlc_status give_quantized(struct emit *s, tensor_id x, tensor_id min, tensor_id max)
{
    TRY(emit_give(s, 0, x));
    if (s->l->n_out > 1)
        TRY(emit_give(s, 1, min));
    return s->l->n_out > 2 ? emit_give(s, 2, max) : ODLC_OK;
}

odlc_status give_sums(struct emit *s, tensor_id x, tensor_id level)
{
    const double steps = 2147483648.0; /* also above zero: so it is as a float32 */
    tensor_id min = emit_binary(s, OP_ElementWiseMultiply, level, emit_scalar(s, level, -steps));
    return give_quantized(s, x, min, emit_binary(s, OP_ElementWiseMultiply, level, emit_scalar(s, level, steps)));
}
