/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's gamma functions, by Lanczos' sum with g = 7 and nine coefficients (published by Godfrey):
 *
 *     Γ(z + 1) = √(2π) · tᶻ⁺¹ᐟ² · e⁻ᵗ · a(z), t = z + 7.5, for z ≥ -1/2,
 *
 * and below 1/2 by the reflection Γ(x) · Γ(1 - x) = π / sin(πx). All is computed in float32, so near zeros of the
 * results errors are absolute ones, of some millionths; but log Γ has a series around its zeros at 1 and 2. */
#include <math.h>

#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

#define BASE 0.99999999999980993227684700473478
static const double coefficients[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                      771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                      12.507343278686904814458936853,     -0.13857109526572011689554707,
                                      9.984369578019570859563e-6,         1.50563273514931155834e-7};
#define SHIFT 7.5 /* g + 1/2 */

/* What both functions are made of. */
struct gamma {
    tensor_id x, is_below; /* 1/2: then z is that of the reflection */
    tensor_id z, t, log_t;
    tensor_id sum, slope; /* a(z), and its derivative with the other sign */
    enum dtype to;        /* of the result */
};

static tensor_id plus(struct emit *s, tensor_id x, double y)
{
    return emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, x, y));
}

static tensor_id times(struct emit *s, tensor_id x, double y)
{
    return emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, y));
}

static odlc_status read_gamma(struct emit *s, struct gamma *g)
{
    TRY(lower_need(s->l, 0, "x", &g->x));
    g->to = build_type(s->l->b, g->x)->dtype;
    g->x = emit_cast(s, g->x, DT_FLOAT32);
    g->is_below = emit_binary(s, OP_ElementWiseLess, g->x, emit_scalar(s, g->x, 0.5));
    tensor_id mirrored = emit_unary(s, OP_ElementWiseNeg, g->x);
    g->z = emit_select(s, g->is_below, mirrored, plus(s, g->x, -1));
    g->t = plus(s, g->z, SHIFT);
    g->log_t = emit_unary(s, OP_ElementWiseLog, g->t);
    for (uint32_t i = 0; i < COUNT_OF(coefficients); i++) {
        tensor_id distance = plus(s, g->z, i + 1);
        tensor_id term = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, g->z, coefficients[i]), distance);
        tensor_id steep = emit_binary(s, OP_ElementWiseDivide, term, distance);
        g->sum = i ? emit_binary(s, OP_ElementWiseAdd, g->sum, term) : plus(s, term, BASE);
        g->slope = i ? emit_binary(s, OP_ElementWiseAdd, g->slope, steep) : steep;
    }
    return s->status;
}

static odlc_status give(struct emit *s, const struct gamma *g, tensor_id y)
{
    return emit_give(s, 0, emit_cast(s, y, g->to));
}

/* log |sin(πx)|: of the distance to the nearest whole number, which is exact. */
static tensor_id log_sine(struct emit *s, tensor_id x)
{
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, x);
    tensor_id part = emit_binary(s, OP_ElementWiseSubtract, size, emit_unary(s, OP_ElementWiseFloor, size));
    tensor_id rest = emit_binary(s, OP_ElementWiseSubtract, emit_scalar(s, x, 1), part);
    tensor_id near = emit_binary(s, OP_ElementWiseMinimum, part, rest);
    return emit_unary(s, OP_ElementWiseLog, emit_unary(s, OP_ElementWiseSin, times(s, near, M_PI)));
}

/* Coefficients of log Γ(2 + y), from y on: 1 - Euler's constant, then (ζ(k) - 1) · (-1)ᵏ / k. */
static const double series[] = {4.2278433510e-01,  3.2246703342e-01, -6.7352301053e-02, 2.0580808428e-02,
                                -7.3855510287e-03, 2.8905103307e-03, -1.1927539117e-03, 5.0966952474e-04,
                                -2.2315475845e-04, 9.9457512782e-05, -4.4926236738e-05, 2.0507212776e-05,
                                -9.4394882753e-06, 4.3748667899e-06};

/* Between 1/2 and 5/2, where zeros are: log Γ(2 + y), and log Γ(1 + y), which is less by log(1 + y). */
static tensor_id near_zeros(struct emit *s, tensor_id x)
{
    tensor_id beyond = emit_binary(s, OP_ElementWiseGreater, x, emit_scalar(s, x, 1.5));
    tensor_id y = emit_select(s, beyond, plus(s, x, -2), plus(s, x, -1));
    tensor_id sum = emit_scalar(s, x, series[COUNT_OF(series) - 1]);
    for (size_t i = COUNT_OF(series); i-- > 1;)
        sum = plus(s, emit_binary(s, OP_ElementWiseMultiply, sum, y), series[i - 1]);
    sum = emit_binary(s, OP_ElementWiseMultiply, sum, y);
    tensor_id less = emit_binary(s, OP_ElementWiseSubtract, sum, emit_unary(s, OP_ElementWiseLog, x));
    return emit_select(s, beyond, sum, less);
}

/* (z + 1/2 - t / log t) · log t + log √(2π) + log a(z), whose large terms are one product; infinite where x is. */
odlc_status tf_lgamma(struct lower *l)
{
    struct emit s = {.l = l};
    struct gamma g;
    TRY(read_gamma(&s, &g));
    tensor_id ratio = emit_binary(&s, OP_ElementWiseDivide, g.t, g.log_t);
    tensor_id head = emit_binary(&s, OP_ElementWiseSubtract, plus(&s, g.z, 0.5), ratio);
    tensor_id tail = plus(&s, emit_unary(&s, OP_ElementWiseLog, g.sum), 0.5 * log(2 * M_PI));
    tensor_id above = emit_binary(&s, OP_ElementWiseAdd, emit_binary(&s, OP_ElementWiseMultiply, head, g.log_t), tail);
    tensor_id others = emit_binary(&s, OP_ElementWiseAdd, log_sine(&s, g.x), above);
    tensor_id below = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, g.x, log(M_PI)), others);
    tensor_id is_far = emit_binary(&s, OP_ElementWiseGreater, g.x, emit_scalar(&s, g.x, 2.5));
    tensor_id y = emit_select(&s, g.is_below, below, emit_select(&s, is_far, above, near_zeros(&s, g.x)));
    tensor_id infinity = emit_scalar(&s, g.x, (double)INFINITY);
    tensor_id size = emit_unary(&s, OP_ElementWiseAbs, g.x);
    return give(&s, &g, emit_select(&s, emit_binary(&s, OP_ElementWiseEqual, size, infinity), infinity, y));
}

/* π / tan(πx), of the distance to the nearest whole number; none at whole numbers. */
static tensor_id reflected_slope(struct emit *s, tensor_id x)
{
    tensor_id near = emit_binary(s, OP_ElementWiseSubtract, x, emit_unary(s, OP_ElementWiseFloor, plus(s, x, 0.5)));
    tensor_id angle = times(s, near, M_PI);
    tensor_id cosine = times(s, emit_unary(s, OP_ElementWiseCos, angle), M_PI);
    tensor_id quotient = emit_binary(s, OP_ElementWiseDivide, cosine, emit_unary(s, OP_ElementWiseSin, angle));
    tensor_id whole = emit_binary(s, OP_ElementWiseEqual, near, emit_scalar(s, x, 0));
    return emit_select(s, whole, emit_scalar(s, x, (double)NAN), quotient);
}

/* The derivative of the logarithm: log t - slope / a(z) - g / t. */
odlc_status tf_digamma(struct lower *l)
{
    struct emit s = {.l = l};
    struct gamma g;
    TRY(read_gamma(&s, &g));
    tensor_id of_sum = emit_binary(&s, OP_ElementWiseDivide, g.slope, g.sum);
    tensor_id of_power = emit_binary(&s, OP_ElementWiseDivide, emit_scalar(&s, g.t, SHIFT - 0.5), g.t);
    tensor_id above = emit_binary(&s, OP_ElementWiseSubtract, g.log_t, of_sum);
    above = emit_binary(&s, OP_ElementWiseSubtract, above, of_power);
    tensor_id below = emit_binary(&s, OP_ElementWiseSubtract, above, reflected_slope(&s, g.x));
    return give(&s, &g, emit_select(&s, g.is_below, below, above));
}
