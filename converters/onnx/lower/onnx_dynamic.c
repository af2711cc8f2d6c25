/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of ONNX Runtime that quantize while they run, or end in floats: DynamicQuantizeMatMul and
 * MatMulIntegerToFloat, as the operators of ONNX that they join (pass_float_dynamic.c looks for these), and
 * DynamicQuantizeLSTM, as an LSTM of floats. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- products ---- */

/* float(sum) · (a_scale · b_scale) [+ bias in input i]. */
static odlc_status scaled(struct lower *l, tensor_id sum, tensor_id a_scale, tensor_id b_scale, uint32_t i,
                          tensor_id *out)
{
    struct emit s = {.l = l};
    const enum dtype dtype = build_type(l->b, a_scale)->dtype;
    tensor_id scale = emit_binary(&s, OP_ElementWiseMultiply, a_scale, b_scale);
    *out = emit_binary(&s, OP_ElementWiseMultiply, emit_cast(&s, sum, dtype), scale);
    TRY(s.status);
    return lower_in(l, i) == NO_TENSOR ? ODLC_OK : contrib_add_bias(&s, *out, i, out);
}

/* Scales have one dtype, that of floats. */
static odlc_status need_scale(const struct lower *l, uint32_t i, const char *what, enum dtype dtype, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    const struct type *type = build_type(l->b, *out);
    if (type->dtype != dtype || type->shape.rank > 1)
        return lower_invalid(l, NULL, NULL, "%s is %s%s", what, dtype_info(type->dtype)->name,
                             shape_text(l->diags->arena, &type->shape));
    return ODLC_OK;
}

odlc_status contrib_integer_product(struct lower *l, const struct integer_product *at, tensor_id *out)
{
    tensor_id in[4] = {NO_TENSOR}, a_scale, b_scale, sum;
    TRY(lower_need(l, 0, "A", &in[0]));
    TRY(lower_need(l, 1, "B", &in[1]));
    TRY(need_scale(l, at->a_scale, "a_scale", DT_FLOAT32, &a_scale));
    TRY(need_scale(l, at->b_scale, "b_scale", DT_FLOAT32, &b_scale));
    if (shape_count(&build_type(l->b, a_scale)->shape) != 1)
        return lower_unsupported(l, NULL, NULL, "a_scale has several elements");
    in[2] = lower_in(l, at->a_zero);
    in[3] = lower_in(l, at->b_zero);
    TRY(qlinear_step(l, lower_matmul_integer, in, COUNT_OF(in), &sum));
    return scaled(l, sum, a_scale, b_scale, at->bias, out);
}

odlc_status lower_matmul_integer_to_float(struct lower *l)
{
    static const struct integer_product at = {.a_scale = 2, .b_scale = 3, .a_zero = 4, .b_zero = 5, .bias = 6};
    struct emit s = {.l = l};
    tensor_id y;
    TRY(contrib_integer_product(l, &at, &y));
    return emit_give(&s, 0, y);
}

/* The integers, the scale and the zero point of a tensor of floats. */
static odlc_status quantize_now(struct lower *l, tensor_id x, tensor_id out[3])
{
    const char *const names[] = {"", "", ""};
    struct fw_node node = *l->node;
    struct lower sub = *l;
    node.outputs = names;
    node.n_outputs = COUNT_OF(names);
    sub.node = &node;
    sub.in = &x;
    sub.n_in = 1;
    sub.out = out;
    sub.n_out = COUNT_OF(names);
    return lower_dynamic_quantize_linear(&sub);
}

odlc_status lower_dynamic_quantize_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id a, b, b_scale, quantized[3], sum, y;
    TRY(lower_need(l, 0, "A", &a));
    TRY(lower_need(l, 1, "B", &b));
    if (build_type(l->b, a)->dtype != DT_FLOAT32)
        return lower_invalid(l, NULL, NULL, "A is of type %s", dtype_info(build_type(l->b, a)->dtype)->name);
    TRY(need_scale(l, 2, "b_scale", DT_FLOAT32, &b_scale));
    TRY(quantize_now(l, a, quantized));
    const tensor_id in[] = {quantized[0], b, quantized[2], lower_in(l, 3)};
    TRY(qlinear_step(l, lower_matmul_integer, in, COUNT_OF(in), &sum));
    TRY(scaled(l, sum, quantized[1], b_scale, 4, &y));
    return emit_give(&s, 0, y);
}

/* ---- DynamicQuantizeLSTM ---- */

/* A scale or zero point of weights [directions, inputs, 4 · hidden]: one for each direction, or for each column of it.
 */
static odlc_status along(struct emit *s, uint32_t i, const char *what, const struct shape *weights, tensor_id *out)
{
    const struct lower *l = s->l;
    struct shape to = SHAPE(weights->dims[0], 1, 1);
    TRY(lower_need(l, i, what, out));
    const struct shape *from = &build_type(l->b, *out)->shape;
    if (from->rank == 2 && from->dims[0] == weights->dims[0] && from->dims[1] == weights->dims[2])
        to.dims[2] = weights->dims[2];
    else if (from->rank != 1 || from->dims[0] != weights->dims[0])
        return lower_invalid(l, NULL, NULL, "%s is %s for weights %s", what, shape_text(l->diags->arena, from),
                             shape_text(l->diags->arena, weights));
    *out = emit_reshape(s, emit_cast(s, *out, DT_FLOAT32), &to);
    return s->status;
}

/* One number for each row of all directions, of one or more of each direction. */
static double *by_row(const struct lower *l, tensor_id numbers, int64_t directions, int64_t rows)
{
    uint64_t count;
    const double *given = build_const_as_floats(l->b, numbers, &count);
    double *all = arena_array(l->arena, double, directions *rows);
    for (int64_t i = 0; i < directions * rows; i++)
        all[i] = given[(int64_t)count == directions ? i / rows : i];
    return all;
}

/* Known bytes, as rows [directions · 4 · hidden, inputs] that are still to be scaled, and can be stored as they are. */
static tensor_id fixed_rows(struct lower *l, tensor_id w, tensor_id scale, tensor_id zero)
{
    const struct tensor t = *graph_tensor(l->b->graph, w);
    const int64_t directions = t.type->shape.dims[0], in = t.type->shape.dims[1], rows = t.type->shape.dims[2];
    const struct shape shape = SHAPE(directions * rows, in);
    const uint8_t *given = view_load(l->scratch, t.view, t.type->dtype);
    uint8_t *bytes = arena_array(l->arena, uint8_t, shape_count(&shape));
    for (int64_t d = 0; d < directions; d++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t k = 0; k < rows; k++)
                bytes[(d * rows + k) * in + i] = given[(d * in + i) * rows + k];
    struct view view = view_of(bytes, t.type->dtype, &shape);
    view.scale = by_row(l, scale, directions, rows);
    view.zero = by_row(l, zero, directions, rows);
    view.scale_axis = 0;
    return graph_add_constant(l->b->graph, t.name, DT_FLOAT32, &view);
}

/* Weights in input i as ONNX's LSTM has them: floats [directions, 4 · hidden, inputs], or the rows of all directions.
 */
static odlc_status lstm_weights(struct lower *l, uint32_t i, uint32_t scale_at, const char *what, tensor_id *out)
{
    struct emit s = {.l = l};
    const struct perm swap = PERM(0, 2, 1);
    tensor_id w, scale, zero;
    TRY(lower_need(l, i, what, &w));
    const struct type type = *build_type(l->b, w);
    if (type.shape.rank != 3 || (type.dtype != DT_INT8 && type.dtype != DT_UINT8))
        return lower_invalid(l, NULL, NULL, "%s is %s%s, not of three axes of bytes", what,
                             dtype_info(type.dtype)->name, shape_text(l->diags->arena, &type.shape));
    TRY(along(&s, scale_at, "a scale", &type.shape, &scale));
    TRY(along(&s, scale_at + 1, "a zero point", &type.shape, &zero));
    if (build_is_const(l->b, w) && build_is_const(l->b, scale) && build_is_const(l->b, zero)) {
        *out = fixed_rows(l, w, scale, zero);
        return ODLC_OK;
    }
    w = emit_cast(&s, w, DT_FLOAT32);
    w = emit_binary(&s, OP_ElementWiseSubtract, w, zero);
    w = emit_binary(&s, OP_ElementWiseMultiply, w, scale);
    *out = emit_transpose(&s, w, &swap);
    return s.status;
}

odlc_status lower_dynamic_quantize_lstm(struct lower *l)
{
    enum { OWN = 8, FORM = 14 }; /* inputs of LSTM, and the version that has its form */
    const char *names[OWN];
    tensor_id in[OWN];
    struct fw_node node = *l->node;
    struct lower sub = *l;
    for (uint32_t i = 0; i < OWN; i++) {
        in[i] = lower_in(l, i);
        names[i] = i < l->node->n_inputs ? l->node->inputs[i] : "";
    }
    TRY(lstm_weights(l, 1, 8, "W", &in[1]));
    TRY(lstm_weights(l, 2, 10, "R", &in[2]));
    node.inputs = names;
    node.n_inputs = OWN;
    sub.node = &node;
    sub.version = FORM;
    sub.variant = "weights may be rows";
    sub.in = in;
    for (sub.n_in = OWN; sub.n_in > 0 && in[sub.n_in - 1] == NO_TENSOR; sub.n_in--)
        ;
    diag_note(l->diags, AT(.node = fw_node_label(l->node)), "dynamic-quantization",
              "targets quantize nothing while a model runs: this is an LSTM of floats");
    return lower_lstm(&sub);
}
