/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators that make complex numbers, and those that make real ones of them. */
#include <float.h>
#include <math.h>

#include "converters/tensorflow/lower/complex.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

odlc_status tf_complex(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    TRY(lower_need(l, 0, "real", &z.real));
    TRY(lower_need(l, 1, "imag", &z.imaginary));
    struct shape shape;
    if (!shape_broadcast(&build_type(l->b, z.real)->shape, &build_type(l->b, z.imaginary)->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the shapes of the parts do not broadcast");
    z.real = emit_broadcast(&s, z.real, &shape);
    z.imaginary = emit_broadcast(&s, z.imaginary, &shape);
    return give_complex(&s, z);
}

/* The part that the row says. */
odlc_status tf_complex_part(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    TRY(need_complex(l, 0, "input", &z));
    return emit_give(&s, 0, *l->variant == 'r' ? z.real : z.imaginary);
}

odlc_status tf_conj(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    if (!lower_takes_complex(l))
        return tf_identity(l);
    TRY(need_complex(l, 0, "input", &z));
    z.imaginary = emit_unary(&s, OP_ElementWiseNeg, z.imaginary);
    return give_complex(&s, z);
}

/* The larger part times √(1 + (smaller / larger)²): squares of the parts may be no numbers of float32. Of two infinite
 * parts there is no quotient, and a size is infinite where a part is, also beside one that is no number. */
odlc_status tf_complex_abs(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    TRY(need_complex(l, 0, "x", &z));
    const tensor_id real = emit_unary(&s, OP_ElementWiseAbs, z.real);
    const tensor_id imaginary = emit_unary(&s, OP_ElementWiseAbs, z.imaginary);
    const tensor_id larger = emit_binary(&s, OP_ElementWiseMaximum, real, imaginary);
    const tensor_id smaller = emit_binary(&s, OP_ElementWiseMinimum, real, imaginary);
    const tensor_id divisor = emit_binary(&s, OP_ElementWiseMaximum, larger, emit_scalar(&s, larger, FLT_MIN));
    const tensor_id ratio = emit_binary(&s, OP_ElementWiseDivide, smaller, divisor);
    const tensor_id square = emit_binary(&s, OP_ElementWiseMultiply, ratio, ratio);
    const tensor_id sum = emit_binary(&s, OP_ElementWiseAdd, square, emit_scalar(&s, square, 1));
    const tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot, sum);
    const tensor_id size = emit_binary(&s, OP_ElementWiseMultiply, larger, root);
    const tensor_id infinity = emit_scalar(&s, larger, (double)INFINITY);
    const tensor_id one = emit_binary(&s, OP_ElementWiseEqual, real, infinity);
    const tensor_id other = emit_binary(&s, OP_ElementWiseEqual, imaginary, infinity);
    return emit_end_select(&s, emit_binary(&s, OP_ElementWiseOr, one, other), infinity, size);
}

odlc_status tf_complex_angle(struct lower *l)
{
    struct complex_parts z;
    struct lower parts = *l;
    TRY(need_complex(l, 0, "input", &z));
    const tensor_id in[] = {z.imaginary, z.real};
    parts.in = in;
    parts.n_in = 2;
    return tf_atan2(&parts);
}

odlc_status tf_exp(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    if (!lower_takes_complex(l)) {
        tensor_id x;
        TRY(lower_need(l, 0, "x", &x));
        return emit_end_unary(&s, OP_ElementWiseExp, x);
    }
    TRY(need_complex(l, 0, "x", &z));
    tensor_id size = emit_unary(&s, OP_ElementWiseExp, z.real);
    tensor_id cosine = emit_unary(&s, OP_ElementWiseCos, z.imaginary);
    tensor_id sine = emit_unary(&s, OP_ElementWiseSin, z.imaginary);
    z.real = emit_binary(&s, OP_ElementWiseMultiply, size, cosine);
    z.imaginary = emit_binary(&s, OP_ElementWiseMultiply, size, sine);
    return give_complex(&s, z);
}
