/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that ONNX Runtime joins with an activation, a sum, or another order of axes. */
#include <string.h>

#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/onnx_shape.h"

enum { NEWEST_FORM = 13 }; /* of ONNX's operators, whose forms those of ONNX Runtime have */

/* ---- activations ---- */

/* The numbers of an activation: FusedConv lists them, FusedGemm has an attribute for each. */
static odlc_status activation_numbers(const struct lower *l, bool listed, const char *const names[2], double out[2])
{
    const float *list;
    uint32_t given, count = 0;
    while (count < 2 && names[count])
        count++;
    if (listed) {
        TRY(lower_attr_floats(l, "activation_params", &list, &given));
        if (given != count)
            return lower_invalid(l, "activation_params", NULL, "%u numbers instead of %u", given, count);
        for (uint32_t i = 0; i < count; i++)
            out[i] = (double)list[i];
        return ODLC_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = arena_printf(l->arena, "activation_%s", names[i]);
        if (!lower_has_attr(l, name))
            return lower_invalid(l, name, NULL, "%s is missing", name);
        TRY(lower_attr_float(l, name, 0, &out[i]));
    }
    return ODLC_OK;
}

enum form { BY_OP, BY_SLOPE, BY_ELU, BY_HARD_SIGMOID, BY_BOUNDS, BY_THRESHOLD, BY_SOFTSIGN };

static tensor_id activate(struct emit *s, enum form form, enum op_id op, const double number[2], tensor_id x)
{
    tensor_id limit, size;
    switch (form) {
    case BY_SLOPE:
        return emit_binary(s, op, x, emit_scalar(s, x, number[0]));
    case BY_ELU:
        return emit_elu(s, x, number[0]);
    case BY_HARD_SIGMOID:
        return emit_hard_sigmoid(s, x, number[0], number[1]);
    case BY_BOUNDS:
        return emit_clamp(s, x, number[0], number[1]);
    case BY_THRESHOLD:
        limit = emit_binary(s, OP_ElementWiseGreater, x, emit_scalar(s, x, number[0]));
        return emit_select(s, limit, x, emit_scalar(s, x, 0));
    case BY_SOFTSIGN:
        size = emit_unary(s, OP_ElementWiseAbs, x);
        return emit_binary(s, op, x, emit_binary(s, OP_ElementWiseAdd, size, emit_scalar(s, x, 1)));
    default:
        return emit_unary(s, op, x);
    }
}

enum { OF_CONV = 1, OF_GEMM = 2 };

static odlc_status fused_activation(struct emit *s, unsigned kind, tensor_id *x)
{
    static const struct {
        const char *name;
        unsigned kinds; /* of layers that it can be joined with */
        enum form form;
        enum op_id op;
        const char *numbers[2];
    } known[] = {{"Relu", OF_CONV | OF_GEMM, BY_OP, OP_Relu, {NULL}},
                 {"Tanh", OF_CONV | OF_GEMM, BY_OP, OP_Tanh, {NULL}},
                 {"Sigmoid", OF_CONV | OF_GEMM, BY_OP, OP_Sigmoid, {NULL}},
                 {"LeakyRelu", OF_CONV | OF_GEMM, BY_SLOPE, OP_Prelu, {"alpha"}},
                 {"Clip", OF_CONV, BY_BOUNDS, OP_ReluMinMax, {"min", "max"}},
                 {"HardSigmoid", OF_CONV | OF_GEMM, BY_HARD_SIGMOID, OP_HardSigmoid, {"alpha", "beta"}},
                 {"HardSwish", OF_CONV, BY_OP, OP_HardSwish, {NULL}},
                 {"Elu", OF_GEMM, BY_ELU, OP_Elu, {"alpha"}},
                 {"Softplus", OF_GEMM, BY_OP, OP_ElementWiseSoftplus, {NULL}},
                 {"Softsign", OF_GEMM, BY_SOFTSIGN, OP_ElementWiseDivide, {NULL}},
                 {"ThresholdedRelu", OF_GEMM, BY_THRESHOLD, OP_ElementWiseSelect, {"alpha"}}};
    const struct lower *l = s->l;
    const char *name;
    double number[2] = {0};
    if (kind == OF_CONV && !lower_has_attr(l, "activation"))
        return ODLC_OK;
    TRY(lower_attr_string(l, "activation", "", &name));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if ((known[i].kinds & kind) && strcmp(known[i].name, name) == 0) {
            TRY(activation_numbers(l, kind == OF_CONV, known[i].numbers, number));
            *x = activate(s, known[i].form, known[i].op, number, *x);
            return s->status;
        }
    return lower_unsupported(l, "activation", NULL, "the activation \"%s\" is not supported", name);
}

/* ---- operators ---- */

odlc_status lower_fused_gemm(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(lower_need(l, 0, "A", &x));
    TRY(lower_anew(l, lower_gemm, NEWEST_FORM, x, &y));
    TRY(fused_activation(&s, OF_GEMM, &y));
    return emit_give(&s, 0, y);
}

/* The activation of a convolution, to which Z may be added. */
odlc_status lower_fused_conv(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y, sum = lower_in(l, 3);
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_anew(l, lower_conv, NEWEST_FORM, x, &y));
    const struct shape *result = &build_type(l->b, y)->shape;
    if (sum != NO_TENSOR && !shape_equal(&build_type(l->b, sum)->shape, result))
        return lower_invalid(l, NULL, NULL, "Z is %s instead of %s",
                             shape_text(l->diags->arena, &build_type(l->b, sum)->shape),
                             shape_text(l->diags->arena, result));
    if (sum != NO_TENSOR)
        y = emit_binary(&s, OP_ElementWiseAdd, y, sum);
    TRY(s.status);
    TRY(fused_activation(&s, OF_CONV, &y));
    return emit_give(&s, 0, y);
}

/* Of an operator whose image is channels-last, while its weights and attributes are those of ONNX's. */
static odlc_status channels_last(struct lower *l, lower_fn *fn)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(lower_need(l, 0, "X", &x));
    TRY(build_to_channels_first(l->b, x, step_name(l, "nchw"), &x));
    TRY(lower_anew(l, fn, NEWEST_FORM, x, &y));
    TRY(build_to_channels_last(l->b, y, &y));
    return emit_give(&s, 0, y);
}

odlc_status lower_nhwc_conv(struct lower *l)
{
    return channels_last(l, lower_conv);
}

odlc_status lower_nhwc_max_pool(struct lower *l)
{
    return channels_last(l, lower_max_pool);
}
