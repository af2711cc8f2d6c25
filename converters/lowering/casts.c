/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/casts.h"

#include <math.h>

/* Every value of the type is one of bfloat16: 8 significant bits, and more than enough exponents. */
static bool within_bfloat16(enum dtype dtype)
{
    return dtype == DT_BFLOAT16 || dtype == DT_BOOL || dtype_is_small_float(dtype) ||
           (dtype_is_int(dtype) && dtype_value_bits(dtype) <= 8);
}

#define LOG2_E 1.4426950408889634

static const struct float_values bfloat16 = {.lowest = -126, .binades = 254, .fraction_bits = 7};

/* The distance between neighbours of the type for |x| in each binade. */
static tensor_id spacings(struct emit *s, const struct float_values *type)
{
    double *spacing = arena_array(s->l->arena, double, type->binades);
    for (int k = 0; k < type->binades; k++)
        spacing[k] = ldexp(1, type->lowest + k - type->fraction_bits);
    return emit_constant(s, DT_FLOAT32, &SHAPE(type->binades), spacing);
}

/* The spacing at |x|, or half of it where |x| is just above a power of two: the logarithm is made a bit smaller, so
 * that its own rounding never finds a binade too high. Zeros and subnormals have the spacing of the lowest binade, what
 * is beyond the highest that of the highest, NaNs any. */
static tensor_id spacing_at(struct emit *s, tensor_id magnitude, const struct float_values *type)
{
    tensor_id log = emit_unary(s, OP_ElementWiseLog, magnitude);
    log = emit_binary(s, OP_ElementWiseMultiply, log, emit_scalar(s, log, LOG2_E));
    tensor_id binade = emit_binary(s, OP_ElementWiseAdd, log, emit_scalar(s, log, -type->lowest - 0x1p-8));
    binade = emit_unary(s, OP_ElementWiseFloor, binade);
    binade = emit_binary(s, OP_ElementWiseMaximum, binade, emit_scalar(s, binade, 0));
    binade = emit_binary(s, OP_ElementWiseMinimum, binade, emit_scalar(s, binade, type->binades - 1));
    binade = emit_cast(s, binade, DT_INT32);
    tensor_id table = spacings(s, type);
    return emit_gather(s, table, binade, 0);
}

/* x, of float32, to the nearest value of the type, ties to even, as if there were no largest: divided by the spacing at
 * x, which is a power of two, rounded to an integer, and multiplied again. Infinities and NaNs stay what they are. */
static tensor_id round_to(struct emit *s, tensor_id x, const struct float_values *type)
{
    tensor_id magnitude = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id low = spacing_at(s, magnitude, type);
    tensor_id above = emit_binary(s, OP_ElementWiseDivide, magnitude, low);
    above = emit_binary(s, OP_ElementWiseGreaterEqual, above, emit_scalar(s, above, ldexp(2, type->fraction_bits)));
    tensor_id high = emit_binary(s, OP_ElementWiseMultiply, low, emit_scalar(s, low, 2));
    tensor_id spacing = emit_select(s, above, high, low);
    x = emit_binary(s, OP_ElementWiseDivide, x, spacing);
    x = emit_unary(s, OP_ElementWiseRound, x);
    return emit_binary(s, OP_ElementWiseMultiply, x, spacing);
}

/* Instead of rounded values beyond the largest. */
static tensor_id beyond_largest(struct emit *s, tensor_id x, const struct float_values *type, bool saturates)
{
    const double instead = saturates ? type->largest : type->infinities ? INFINITY : NAN;
    return emit_binary(s, OP_ElementWiseMultiply, emit_unary(s, OP_ElementWiseSign, x), emit_scalar(s, x, instead));
}

tensor_id emit_cast_to_float8(struct emit *s, tensor_id x, enum dtype to, bool saturates)
{
    const struct float_values type = dtype_float8_values(to);
    if (s->status != ODLC_OK || build_type(s->l->b, x)->dtype == to)
        return x;
    x = emit_cast(s, x, DT_FLOAT32);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    x = round_to(s, x, &type);
    tensor_id magnitude = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id is_beyond = emit_binary(s, OP_ElementWiseGreater, magnitude, emit_scalar(s, x, type.largest));
    x = emit_select(s, is_beyond, beyond_largest(s, x, &type, saturates), x);
    if (!type.negative_zero) {
        tensor_id zero = emit_scalar(s, x, 0);
        x = emit_select(s, emit_binary(s, OP_ElementWiseEqual, x, zero), zero, x);
    }
    return emit_cast(s, x, to);
}

/* The low bits of x as a two's complement or unsigned number. */
static tensor_id low_bits(struct emit *s, tensor_id x, enum dtype to)
{
    double count = ldexp(1, (int)dtype_value_bits(to)), low = dtype_info(to)->cls == CLASS_INT ? count / 2 : 0;
    x = emit_cast(s, x, DT_INT32);
    if (low > 0)
        x = emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, x, low));
    x = emit_binary(s, OP_ElementWiseMod, x, emit_scalar(s, x, count));
    if (low > 0)
        x = emit_binary(s, OP_ElementWiseSubtract, x, emit_scalar(s, x, low));
    return x;
}

tensor_id emit_cast_exactly(struct emit *s, tensor_id x, enum dtype to)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct build *b = s->l->b;
    enum dtype from = build_type(b, x)->dtype;
    if (from == to || build_is_const(b, x))
        return emit_cast(s, x, to);
    /* Float to bool asks for "not zero", which a Cast on the target is not known to do. */
    if (to == DT_BOOL && dtype_is_float(from))
        return emit_binary(s, OP_ElementWiseNotEqual, x, emit_scalar(s, x, 0));
    if (to == DT_BFLOAT16 && !within_bfloat16(from)) {
        x = emit_cast(s, x, DT_FLOAT32);
        x = s->status == ODLC_OK ? round_to(s, x, &bfloat16) : x; /* what rounds beyond the largest is infinite */
    } else if ((to == DT_INT2 || to == DT_UINT2) && from != DT_BOOL) {
        x = low_bits(s, x, to);
    }
    return emit_cast(s, x, to);
}

odlc_status lower_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to, bool saturates)
{
    struct emit s = {.l = l};
    enum dtype from = build_type(l->b, x)->dtype;
    if (from == DT_STRING || to == DT_STRING)
        return lower_unsupported(l, attribute, NULL, "%s cannot be cast to %s", dtype_info(from)->name,
                                 dtype_info(to)->name);
    if (dtype_is_float8(to))
        return emit_give(&s, 0, emit_cast_to_float8(&s, x, to, saturates));
    if (dtype_is_small_float(to))
        return lower_unsupported(l, attribute, NULL, "the type %s is not supported: containers do not have it",
                                 dtype_info(to)->name);
    tensor_id out = emit_cast_exactly(&s, x, to);
    return emit_give(&s, 0, out);
}
