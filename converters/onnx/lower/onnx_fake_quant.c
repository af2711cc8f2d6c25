/* SPDX-License-Identifier: Apache-2.0 */
/* Quant, BipolarQuant and Trunc of QONNX and Brevitas: reals that are rounded to those of few integers. Where one
 * encoding stands for all, or the tensor is known, it becomes fixed-point. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/quantized.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/onnx_quantized.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "ir/quant.h"

enum { MOST_BITS = 24 }; /* whose integers float32 holds */

enum rounding { HALF_EVEN, CEIL, FLOOR, AWAY, TOWARDS, HALF_AWAY, HALF_TOWARDS };

struct fake_quant {
    struct emit s;
    tensor_id x, scale, zero; /* zero: NO_TENSOR where it is known to be 0 */
    int rounding;
    double low, high; /* the integers */
    int64_t bits;
    bool is_signed;
};

/* ---- operands ---- */

static odlc_status read_rounding(const struct lower *l, const char *absent, int *out)
{
    static const struct choice modes[] = {
        {"ROUND", HALF_EVEN}, {"HALF_EVEN", HALF_EVEN}, {"CEIL", CEIL},         {"FLOOR", FLOOR},
        {"UP", AWAY},         {"DOWN", TOWARDS},        {"HALF_UP", HALF_AWAY}, {"HALF_DOWN", HALF_TOWARDS}};
    const char *given;
    TRY(lower_attr_string(l, "rounding_mode", absent, &given));
    char *name = arena_strdup(l->arena, given);
    for (char *at = name; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        if (strcmp(modes[i].name, name) == 0) {
            *out = modes[i].value;
            return ODLC_OK;
        }
    return lower_invalid(l, "rounding_mode", NULL, "the rounding mode %s is not known", given);
}

/* Input i, which broadcasts to x, in its type. */
static odlc_status like_x(struct fake_quant *f, uint32_t i, const char *what, tensor_id *out)
{
    struct lower *l = f->s.l;
    struct shape both;
    TRY(lower_need(l, i, what, out));
    const struct type *type = build_type(l->b, *out), *x = build_type(l->b, f->x);
    if (type->dtype == DT_STRING || !shape_broadcast(&type->shape, &x->shape, &both) || !shape_equal(&both, &x->shape))
        return lower_invalid(l, NULL, NULL, "%s %s does not fit a tensor %s", what,
                             shape_text(l->diags->arena, &type->shape), shape_text(l->diags->arena, &x->shape));
    *out = emit_cast(&f->s, *out, x->dtype);
    return f->s.status;
}

static odlc_status read_scaled(struct fake_quant *f, bool has_zero)
{
    struct lower *l = f->s.l;
    TRY(lower_need(l, 0, "X", &f->x));
    if (!dtype_is_float(build_type(l->b, f->x)->dtype))
        return lower_invalid(l, NULL, NULL, "the tensor is of type %s",
                             dtype_info(build_type(l->b, f->x)->dtype)->name);
    TRY(like_x(f, 1, "the scale", &f->scale));
    f->zero = NO_TENSOR;
    if (has_zero)
        TRY(like_x(f, 2, "the zero point", &f->zero));
    if (is_zero(l->b, f->zero))
        f->zero = NO_TENSOR;
    return ODLC_OK;
}

static odlc_status read_bits(const struct lower *l, uint32_t i, const char *what, int64_t *out)
{
    double bits;
    tensor_id number;
    TRY(lower_need(l, i, what, &number));
    TRY(lower_need_const(l, i, what, "it says which integers there are"));
    TRY(lower_one_float(l, i, what, &bits));
    if (!(bits >= 1 && bits <= MOST_BITS) || bits != trunc(bits))
        return lower_unsupported(l, NULL, NULL, "%s is %g, not between 1 and %d", what, bits, MOST_BITS);
    *out = (int64_t)bits;
    return ODLC_OK;
}

/* The integers of so many bits: signed ones or not, and whether one is left out so that as many are on both sides of 0.
 */
static odlc_status read_integers(struct fake_quant *f, uint32_t bits_input, int64_t is_signed, int64_t narrow)
{
    struct lower *l = f->s.l;
    TRY(lower_attr_int(l, "signed", is_signed, &is_signed));
    TRY(lower_attr_int(l, "narrow", narrow, &narrow));
    TRY(read_bits(l, bits_input, "bitwidth", &f->bits));
    f->is_signed = is_signed != 0;
    f->low = f->is_signed ? -ldexp(1, (int)f->bits - 1) + (narrow != 0) : 0;
    f->high = f->is_signed ? ldexp(1, (int)f->bits - 1) - 1 : ldexp(1, (int)f->bits) - 1 - (narrow != 0);
    return ODLC_OK;
}

/* ---- integers ---- */

/* By the size of the number, with its sign: halves, or everything, go away from 0 or towards it. */
static tensor_id round_size(struct emit *s, enum op_id op, double shift, tensor_id x)
{
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, x);
    if (shift != 0)
        size = emit_binary(s, OP_ElementWiseAdd, size, emit_scalar(s, x, shift));
    size = emit_unary(s, op, size);
    return emit_binary(s, OP_ElementWiseMultiply, emit_unary(s, OP_ElementWiseSign, x), size);
}

static tensor_id rounded(struct emit *s, int rounding, tensor_id x)
{
    switch (rounding) {
    case CEIL:
        return emit_unary(s, OP_ElementWiseCeil, x);
    case FLOOR:
        return emit_unary(s, OP_ElementWiseFloor, x);
    case AWAY:
        return round_size(s, OP_ElementWiseCeil, 0, x);
    case TOWARDS:
        return round_size(s, OP_ElementWiseFloor, 0, x);
    case HALF_AWAY:
        return round_size(s, OP_ElementWiseFloor, 0.5, x);
    case HALF_TOWARDS:
        return round_size(s, OP_ElementWiseCeil, -0.5, x);
    default:
        return emit_unary(s, OP_ElementWiseRound, x);
    }
}

/* x / scale + zero */
static tensor_id scaled_down(struct fake_quant *f)
{
    tensor_id y = emit_binary(&f->s, OP_ElementWiseDivide, f->x, f->scale);
    return f->zero == NO_TENSOR ? y : emit_binary(&f->s, OP_ElementWiseAdd, y, f->zero);
}

/* (y - zero) · scale becomes output 0. */
static odlc_status give_scaled_up(struct fake_quant *f, tensor_id y)
{
    if (f->zero != NO_TENSOR)
        y = emit_binary(&f->s, OP_ElementWiseSubtract, y, f->zero);
    return emit_end_binary(&f->s, OP_ElementWiseMultiply, y, f->scale);
}

/* y, bounded and rounded. */
static tensor_id integers_of(struct fake_quant *f, tensor_id y)
{
    y = emit_binary(&f->s, OP_ElementWiseMinimum, y, emit_scalar(&f->s, f->x, f->high));
    y = emit_binary(&f->s, OP_ElementWiseMaximum, y, emit_scalar(&f->s, f->x, f->low));
    return rounded(&f->s, f->rounding, y);
}

/* ---- fixed-point ---- */

static enum dtype integer_type(const struct fake_quant *f)
{
    if (f->bits == 4)
        return f->is_signed ? DT_INT4 : DT_UINT4;
    if (f->bits <= 8)
        return f->is_signed ? DT_INT8 : DT_UINT8;
    return f->is_signed ? DT_INT16 : DT_UINT16;
}

/* The encodings, where there are some: known scales for all elements, or for each index of one axis; else NULL. */
static const struct quant *encodings(const struct fake_quant *f)
{
    struct build *b = f->s.l->b;
    const struct type *x = build_type(b, f->x);
    const struct shape *scale = &build_type(b, f->scale)->shape;
    uint64_t count;
    uint32_t axis = 0;
    if (f->bits > 16 || f->zero != NO_TENSOR || x->dtype != DT_FLOAT32 || !build_is_const(b, f->scale))
        return NULL;
    const double *values = build_const_as_floats(b, f->scale, &count);
    for (uint32_t i = 0; i < scale->rank; i++)
        if (scale->dims[i] > 1) {
            if ((uint64_t)scale->dims[i] != count)
                return NULL;
            axis = i + x->shape.rank - scale->rank;
        }
    return quant_create(f->s.l->arena, quant_dtype(integer_type(f)), values, NULL, (uint32_t)count, count > 1, axis);
}

/* A known tensor: its integers, which are still to be scaled. */
static odlc_status give_known(struct fake_quant *f, const struct quant *quant)
{
    struct lower *l = f->s.l;
    tensor_id y = integers_of(f, scaled_down(f));
    uint64_t count;
    uint8_t *bytes;
    TRY(f->s.status);
    enum dtype integer = integer_type(f);
    const double *values = build_const_as_floats(l->b, y, &count);
    TRY(lower_table(l, count, dtype_size(integer), &bytes));
    convert_elements(bytes, integer, values, DT_FLOAT64, count);
    struct view view = view_of(bytes, integer, &build_type(l->b, f->x)->shape);
    tensor_id known = graph_add_constant(l->b->graph, step_name(l, "integers"), integer, &view);
    return lower_scaled_constant(l, known, quant) ? ODLC_OK : give_scaled_up(f, y);
}

/* Quantized and dequantized; where the type has more integers, the reals are bounded before. */
static odlc_status give_fixed(struct fake_quant *f, const struct quant *quant)
{
    enum dtype integer = integer_type(f);
    double scale = quant->encodings[0].scale;
    int64_t least, most;
    tensor_id x = f->x, fixed;
    integer_range(integer, &least, &most);
    if (f->low > (double)least || f->high < (double)most)
        x = emit_clamp(&f->s, x, f->low * scale, f->high * scale);
    TRY(f->s.status);
    TRY(lower_quantized(f->s.l, x, quant, integer, &fixed));
    return lower_dequantized(f->s.l, fixed);
}

/* ---- operators ---- */

/* 1 where x is not negative, else -1. */
static tensor_id sign_of(struct emit *s, tensor_id x)
{
    tensor_id one = emit_scalar(s, x, 1), below = emit_scalar(s, x, -1);
    return emit_select(s, emit_binary(s, OP_ElementWiseGreaterEqual, x, emit_scalar(s, x, 0)), one, below);
}

odlc_status lower_quant(struct lower *l)
{
    struct fake_quant f = {.s.l = l};
    TRY(read_scaled(&f, true));
    if (!lower_has_attr(l, "signed") || !lower_has_attr(l, "narrow"))
        return lower_invalid(l, NULL, NULL, "the attribute signed or narrow is missing");
    TRY(read_integers(&f, 3, 1, 1));
    TRY(read_rounding(l, "ROUND", &f.rounding));
    if (f.bits == 1 && f.is_signed) /* as the operators' own runtime reads it */
        return give_scaled_up(&f, sign_of(&f.s, scaled_down(&f)));
    const struct quant *quant = encodings(&f);
    if (quant && build_is_const(l->b, f.x))
        return give_known(&f, quant);
    if (quant && !quant->per_axis && f.rounding == HALF_EVEN)
        return give_fixed(&f, quant);
    return give_scaled_up(&f, integers_of(&f, scaled_down(&f)));
}

odlc_status lower_bipolar_quant(struct lower *l)
{
    struct fake_quant f = {.s.l = l};
    TRY(read_scaled(&f, false));
    return emit_end_binary(&f.s, OP_ElementWiseMultiply, sign_of(&f.s, f.x), f.scale);
}

/* Version 1: the low bits of the integers that x stands for are dropped, and the others stand for less than before. */
static odlc_status drop_bits(struct fake_quant *f)
{
    struct lower *l = f->s.l;
    int64_t bits, kept;
    TRY(read_bits(l, 3, "the input's bitwidth", &bits));
    TRY(read_bits(l, 4, "the output's bitwidth", &kept));
    tensor_id y = emit_unary(&f->s, OP_ElementWiseRound, scaled_down(f));
    y = emit_binary(&f->s, OP_ElementWiseMultiply, y, emit_scalar(&f->s, f->x, ldexp(1, (int)(kept - bits))));
    return give_scaled_up(f, rounded(&f->s, f->rounding, y));
}

/* From version 2 on: they are divided by the power of two that is nearest to the quotient of the scales, and keep
 * their values. */
static odlc_status divide_integers(struct fake_quant *f)
{
    struct lower *l = f->s.l;
    tensor_id scale;
    uint64_t count, n_before;
    TRY(like_x(f, 4, "the output's scale", &scale));
    TRY(read_integers(f, 5, 1, 0));
    const double *after = build_const_as_floats(l->b, scale, &count);
    const double *before = build_const_as_floats(l->b, f->scale, &n_before);
    if (!after || !before || count != 1 || n_before != 1 || !(after[0] / before[0] > 0))
        return lower_unsupported(l, NULL, NULL, "scales that are not one known number above 0 each");
    double power = exp2(rint(log2((double)((float)after[0] / (float)before[0]))));
    tensor_id divisor = emit_scalar(&f->s, f->x, power);
    tensor_id y = emit_unary(&f->s, OP_ElementWiseRound, scaled_down(f));
    y = integers_of(f, emit_binary(&f->s, OP_ElementWiseDivide, y, divisor));
    if (f->zero != NO_TENSOR)
        f->zero = emit_binary(&f->s, OP_ElementWiseDivide, f->zero, divisor);
    f->scale = scale;
    return give_scaled_up(f, y);
}

odlc_status lower_trunc(struct lower *l)
{
    struct fake_quant f = {.s.l = l};
    TRY(read_scaled(&f, true));
    TRY(read_rounding(l, "FLOOR", &f.rounding));
    return l->version < 2 ? drop_bits(&f) : divide_integers(&f);
}
