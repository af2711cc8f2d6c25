/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX activations that are gated by themselves: the Gelu and Swish families. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- Gelu ---- */

/* x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) */
static odlc_status gelu_by_tanh(struct lower *l, tensor_id x)
{
    struct emit s = {.l = l};
    tensor_id cube = emit_binary(&s, OP_ElementWiseMultiply, emit_binary(&s, OP_ElementWiseMultiply, x, x), x);
    tensor_id inner = emit_binary(&s, OP_ElementWiseAdd, x,
                                  emit_binary(&s, OP_ElementWiseMultiply, cube, emit_scalar(&s, x, 0.044715)));
    tensor_id tanh =
        emit_unary(&s, OP_Tanh, emit_binary(&s, OP_ElementWiseMultiply, inner, emit_scalar(&s, x, sqrt(M_2_PI))));
    tensor_id gate = emit_binary(&s, OP_ElementWiseAdd, tanh, emit_scalar(&s, x, 1));
    tensor_id half = emit_binary(&s, OP_ElementWiseMultiply, x, emit_scalar(&s, x, 0.5));
    return emit_end_binary(&s, OP_ElementWiseMultiply, half, gate);
}

odlc_status lower_gelu(struct lower *l)
{
    tensor_id x;
    const char *approximate;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_string(l, "approximate", "none", &approximate));
    if (strcmp(approximate, "none") == 0)
        return emit_end_unary(&(struct emit){.l = l}, OP_Gelu, x);
    if (strcmp(approximate, "tanh") == 0)
        return gelu_by_tanh(l, x);
    return lower_invalid(l, "approximate", "it is \"none\" or \"tanh\"", "approximate \"%s\" is not known",
                         approximate);
}

/* Gelu by its approximation, of X and a bias that may be there. */
odlc_status lower_fast_gelu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    if (lower_in(l, 1) != NO_TENSOR)
        TRY(contrib_add_bias(&s, x, 1, &x));
    return gelu_by_tanh(l, x);
}

odlc_status lower_bias_gelu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "A", &x));
    TRY(contrib_add_bias(&s, x, 1, &x));
    return emit_end_unary(&s, OP_Gelu, x);
}

/* The first half of the last axis, gated by Gelu of the second. */
odlc_status lower_bias_split_gelu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    const struct shape *shape = &build_type(l->b, x)->shape;
    if (shape->rank != 3 || shape->dims[2] % 2 != 0)
        return lower_invalid(l, NULL, NULL, "an input %s cannot be halved along a third axis",
                             shape_text(l->diags->arena, shape));
    int64_t half = shape->dims[2] / 2;
    TRY(contrib_add_bias(&s, x, 1, &x));
    tensor_id left = emit_slice(&s, x, 2, 0, half), right = emit_slice(&s, x, 2, half, 2 * half);
    return emit_end_binary(&s, OP_ElementWiseMultiply, left, emit_unary(&s, OP_Gelu, right));
}

/* ---- Swish ---- */

/* sigmoid(alpha · x), for x · sigmoid(alpha · x). */
static odlc_status swish_gate(struct emit *s, double absent, tensor_id *x, tensor_id *gate)
{
    double alpha;
    TRY(lower_need(s->l, 0, "X", x));
    TRY(lower_attr_float(s->l, "alpha", absent, &alpha));
    tensor_id scaled = alpha == 1 ? *x : emit_binary(s, OP_ElementWiseMultiply, *x, emit_scalar(s, *x, alpha));
    *gate = emit_unary(s, OP_Sigmoid, scaled);
    return s->status;
}

odlc_status lower_swish(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, gate;
    TRY(swish_gate(&s, 1, &x, &gate));
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, gate);
}

/* swish a · b */
odlc_status lower_swiglu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id a, gate, b;
    TRY(lower_need(l, 1, "B", &b));
    TRY(swish_gate(&s, 1, &a, &gate));
    if (!shape_equal(&build_type(l->b, a)->shape, &build_type(l->b, b)->shape))
        return lower_invalid(l, NULL, NULL, "the operands %s and %s differ in shape",
                             shape_text(l->diags->arena, &build_type(l->b, a)->shape),
                             shape_text(l->diags->arena, &build_type(l->b, b)->shape));
    return emit_end_binary(&s, OP_ElementWiseMultiply, emit_binary(&s, OP_ElementWiseMultiply, a, gate), b);
}

/* A Swish that is near Gelu. */
odlc_status lower_quick_gelu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, gate;
    TRY(swish_gate(&s, (double)1.702f, &x, &gate));
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, gate);
}
