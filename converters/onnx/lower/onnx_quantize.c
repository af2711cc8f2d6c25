/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. They become arithmetic that gives the very integers
 * that ONNX defines. Where a DequantizeLinear reads what a QuantizeLinear of the same encoding gives, or integers that
 * are known, the real value goes through a fixed-point tensor instead (pass_quantize.c). Real values whose encoding is
 * known by one of the operators alone are marked with it (pass_keep_encodings.c). */
#include <math.h>

#include "converters/lowering/quantized.h"
#include "converters/onnx/lower/onnx_blocks.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "ir/quant.h"

/* The operands of both operators. */
struct linear {
    tensor_id x, scale, zero; /* zero: NO_TENSOR when absent */
    struct granularity granularity;
    bool whole; /* one scale for all */
};

/* A shape that the operators' text allows for a scale of x. */
static bool fits(const struct shape *scale, const struct shape *x, const struct granularity *g)
{
    if (shape_count(scale) == 1 && (scale->rank <= 1 || g->block == 0))
        return true;
    if (g->axis >= x->rank)
        return false;
    if (g->block == 0)
        return scale->rank == 1 && scale->dims[0] == x->dims[g->axis];
    if (scale->rank != x->rank || x->rank == MAX_RANK)
        return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t blocks = x->dims[i] / g->block + (x->dims[i] % g->block > 0);
        if (scale->dims[i] != (i == g->axis ? blocks : x->dims[i]))
            return false;
    }
    return true;
}

static odlc_status read_granularity(const struct lower *l, struct linear *q)
{
    const struct shape *x = &build_type(l->b, q->x)->shape, *scale = &build_type(l->b, q->scale)->shape;
    int64_t axis, block;
    TRY(lower_attr_int(l, "axis", 1, &axis));
    TRY(lower_attr_int(l, "block_size", 0, &block));
    if (block < 0 || block > INT32_MAX)
        return lower_invalid(l, "block_size", NULL, "a block size of %lld is not possible", (long long)block);
    q->granularity = (struct granularity){.axis = 0, .block = block};
    q->whole = shape_count(scale) == 1;
    if ((!q->whole || block > 0) && x->rank > 1) /* one axis needs no number */
        TRY(lower_axis(l, "axis", axis, x->rank, &q->granularity.axis));
    if (!fits(scale, x, &q->granularity))
        return lower_invalid(l, "axis", NULL, "the scale %s does not fit the tensor %s (axis %lld, block size %lld)",
                             shape_text(l->diags->arena, scale), shape_text(l->diags->arena, x), (long long)axis,
                             (long long)block);
    if (q->zero != NO_TENSOR && shape_count(&build_type(l->b, q->zero)->shape) != shape_count(scale))
        return lower_invalid(l, NULL, NULL, "the zero point %s does not have the shape of the scale %s",
                             shape_text(l->diags->arena, &build_type(l->b, q->zero)->shape),
                             shape_text(l->diags->arena, scale));
    return ODLC_OK;
}

/* A model that was calibrated with infinite values (a mask, for example) has such a scale, and no number is what it
 * stands for. */
static odlc_status check_scale(const struct lower *l, const struct linear *q)
{
    uint64_t count;
    if (!q->whole || !build_is_const(l->b, q->scale))
        return ODLC_OK;
    const double *scale = build_const_as_floats(l->b, q->scale, &count);
    if (!isfinite(*scale))
        return lower_invalid(l, NULL, "calibrate it with finite values, a mask of -10000 in place of -inf",
                             "the scale is %g", *scale);
    return ODLC_OK;
}

static odlc_status read_linear(const struct lower *l, struct linear *q)
{
    TRY(lower_need(l, 0, "x", &q->x));
    TRY(lower_need(l, 1, "scale", &q->scale));
    q->zero = lower_in(l, 2);
    TRY(read_granularity(l, q));
    return check_scale(l, q);
}

/* The encodings, when they are known, and can be those of elements of that integer type; else NULL. */
static const struct quant *encodings_of(const struct lower *l, const struct linear *q, enum dtype integer)
{
    uint64_t count = 0, zeros = 0;
    enum dtype fixed = quant_dtype(integer);
    bool known = build_is_const(l->b, q->scale) && (q->zero == NO_TENSOR || build_is_const(l->b, q->zero));
    if (!known || fixed == DT_NONE || q->granularity.block > 0 || build_type(l->b, q->scale)->dtype != DT_FLOAT32)
        return NULL;
    const double *scale = build_const_as_floats(l->b, q->scale, &count);
    const double *zero = q->zero == NO_TENSOR ? NULL : build_const_as_floats(l->b, q->zero, &zeros);
    return quant_create(l->arena, fixed, scale, zero, (uint32_t)count, !q->whole, q->granularity.axis);
}

/* The first mark stays. */
static void mark_real(struct graph *g, tensor_id real, const struct quant *quant)
{
    if (!graph_tensor(g, real)->quant)
        graph_tensor(g, real)->quant = quant;
}

/* ---- QuantizeLinear ---- */

/* The type of the result: that of the zero point, or what the attribute says. */
static odlc_status quantized_type(const struct lower *l, const struct linear *q, enum dtype *to)
{
    enum dtype named, zero = q->zero == NO_TENSOR ? DT_NONE : build_type(l->b, q->zero)->dtype;
    TRY(lower_attr_dtype(l, "output_dtype", zero == DT_NONE ? DT_UINT8 : zero, &named));
    *to = named;
    if (zero != DT_NONE && named != zero)
        return lower_invalid(l, "output_dtype", NULL, "output_dtype is %s, but the zero point is of type %s",
                             dtype_info(named)->name, dtype_info(zero)->name);
    if (dtype_is_float8(named))
        return is_zero(l->b, q->zero)
                   ? ODLC_OK
                   : lower_unsupported(l, NULL, NULL, "a zero point of %s is not zero", dtype_info(named)->name);
    if (dtype_is_small_float(named))
        return lower_unsupported(l, "output_dtype", NULL, "the result is of type %s, which containers do not have",
                                 dtype_info(named)->name);
    if (!is_quantized_type(named))
        return lower_invalid(l, "output_dtype", NULL, "nothing is quantized to %s", dtype_info(named)->name);
    return ODLC_OK;
}

/* x / scale in the precision of the scale, or the one that is asked for; bfloat16 by rounding a float32 quotient, which
 * is exact: it has more than twice the bits. */
static tensor_id divide(struct emit *s, const struct linear *q, enum dtype precision)
{
    bool rounded = precision == DT_BFLOAT16;
    enum dtype work = rounded ? DT_FLOAT32 : precision;
    tensor_id x = q->x, scale = q->scale;
    if (rounded) {
        x = emit_cast_exactly(s, x, DT_BFLOAT16);
        scale = emit_cast_exactly(s, scale, DT_BFLOAT16);
    }
    const struct shape shape = build_type(s->l->b, q->x)->shape;
    x = emit_cast(s, x, work);
    scale = emit_cast(s, scale, work);
    scale = emit_align(s, scale, &shape, &q->granularity);
    x = emit_binary(s, OP_ElementWiseDivide, x, scale);
    return rounded ? emit_cast(s, emit_cast_exactly(s, x, DT_BFLOAT16), DT_FLOAT32) : x;
}

static odlc_status read_precision(const struct lower *l, const struct linear *q, enum dtype *out)
{
    enum dtype scale = build_type(l->b, q->scale)->dtype;
    bool computes = scale == DT_FLOAT16 || scale == DT_BFLOAT16;
    TRY(lower_attr_dtype(l, "precision", computes ? scale : DT_FLOAT32, out));
    if (*out != DT_FLOAT32 && *out != DT_FLOAT16 && *out != DT_BFLOAT16)
        return lower_invalid(l, "precision", NULL, "there is no division of type %s", dtype_info(*out)->name);
    return ODLC_OK;
}

odlc_status lower_quantize_linear(struct lower *l)
{
    struct emit s = {.l = l};
    struct linear q;
    enum dtype to, precision;
    int64_t saturates;
    TRY(read_linear(l, &q));
    TRY(quantized_type(l, &q, &to));
    TRY(read_precision(l, &q, &precision));
    TRY(lower_attr_int(l, "saturate", 1, &saturates));
    const struct shape shape = build_type(l->b, q.x)->shape;
    tensor_id quotient = divide(&s, &q, precision);
    if (dtype_is_small_float(to))
        return emit_give(&s, 0, emit_cast_to_float8(&s, quotient, to, saturates));
    tensor_id zero = emit_align(&s, q.zero, &shape, &q.granularity);
    tensor_id y = emit_saturate(&s, quotient, zero, to);
    TRY(emit_give(&s, 0, y));
    bool real = build_type(l->b, q.x)->dtype == DT_FLOAT32 && precision == DT_FLOAT32 && !build_is_const(l->b, y);
    if (!real || !q.whole)
        return ODLC_OK;
    const struct quant *quant = encodings_of(l, &q, to);
    graph_tensor(l->b->graph, y)->quant = quant;
    mark_real(l->b->graph, q.x, quant);
    return ODLC_OK;
}

/* ---- DequantizeLinear ---- */

/* The tensor that QuantizeLinear divided to get x, whose encoding is known. */
static tensor_id quantized_source(const struct graph *g, tensor_id x)
{
    while (!node_is(graph_node(g, graph_tensor(g, x)->producer), OP_ElementWiseDivide))
        x = graph_node(g, graph_tensor(g, x)->producer)->inputs[0];
    return graph_node(g, graph_tensor(g, x)->producer)->inputs[0];
}

/* The fixed-point tensor of a quantized one: made where none was. Reals between the two may have the mark, too. */
static odlc_status fixed_tensor(struct lower *l, tensor_id x, tensor_id *out)
{
    struct graph *g = l->b->graph;
    const struct quant *quant = graph_tensor(g, x)->quant;
    for (*out = x + 1; *out < g->tensors.count; ++*out)
        if (graph_tensor(g, *out)->quant == quant && dtype_is_fixed(build_type(l->b, *out)->dtype))
            return ODLC_OK;
    TRY(lower_quantized(l, quantized_source(g, x), quant, build_type(l->b, x)->dtype, out));
    if (graph_producer(g, *out))
        graph_producer(g, *out)->source = graph_producer(g, x)->source;
    return ODLC_OK;
}

static odlc_status give_dequantized(struct lower *l, tensor_id x)
{
    tensor_id fixed;
    TRY(fixed_tensor(l, x, &fixed));
    return lower_dequantized(l, fixed);
}

/* What these reals stand for is marked at the integers, too: where these turn out to be a graph input, or another
 * tensor's elements, the fixed-point tensor takes their place (pass_recover_fixed.c). */
static odlc_status give_marked(struct lower *l, tensor_id x, const struct quant *quant, tensor_id real)
{
    tensor_id fixed;
    graph_tensor(l->b->graph, x)->quant = quant;
    mark_real(l->b->graph, real, quant);
    TRY(lower_quantized(l, real, quant, build_type(l->b, x)->dtype, &fixed));
    return lower_dequantized(l, fixed);
}

/* (x - zero) · scale in float32, which holds the difference exactly when it is of 16 bits; of int32 it is taken first.
 */
static tensor_id dequantize(struct emit *s, const struct linear *q)
{
    const struct shape shape = build_type(s->l->b, q->x)->shape;
    enum dtype dtype = build_type(s->l->b, q->x)->dtype;
    tensor_id scale = emit_cast(s, q->scale, DT_FLOAT32), zero = NO_TENSOR, x = q->x;
    if (dtype_is_int(dtype) && !is_zero(s->l->b, q->zero))
        zero = emit_align(s, q->zero, &shape, &q->granularity);
    if (dtype == DT_INT32 && zero != NO_TENSOR) {
        x = emit_center(s, x, zero);
        zero = NO_TENSOR;
    }
    x = emit_cast(s, x, DT_FLOAT32);
    if (zero != NO_TENSOR) {
        zero = emit_cast(s, zero, DT_FLOAT32);
        x = emit_binary(s, OP_ElementWiseSubtract, x, zero);
    }
    scale = emit_align(s, scale, &shape, &q->granularity);
    return emit_binary(s, OP_ElementWiseMultiply, x, scale);
}

/* The same of known integers in blocks, which stay stored. */
static tensor_id dequantize_stored(struct emit *s, const struct linear *q)
{
    const bool zero = !is_zero(s->l->b, q->zero);
    const struct stored_blocks w = {.x = q->x,
                                    .scale = q->scale,
                                    .zero = zero ? q->zero : NO_TENSOR,
                                    .granularity = q->granularity,
                                    .groups = NO_TENSOR};
    return emit_stored_blocks(s, &w);
}

static odlc_status check_dequantize(const struct lower *l, const struct linear *q)
{
    enum dtype x = build_type(l->b, q->x)->dtype;
    bool small = dtype_is_small_float(x);
    if (!is_quantized_type(x) && x != DT_INT32 && !small)
        return lower_invalid(l, NULL, NULL, "nothing is dequantized from %s", dtype_info(x)->name);
    if (q->zero != NO_TENSOR && build_type(l->b, q->zero)->dtype != x)
        return lower_invalid(l, NULL, NULL, "the zero point is %s, the tensor %s",
                             dtype_info(build_type(l->b, q->zero)->dtype)->name, dtype_info(x)->name);
    if (small && !is_zero(l->b, q->zero))
        return lower_unsupported(l, NULL, NULL, "a zero point of %s is not zero", dtype_info(x)->name);
    return ODLC_OK;
}

odlc_status lower_dequantize_linear(struct lower *l)
{
    struct emit s = {.l = l};
    struct linear q;
    enum dtype to;
    TRY(read_linear(l, &q));
    TRY(check_dequantize(l, &q));
    enum dtype scale = build_type(l->b, q.scale)->dtype;
    TRY(lower_attr_dtype(l, "output_dtype", dtype_is_small_float(scale) ? DT_FLOAT32 : scale, &to));
    if (!dtype_is_float(to) || dtype_is_small_float(to))
        return lower_invalid(l, "output_dtype", NULL, "nothing is dequantized to %s", dtype_info(to)->name);
    const struct tensor *x = graph_tensor(l->b->graph, q.x);
    const struct quant *quant = to == DT_FLOAT32 ? encodings_of(l, &q, x->type->dtype) : NULL;
    const bool x_is_marked = x->quant != NULL;
    if (quant && lower_scaled_constant(l, q.x, quant))
        return ODLC_OK;
    if (quant && x->quant && quant_equal(quant, x->quant))
        return give_dequantized(l, q.x);
    const bool in_blocks = q.granularity.block > 0 && build_is_const(l->b, q.scale) &&
                           (q.zero == NO_TENSOR || build_is_const(l->b, q.zero));
    tensor_id y = in_blocks && is_storable(l, q.x) ? dequantize_stored(&s, &q) : dequantize(&s, &q);
    if (in_blocks && s.status == ODLC_OK && build_is_const(l->b, y))
        note_float_blocks(l, q.granularity.block);
    y = emit_cast_exactly(&s, y, to);
    TRY(s.status);
    if (quant && q.whole && !x_is_marked && is_quantized_type(build_type(l->b, q.x)->dtype) && !build_is_const(l->b, y))
        return give_marked(l, q.x, quant, y);
    TRY(emit_give(&s, 0, y));
    if (quant && q.whole && !build_is_const(l->b, y))
        mark_real(l->b->graph, y, quant);
    return ODLC_OK;
}

/* ---- DynamicQuantizeLinear ---- */

/* The largest or smallest element, and 0. */
static tensor_id bound(struct emit *s, tensor_id x, enum op_id reduce, enum op_id op)
{
    uint32_t rank = build_rank(s->l->b, x);
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    if (rank > 0)
        x = emit_reduce(s, reduce, x, axes, rank, false);
    return emit_binary(s, op, x, emit_scalar(s, x, 0));
}

odlc_status lower_dynamic_quantize_linear(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    tensor_id high = bound(&s, x, OP_ReduceMax, OP_ElementWiseMaximum);
    tensor_id low = bound(&s, x, OP_ReduceMin, OP_ElementWiseMinimum);
    tensor_id range = emit_binary(&s, OP_ElementWiseSubtract, high, low);
    tensor_id flat = emit_binary(&s, OP_ElementWiseEqual, high, low); /* all zeros: any scale will do */
    range = emit_select(&s, flat, emit_scalar(&s, range, 1), range);
    tensor_id scale = emit_binary(&s, OP_ElementWiseDivide, range, emit_scalar(&s, range, 255));
    tensor_id zero = emit_binary(&s, OP_ElementWiseDivide, low, scale);
    zero = emit_binary(&s, OP_ElementWiseSubtract, emit_scalar(&s, zero, 0), zero);
    zero = emit_saturate(&s, zero, NO_TENSOR, DT_UINT8);
    tensor_id quotient = emit_binary(&s, OP_ElementWiseDivide, x, scale);
    tensor_id y = emit_saturate(&s, quotient, zero, DT_UINT8);
    TRY(emit_give(&s, 0, y));
    TRY(emit_give(&s, 1, scale));
    return emit_give(&s, 2, zero);
}
