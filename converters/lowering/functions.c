/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/functions.h"

#include <math.h>

#include "converters/lowering/emit.h"

/* π/2 − asin x */
odlc_status lower_acos(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id asin_x = emit_unary(&s, OP_ElementWiseAsin, x);
    return emit_end_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, x, M_PI_2), asin_x);
}

odlc_status lower_tan(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id sin_x = emit_unary(&s, OP_ElementWiseSin, x);
    return emit_end_binary(&s, OP_ElementWiseDivide, sin_x, emit_unary(&s, OP_ElementWiseCos, x));
}

/* (eˣ ± e⁻ˣ) / 2, the sign from the row. */
odlc_status lower_sinh_cosh(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id grows = emit_unary(&s, OP_ElementWiseExp, x);
    tensor_id falls = emit_unary(&s, OP_ElementWiseExp, emit_unary(&s, OP_ElementWiseNeg, x));
    tensor_id both = emit_binary(&s, l->op, grows, falls);
    return emit_end_binary(&s, OP_ElementWiseMultiply, both, emit_scalar(&s, x, 0.5));
}

/* sign x · log(|x| + √(x² + 1)): of the absolute value, because the sum cancels for negative x. */
odlc_status lower_asinh(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id square = emit_binary(&s, OP_ElementWiseMultiply, x, x);
    tensor_id root =
        emit_unary(&s, OP_ElementWiseSquareRoot, emit_binary(&s, OP_ElementWiseAdd, square, emit_scalar(&s, x, 1)));
    tensor_id sum = emit_binary(&s, OP_ElementWiseAdd, emit_unary(&s, OP_ElementWiseAbs, x), root);
    tensor_id magnitude = emit_unary(&s, OP_ElementWiseLog, sum);
    return emit_end_binary(&s, OP_ElementWiseMultiply, emit_unary(&s, OP_ElementWiseSign, x), magnitude);
}

/* log(x + √(x² − 1)) */
odlc_status lower_acosh(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id square = emit_binary(&s, OP_ElementWiseMultiply, x, x);
    tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot,
                                emit_binary(&s, OP_ElementWiseSubtract, square, emit_scalar(&s, x, 1)));
    return emit_end_unary(&s, OP_ElementWiseLog, emit_binary(&s, OP_ElementWiseAdd, x, root));
}

/* log((1 + x) / (1 − x)) / 2 */
odlc_status lower_atanh(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id one = emit_scalar(&s, x, 1);
    tensor_id above = emit_binary(&s, OP_ElementWiseAdd, one, x),
              below = emit_binary(&s, OP_ElementWiseSubtract, one, x);
    tensor_id log_ratio = emit_unary(&s, OP_ElementWiseLog, emit_binary(&s, OP_ElementWiseDivide, above, below));
    return emit_end_binary(&s, OP_ElementWiseMultiply, log_ratio, emit_scalar(&s, x, 0.5));
}

/* x / (1 + |x|) */
odlc_status lower_softsign(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id magnitude = emit_unary(&s, OP_ElementWiseAbs, x);
    return emit_end_binary(&s, OP_ElementWiseDivide, x,
                           emit_binary(&s, OP_ElementWiseAdd, magnitude, emit_scalar(&s, x, 1)));
}

/* x between −most and most: infinities would have no quotient below. */
static odlc_status bounded(struct lower *l, double most, tensor_id *x)
{
    TRY(lower_need(l, 0, "input", x));
    build_op(l->b, OP_ReluMinMax, fw_node_label(l->node));
    build_in(l->b, *x);
    build_float(l->b, PARAM_min_value, -most);
    build_float(l->b, PARAM_max_value, most);
    return build_end(l->b, NULL, x);
}

/* 2·Φ(z), where Gelu is z·Φ(z); of no meaning where z is 0. */
static tensor_id twice_distribution(struct emit *s, tensor_id z, tensor_id is_zero, tensor_id one)
{
    tensor_id divisor = emit_select(s, is_zero, one, z);
    tensor_id phi = emit_binary(s, OP_ElementWiseDivide, emit_unary(s, OP_Gelu, z), divisor);
    return emit_binary(s, OP_ElementWiseMultiply, phi, emit_scalar(s, z, 2));
}

/* 2·Φ(√2·x) − 1, and 0 at 0. Beyond ±6 erf is ±1 to every digit of a float. */
odlc_status lower_erf(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(bounded(l, 6, &x));
    tensor_id zero = emit_scalar(&s, x, 0), one = emit_scalar(&s, x, 1);
    tensor_id z = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, M_SQRT2));
    tensor_id is_zero = emit_binary(&s, OP_ElementWiseEqual, z, zero);
    tensor_id erf_z = emit_binary(&s, OP_ElementWiseSubtract, twice_distribution(&s, z, is_zero, one), one);
    return emit_end_select(&s, is_zero, zero, erf_z);
}

/* 2·Φ(−√2·x), and 1 at 0: 1 − erf x would leave nothing of small results. Beyond 11 they are 0 to every digit of a
 * float. */
odlc_status lower_erfc(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(bounded(l, 11, &x));
    tensor_id zero = emit_scalar(&s, x, 0), one = emit_scalar(&s, x, 1);
    tensor_id z = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, -M_SQRT2));
    tensor_id is_zero = emit_binary(&s, OP_ElementWiseEqual, z, zero);
    tensor_id twice = twice_distribution(&s, z, is_zero, one);
    return emit_end_select(&s, is_zero, one, twice);
}
