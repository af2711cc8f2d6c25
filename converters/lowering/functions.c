#include "converters/lowering/functions.h"

#include <math.h>

#include "converters/lowering/steps.h"

/* π/2 − asin x */
odlc_status lower_acos(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id asin_x = step_unary(&s, OP_ElementWiseAsin, x);
    return steps_end_binary(&s, OP_ElementWiseSubtract, step_scalar(&s, x, M_PI_2), asin_x);
}

odlc_status lower_tan(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id sin_x = step_unary(&s, OP_ElementWiseSin, x);
    return steps_end_binary(&s, OP_ElementWiseDivide, sin_x, step_unary(&s, OP_ElementWiseCos, x));
}

/* (eˣ ± e⁻ˣ) / 2, the sign from the row. */
odlc_status lower_sinh_cosh(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id grows = step_unary(&s, OP_ElementWiseExp, x);
    tensor_id falls = step_unary(&s, OP_ElementWiseExp, step_unary(&s, OP_ElementWiseNeg, x));
    tensor_id both = step_binary(&s, l->op, grows, falls);
    return steps_end_binary(&s, OP_ElementWiseMultiply, both, step_scalar(&s, x, 0.5));
}

/* sign x · log(|x| + √(x² + 1)): of the absolute value, because the sum cancels for negative x. */
odlc_status lower_asinh(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id square = step_binary(&s, OP_ElementWiseMultiply, x, x);
    tensor_id root =
        step_unary(&s, OP_ElementWiseSquareRoot, step_binary(&s, OP_ElementWiseAdd, square, step_scalar(&s, x, 1)));
    tensor_id sum = step_binary(&s, OP_ElementWiseAdd, step_unary(&s, OP_ElementWiseAbs, x), root);
    tensor_id magnitude = step_unary(&s, OP_ElementWiseLog, sum);
    return steps_end_binary(&s, OP_ElementWiseMultiply, step_unary(&s, OP_ElementWiseSign, x), magnitude);
}

/* log(x + √(x² − 1)) */
odlc_status lower_acosh(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id square = step_binary(&s, OP_ElementWiseMultiply, x, x);
    tensor_id root = step_unary(&s, OP_ElementWiseSquareRoot,
                                step_binary(&s, OP_ElementWiseSubtract, square, step_scalar(&s, x, 1)));
    return steps_end_unary(&s, OP_ElementWiseLog, step_binary(&s, OP_ElementWiseAdd, x, root));
}

/* log((1 + x) / (1 − x)) / 2 */
odlc_status lower_atanh(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id one = step_scalar(&s, x, 1);
    tensor_id above = step_binary(&s, OP_ElementWiseAdd, one, x),
              below = step_binary(&s, OP_ElementWiseSubtract, one, x);
    tensor_id log_ratio = step_unary(&s, OP_ElementWiseLog, step_binary(&s, OP_ElementWiseDivide, above, below));
    return steps_end_binary(&s, OP_ElementWiseMultiply, log_ratio, step_scalar(&s, x, 0.5));
}

/* x / (1 + |x|) */
odlc_status lower_softsign(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "input", &x));
    tensor_id magnitude = step_unary(&s, OP_ElementWiseAbs, x);
    return steps_end_binary(&s, OP_ElementWiseDivide, x,
                            step_binary(&s, OP_ElementWiseAdd, magnitude, step_scalar(&s, x, 1)));
}

/* x between −most and most: infinities would have no quotient below. */
static odlc_status bounded(struct lower *l, double most, tensor_id *x)
{
    TRY(lower_need(l, 0, "input", x));
    build_op(l->b, OP_ReluMinMax, fw_node_label(l->node));
    build_in(l->b, *x);
    build_float(l->b, "min_value", -most);
    build_float(l->b, "max_value", most);
    return build_end(l->b, NULL, x);
}

/* 2·Φ(z), where Gelu is z·Φ(z); of no meaning where z is 0. */
static tensor_id twice_distribution(struct steps *s, tensor_id z, tensor_id is_zero, tensor_id one)
{
    tensor_id divisor = step_select(s, is_zero, one, z);
    tensor_id phi = step_binary(s, OP_ElementWiseDivide, step_unary(s, OP_Gelu, z), divisor);
    return step_binary(s, OP_ElementWiseMultiply, phi, step_scalar(s, z, 2));
}

/* 2·Φ(√2·x) − 1, and 0 at 0. Beyond ±6 erf is ±1 to every digit of a float. */
odlc_status lower_erf(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(bounded(l, 6, &x));
    tensor_id zero = step_scalar(&s, x, 0), one = step_scalar(&s, x, 1);
    tensor_id z = step_binary(&s, OP_ElementWiseMultiply, x, step_scalar(&s, x, M_SQRT2));
    tensor_id is_zero = step_binary(&s, OP_ElementWiseEqual, z, zero);
    tensor_id erf_z = step_binary(&s, OP_ElementWiseSubtract, twice_distribution(&s, z, is_zero, one), one);
    return steps_end_select(&s, is_zero, zero, erf_z);
}

/* 2·Φ(−√2·x), and 1 at 0: 1 − erf x would leave nothing of small results. Beyond 11 they are 0 to every digit of a
 * float. */
odlc_status lower_erfc(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(bounded(l, 11, &x));
    tensor_id zero = step_scalar(&s, x, 0), one = step_scalar(&s, x, 1);
    tensor_id z = step_binary(&s, OP_ElementWiseMultiply, x, step_scalar(&s, x, -M_SQRT2));
    tensor_id is_zero = step_binary(&s, OP_ElementWiseEqual, z, zero);
    tensor_id twice = twice_distribution(&s, z, is_zero, one);
    return steps_end_select(&s, is_zero, one, twice);
}
