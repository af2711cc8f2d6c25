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

enum { BINADES = 254 }; /* of normal float32 values: exponents from -126 on */

/* The distance between neighbours of bfloat16 for |x| in binade k, 2^(k - 126) to 2^(k - 125). */
static tensor_id spacings(struct emit *s)
{
    double *spacing = arena_array(s->l->arena, double, BINADES);
    for (int k = 0; k < BINADES; k++)
        spacing[k] = ldexp(1, k - 126 - 7);
    return emit_constant(s, DT_FLOAT32, &SHAPE(BINADES), spacing);
}

/* The spacing at |x|, or half of it where |x| is just above a power of two: the logarithm is made a bit smaller, so
 * that its own rounding never finds a binade too high. Zeros and subnormals have the spacing of the lowest binade, NaNs
 * any. */
static tensor_id spacing_at(struct emit *s, tensor_id magnitude)
{
    tensor_id log = emit_unary(s, OP_ElementWiseLog, magnitude);
    log = emit_binary(s, OP_ElementWiseMultiply, log, emit_scalar(s, log, LOG2_E));
    tensor_id binade = emit_binary(s, OP_ElementWiseAdd, log, emit_scalar(s, log, 126 - 0x1p-8));
    binade = emit_unary(s, OP_ElementWiseFloor, binade);
    binade = emit_binary(s, OP_ElementWiseMaximum, binade, emit_scalar(s, binade, 0));
    binade = emit_binary(s, OP_ElementWiseMinimum, binade, emit_scalar(s, binade, BINADES - 1));
    binade = emit_cast(s, binade, DT_INT32);
    tensor_id table = spacings(s);
    return emit_gather(s, table, binade, 0);
}

/* x, of float32, to the nearest value of bfloat16, ties to even: divided by the spacing of bfloat16 at x, which is a
 * power of two, rounded to an integer, and multiplied again. Infinities and NaNs stay what they are, and what rounds
 * beyond the largest value becomes infinite in the product. */
static tensor_id round_to_bfloat16(struct emit *s, tensor_id x)
{
    tensor_id magnitude = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id low = spacing_at(s, magnitude);
    tensor_id above = emit_binary(s, OP_ElementWiseDivide, magnitude, low);
    above = emit_binary(s, OP_ElementWiseGreaterEqual, above, emit_scalar(s, above, 256));
    tensor_id high = emit_binary(s, OP_ElementWiseMultiply, low, emit_scalar(s, low, 2));
    tensor_id spacing = emit_select(s, above, high, low);
    x = emit_binary(s, OP_ElementWiseDivide, x, spacing);
    x = emit_unary(s, OP_ElementWiseRound, x);
    return emit_binary(s, OP_ElementWiseMultiply, x, spacing);
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
        x = s->status == ODLC_OK ? round_to_bfloat16(s, x) : x;
    } else if ((to == DT_INT2 || to == DT_UINT2) && from != DT_BOOL) {
        x = low_bits(s, x, to);
    }
    return emit_cast(s, x, to);
}

odlc_status lower_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to)
{
    struct emit s = {.l = l};
    enum dtype from = build_type(l->b, x)->dtype;
    if (from == DT_STRING || to == DT_STRING)
        return lower_unsupported(l, attribute, NULL, "%s cannot be cast to %s", dtype_info(from)->name,
                                 dtype_info(to)->name);
    if (dtype_is_small_float(to))
        return lower_unsupported(l, attribute, NULL, "the type %s is not supported: containers do not have it",
                                 dtype_info(to)->name);
    tensor_id out = emit_cast_exactly(&s, x, to);
    return emit_give(&s, 0, out);
}
