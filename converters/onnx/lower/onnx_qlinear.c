/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of ONNX Runtime, and QLinearConv and QLinearMatMul, on integers with known scales: DequantizeLinear, the
 * operator of floats, QuantizeLinear. So what is said of these (onnx_quantize.c) holds here, and the passes make
 * fixed-point ops of them. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- steps ---- */

enum { FORM = 13 }; /* the versions of the operators of floats whose forms the quantized ones have */

/* A node of another operator, on tensors of this one. */
struct step {
    lower_fn *fn;
    enum op_id op;
    const char *variant, *out; /* out: the result's name */
    int64_t version;
    const struct fw_attr *attrs;
    uint32_t n_attrs, n_in;
    const tensor_id *in;
};

static odlc_status run_on_reals(struct lower *l, const struct step *step, tensor_id *out)
{
    struct fw_node node = *l->node;
    struct lower sub = *l;
    const char **names = arena_array(l->arena, const char *, step->n_in);
    for (uint32_t i = 0; i < step->n_in; i++)
        names[i] = step->in[i] == NO_TENSOR ? "" : graph_tensor(l->b->graph, step->in[i])->name;
    node.inputs = names;
    node.n_inputs = step->n_in;
    node.outputs = &step->out;
    node.n_outputs = 1;
    node.attrs = step->attrs;
    node.n_attrs = step->n_attrs;
    sub.node = &node;
    sub.version = step->version;
    sub.op = step->op;
    sub.variant = step->variant;
    sub.in = step->in;
    for (sub.n_in = step->n_in; sub.n_in > 0 && step->in[sub.n_in - 1] == NO_TENSOR; sub.n_in--)
        ;
    sub.out = out;
    sub.n_out = 1;
    return step->fn(&sub);
}

odlc_status qlinear_real(struct lower *l, const struct qlinear_operand *q, tensor_id *out)
{
    const struct fw_attr axis = {.name = "axis", .kind = FW_INT, .i = q->axis};
    const tensor_id in[] = {q->x, q->scale, q->zero};
    const struct tensor *x = graph_tensor(l->b->graph, q->x);
    const char *name = build_is_const(l->b, q->x) ? tensor_wanted_name(x) : step_name(l, "dequantized");
    const struct step step = {.fn = lower_dequantize_linear,
                              .out = name,
                              .version = FORM,
                              .attrs = &axis,
                              .n_attrs = 1,
                              .n_in = COUNT_OF(in),
                              .in = in};
    return run_on_reals(l, &step, out);
}

odlc_status qlinear_operand(struct lower *l, const uint32_t at[3], const char *what, tensor_id *out)
{
    struct qlinear_operand q = {.axis = 0};
    TRY(lower_need(l, at[0], what, &q.x));
    TRY(lower_need(l, at[1], arena_printf(l->diags->arena, "the scale of %s", what), &q.scale));
    q.zero = lower_in(l, at[2]);
    return qlinear_real(l, &q, out);
}

/* A zero point of the same type, where the model leaves it out. */
static tensor_id no_zero(struct lower *l, enum dtype dtype)
{
    const struct shape one = {.rank = 0};
    const struct view view = view_splat_int(l->arena, dtype, &one, 0);
    return graph_add_constant(l->b->graph, step_name(l, "zero"), dtype, &view);
}

odlc_status qlinear_give(struct lower *l, tensor_id real, uint32_t scale, uint32_t zero, enum dtype like)
{
    tensor_id in[3] = {real};
    TRY(lower_need(l, scale, "the scale of the result", &in[1]));
    in[2] = lower_in(l, zero);
    if (in[2] == NO_TENSOR)
        in[2] = no_zero(l, like);
    const char *name = lower_out_name(l, 0);
    const struct step step = {
        .fn = lower_quantize_linear, .out = name, .version = FORM, .n_in = COUNT_OF(in), .in = in};
    if (graph_tensor(l->b->graph, real)->kind == TENSOR_NATIVE && name)
        graph_tensor(l->b->graph, real)->wanted = name;
    return run_on_reals(l, &step, &l->out[0]);
}

static odlc_status as_float(struct lower *l, lower_fn *fn, const char *name, const tensor_id *in, uint32_t n_in,
                            tensor_id *out)
{
    const struct step step = {.fn = fn,
                              .op = l->op,
                              .variant = "",
                              .out = name,
                              .version = FORM,
                              .attrs = l->node->attrs,
                              .n_attrs = l->node->n_attrs,
                              .n_in = n_in,
                              .in = in};
    return run_on_reals(l, &step, out);
}

odlc_status qlinear_step(struct lower *l, lower_fn *fn, const tensor_id *in, uint32_t n_in, tensor_id *out)
{
    return as_float(l, fn, step_name(l, "real"), in, n_in, out);
}

odlc_status qlinear_end(struct lower *l, lower_fn *fn, const tensor_id *in, uint32_t n_in)
{
    return as_float(l, fn, lower_out_name(l, 0), in, n_in, &l->out[0]);
}

/* ---- operators of one or two tensors ---- */

/* A slope that is an integer with a scale, too: ±1, or 0. */
static odlc_status leaky_relu(struct lower *l)
{
    struct emit s = {.l = l};
    const struct shape one = SHAPE(1);
    double alpha;
    int8_t *sign = arena_new(l->arena, int8_t);
    struct qlinear_operand slope = {.zero = NO_TENSOR};
    tensor_id in[2] = {l->in[0]};
    TRY(lower_attr_float(l, "alpha", 0.01, &alpha));
    *sign = (int8_t)((alpha > 0) - (alpha < 0));
    const struct view view = view_of(sign, DT_INT8, &one);
    slope.x = graph_add_constant(l->b->graph, step_name(l, "slope"), DT_INT8, &view);
    slope.scale = emit_scalar(&s, in[0], *sign ? alpha * *sign : 1);
    TRY(s.status);
    TRY(qlinear_real(l, &slope, &in[1]));
    const char *name = lower_out_name(l, 0);
    const struct step step = {
        .fn = lower_prelu, .op = OP_Prelu, .variant = "", .out = name, .version = FORM, .n_in = COUNT_OF(in), .in = in};
    return run_on_reals(l, &step, &l->out[0]);
}

/* The inputs from `first` on are `operands` tensors, each with its scale and zero point, then those of the result. */
static odlc_status by_reals(struct lower *l, lower_fn *fn, const char *variant, uint32_t first, uint32_t operands)
{
    tensor_id in[3] = {lower_in(l, 0)}, real;
    bool channels_last;
    int64_t version;
    TRY(contrib_flag(l, "channels_last", false, &channels_last));
    TRY(lower_attr_int(l, "opset", FORM, &version));
    const uint32_t end = first + operands, scale = first + 3 * operands;
    for (uint32_t i = first, at = first; i < end; i++, at += 3)
        TRY(qlinear_operand(l, (uint32_t[]){at, at + 1, at + 2}, i == first ? "A" : "B", &in[i]));
    if (channels_last)
        TRY(build_to_channels_first(l->b, in[0], step_name(l, "nchw"), &in[0]));
    const struct step step = {.fn = fn,
                              .op = l->op,
                              .variant = variant,
                              .out = step_name(l, "real"),
                              .version = version,
                              .attrs = l->node->attrs,
                              .n_attrs = l->node->n_attrs,
                              .n_in = end,
                              .in = in};
    TRY(run_on_reals(l, &step, &real));
    if (channels_last)
        TRY(build_to_channels_last(l->b, real, &real));
    return qlinear_give(l, real, scale, scale + 1, build_type(l->b, l->in[first])->dtype);
}

odlc_status lower_qlinear_binary(struct lower *l)
{
    return by_reals(l, lower_binary, "", 0, 2);
}

odlc_status lower_qlinear_unary(struct lower *l)
{
    return by_reals(l, lower_unary, "", 0, 1);
}

odlc_status lower_qlinear_leaky_relu(struct lower *l)
{
    return by_reals(l, leaky_relu, "", 0, 1);
}

odlc_status lower_qlinear_average_pool(struct lower *l)
{
    return by_reals(l, lower_average_pool, "", 0, 1);
}

odlc_status lower_qlinear_global_average_pool(struct lower *l)
{
    return by_reals(l, lower_global_pool, "average", 0, 1);
}

odlc_status lower_qlinear_reduce(struct lower *l)
{
    return by_reals(l, lower_reduce, "", 0, 1);
}

odlc_status lower_qlinear_softmax(struct lower *l)
{
    if (!lower_has_attr(l, "opset"))
        return lower_invalid(l, "opset", NULL, "nothing says which version of Softmax is meant");
    return by_reals(l, lower_softmax, "", 0, 1);
}

odlc_status lower_qlinear_where(struct lower *l)
{
    tensor_id condition;
    TRY(lower_need(l, 0, "condition", &condition));
    return by_reals(l, lower_where, "", 1, 2);
}

/* Y_scale, Y_zero_point, then a tensor, its scale and its zero point for each input. */
odlc_status lower_qlinear_concat(struct lower *l)
{
    const uint32_t count = l->n_in < 2 ? 0 : (l->n_in - 2 + 2) / 3;
    tensor_id *in = arena_array(l->arena, tensor_id, count + 1), real;
    if (count == 0)
        return lower_invalid(l, NULL, NULL, "there is nothing to join");
    for (uint32_t i = 0; i < count; i++)
        TRY(qlinear_operand(l, (uint32_t[]){2 + 3 * i, 3 + 3 * i, 4 + 3 * i}, "an input", &in[i]));
    TRY(qlinear_step(l, lower_concat, in, count, &real));
    return qlinear_give(l, real, 0, 1, build_type(l->b, l->in[2])->dtype);
}

/* alpha · A' · B' + C, where C has the scale of the product. */
odlc_status lower_qgemm(struct lower *l)
{
    struct emit s = {.l = l};
    struct qlinear_operand b = {.axis = 1}, c = {.axis = 0, .zero = NO_TENSOR};
    tensor_id in[3] = {NO_TENSOR, NO_TENSOR, NO_TENSOR}, a_scale, real;
    double alpha;
    int64_t transpose;
    TRY(qlinear_operand(l, (uint32_t[]){0, 1, 2}, "A", &in[0]));
    TRY(lower_need(l, 1, "a_scale", &a_scale));
    TRY(lower_need(l, 3, "B", &b.x));
    TRY(lower_need(l, 4, "b_scale", &b.scale));
    b.zero = lower_in(l, 5);
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    TRY(lower_attr_int(l, "transB", 0, &transpose));
    b.axis = !transpose;
    if (alpha != 1)
        b.scale = emit_binary(&s, OP_ElementWiseMultiply, b.scale, emit_scalar(&s, b.scale, alpha));
    TRY(s.status);
    TRY(qlinear_real(l, &b, &in[1]));
    c.x = lower_in(l, 6);
    if (c.x != NO_TENSOR) {
        const uint32_t rank = build_rank(l->b, c.x);
        c.axis = rank > 0 ? rank - 1 : 0;
        c.scale = emit_binary(&s, OP_ElementWiseMultiply, b.scale, a_scale);
        TRY(s.status);
        TRY(qlinear_real(l, &c, &in[2]));
    }
    struct fw_attr attrs[2] = {{.name = "transA", .kind = FW_INT}, {.name = "transB", .kind = FW_INT, .i = transpose}};
    TRY(lower_attr_int(l, "transA", 0, &attrs[0].i));
    const bool quantized = lower_in(l, 7) != NO_TENSOR;
    const char *name = quantized ? step_name(l, "real") : lower_out_name(l, 0);
    const struct step step = {.fn = lower_gemm,
                              .op = OP_FullyConnected,
                              .variant = "",
                              .out = name,
                              .version = FORM,
                              .attrs = attrs,
                              .n_attrs = COUNT_OF(attrs),
                              .n_in = 3,
                              .in = in};
    TRY(run_on_reals(l, &step, quantized ? &real : &l->out[0]));
    return quantized ? qlinear_give(l, real, 7, 8, build_type(l->b, l->in[0])->dtype) : ODLC_OK;
}
