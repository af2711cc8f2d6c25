/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's modified Bessel functions of the first kind, of order 0 and 1, scaled by e⁻ˣ or not:
 *
 *     e⁻ˣ I₀(x) = p(x/4 - 1), e⁻ˣ I₁(x) = x · p(x/4 - 1), for x in [0, 8];
 *     e⁻ˣ Iₙ(x) = p(16/x - 1) / √x, above;
 *
 * with polynomials p that interpolate at Chebyshev's nodes, computed with 40 digits. In float32 that is within 5e-7 of
 * the value. I₀ is even, I₁ odd. */
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

enum { NEAR_TERMS = 19, FAR_TERMS = 8 };

/* Coefficients from that of degree 0 on, by order. */
static const double near_terms[2][NEAR_TERMS] = {
    {0.207001921224, -0.113004336109, 0.094515631894, -0.089042889187, 0.0873432153256, -0.0849730495901,
     0.0792787441867, -0.0694645149311, 0.056749110844, -0.0433137936791, 0.0302974085324, -0.0188651259884,
     0.0116616340636, -0.00800984960667, 0.00406265364667, -0.000759696728412, 0.000469624873119, -0.000850852697666,
     0.000335946138823},
    {0.0446877098756, -0.0611243392222, 0.0680576003201, -0.0684825347892, 0.0637673791193, -0.0552812903988,
     0.0446750036354, -0.0336614238908, 0.0236825937173, -0.0156138296376, 0.00959863076442, -0.00542831465539,
     0.00296905901775, -0.00169763037132, 0.000799466383692, -0.000203178355124, 0.00010047992148, -0.000123552777983,
     4.59830515278e-5}};
static const double far_terms[2][FAR_TERMS] = {{0.402176509405, 0.00336055203139, 0.000136217407835, 1.11415421896e-5,
                                                1.47547563562e-6, 3.03833090867e-7, 1.09102329411e-7, 3.36358022352e-8},
                                               {0.389398459074, -0.00974957724132, -0.000219237385356,
                                                -1.50370471438e-5, -1.82500693871e-6, -3.54819541653e-7,
                                                -1.2318419674e-7, -3.78560247933e-8}};

static tensor_id polynomial(struct emit *s, tensor_id x, const double *terms, uint32_t count)
{
    tensor_id sum = emit_scalar(s, x, terms[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;) {
        tensor_id product = emit_binary(s, OP_ElementWiseMultiply, sum, x);
        sum = emit_binary(s, OP_ElementWiseAdd, product, emit_scalar(s, x, terms[i]));
    }
    return sum;
}

/* Of x, which is not below 0. */
static tensor_id scaled_bessel(struct emit *s, tensor_id x, bool first)
{
    tensor_id one = emit_scalar(s, x, 1);
    tensor_id quarter = emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, 0.25));
    tensor_id near = emit_binary(s, OP_ElementWiseSubtract, quarter, one);
    near = polynomial(s, near, near_terms[first], NEAR_TERMS);
    if (first)
        near = emit_binary(s, OP_ElementWiseMultiply, near, x);
    tensor_id part = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, x, 16), x);
    tensor_id far = emit_binary(s, OP_ElementWiseSubtract, part, one);
    far = polynomial(s, far, far_terms[first], FAR_TERMS);
    far = emit_binary(s, OP_ElementWiseDivide, far, emit_unary(s, OP_ElementWiseSquareRoot, x));
    tensor_id is_far = emit_binary(s, OP_ElementWiseGreater, x, emit_scalar(s, x, 8));
    return emit_select(s, is_far, far, near);
}

/* The row's variant: the order, and "e" for the scaled function. */
odlc_status tf_bessel(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    bool first = l->variant[0] == '1', is_scaled = l->variant[1] == 'e';
    TRY(lower_need(l, 0, "x", &x));
    enum dtype to = build_type(l->b, x)->dtype;
    x = emit_cast(&s, x, DT_FLOAT32);
    tensor_id size = emit_unary(&s, OP_ElementWiseAbs, x), y = scaled_bessel(&s, size, first);
    if (!is_scaled)
        y = emit_binary(&s, OP_ElementWiseMultiply, y, emit_unary(&s, OP_ElementWiseExp, size));
    if (first)
        y = emit_binary(&s, OP_ElementWiseMultiply, y, emit_unary(&s, OP_ElementWiseSign, x));
    return emit_give(&s, 0, emit_cast(&s, y, to));
}
