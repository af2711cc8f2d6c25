/* SPDX-License-Identifier: Apache-2.0 */
/* GatherBlockQuantized of ONNX Runtime: rows of integers that share scales in blocks. Rows are picked before they are
 * dequantized, so that the table stays one of integers. */
#include "converters/lowering/gather.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/onnx_blocks.h"
#include "converters/onnx/lower/onnx_rows.h"

struct block_rows {
    struct emit s;
    tensor_id data, indices, scale,
        zero; /* integers of one byte, or as they are stored; zero: NO_TENSOR, then `middle` */
    int64_t bits, block;
    uint32_t gathered, quantized; /* axes */
    double middle;
    bool stored; /* --block_weights packed: data and zero are fixed-point constants */
};

/* Numbers of fewer bits than a byte, the low ones first, each in a byte of its own: `extent` in the last axis. */
static odlc_status unpack_bytes(struct block_rows *g, uint32_t input, const char *what, int64_t extent, tensor_id *out)
{
    struct lower *l = g->s.l;
    const struct tensor *t = graph_tensor(l->b->graph, *out);
    struct shape shape = t->type->shape;
    int64_t per_byte = 8 / g->bits, width = shape.rank ? shape.dims[shape.rank - 1] : 0;
    uint8_t *values;
    TRY(lower_need_const(l, input, what, "several of its numbers share a byte"));
    if (extent > width * per_byte || extent <= (width - 1) * per_byte)
        return lower_invalid(l, NULL, NULL, "%s %s does not have %lld numbers of %lld bits in a row", what,
                             shape_text(l->diags->arena, &shape), (long long)extent, (long long)g->bits);
    const uint8_t *bytes = view_load(l->arena, t->view, DT_UINT8);
    uint64_t rows = shape_count_range(&shape, 0, shape.rank - 1);
    shape.dims[shape.rank - 1] = extent;
    TRY(lower_table(l, shape_count(&shape), 1, &values));
    for (uint64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < extent; i++) {
            unsigned byte = bytes[row * (uint64_t)width + (uint64_t)(i / per_byte)];
            values[row * (uint64_t)extent + (uint64_t)i] =
                (uint8_t)(byte >> (i % per_byte * g->bits) & ((1u << g->bits) - 1));
        }
    const enum dtype dtype = is_storable(l, *out) ? DT_UINT4 : DT_UINT8;
    struct view view = view_of(values, dtype, &shape);
    *out = graph_add_constant(l->b->graph, step_name(l, what), dtype, &view);
    return ODLC_OK;
}

static odlc_status read_attributes(struct block_rows *g)
{
    struct lower *l = g->s.l;
    int64_t gathered, quantized;
    uint32_t rank = build_rank(l->b, g->data);
    TRY(lower_attr_int(l, "bits", 4, &g->bits));
    TRY(lower_attr_int(l, "block_size", 128, &g->block));
    TRY(lower_attr_int(l, "gather_axis", 0, &gathered));
    TRY(lower_attr_int(l, "quantize_axis", 1, &quantized));
    TRY(lower_axis(l, "gather_axis", gathered, rank, &g->gathered));
    TRY(lower_axis(l, "quantize_axis", quantized, rank, &g->quantized));
    if (g->bits != 2 && g->bits != 4 && g->bits != 8)
        return lower_invalid(l, "bits", NULL, "there are no numbers of %lld bits", (long long)g->bits);
    if (g->block < 16 || g->block > INT32_MAX || (g->block & (g->block - 1)) != 0)
        return lower_invalid(l, "block_size", NULL, "a block size of %lld is not possible", (long long)g->block);
    if (g->gathered == g->quantized)
        return lower_unsupported(l, "gather_axis", NULL, "rows along the axis of the blocks are not supported");
    return ODLC_OK;
}

/* The scales: those of data, with a number per block. */
static odlc_status check_scales(const struct block_rows *g)
{
    struct lower *l = g->s.l;
    struct shape blocks = build_type(l->b, g->data)->shape;
    const struct type *scale = build_type(l->b, g->scale);
    int64_t extent = blocks.dims[g->quantized];
    blocks.dims[g->quantized] = extent / g->block + (extent % g->block > 0);
    if (!dtype_is_float(scale->dtype) || !shape_equal(&scale->shape, &blocks))
        return lower_invalid(l, NULL, NULL, "the scales are %s%s instead of floats %s", dtype_info(scale->dtype)->name,
                             shape_text(l->diags->arena, &scale->shape), shape_text(l->diags->arena, &blocks));
    if (g->zero != NO_TENSOR && !shape_equal(&build_type(l->b, g->zero)->shape, &blocks))
        return lower_invalid(l, NULL, NULL, "the zero points are %s instead of %s",
                             shape_text(l->diags->arena, &build_type(l->b, g->zero)->shape),
                             shape_text(l->diags->arena, &blocks));
    return ODLC_OK;
}

/* As fixed-point constants, or as bytes. */
static void store_integers(struct block_rows *g, enum dtype bytes)
{
    const struct lower *l = g->s.l;
    const bool has_zero = g->zero != NO_TENSOR;
    g->data = g->stored ? emit_stored(&g->s, g->data, step_name(l, "data"), has_zero ? 0 : g->middle)
                        : emit_cast(&g->s, g->data, bytes);
    if (has_zero)
        g->zero = g->stored ? emit_stored(&g->s, g->zero, step_name(l, "zeros"), 0) : emit_cast(&g->s, g->zero, bytes);
}

/* Bytes hold 8 / bits numbers, which are positive; types of 4 bits hold one. */
static odlc_status read_operands(struct block_rows *g)
{
    struct lower *l = g->s.l;
    TRY(lower_need(l, 0, "data", &g->data));
    TRY(lower_need(l, 2, "scales", &g->scale));
    g->zero = lower_in(l, 3);
    TRY(read_attributes(g));
    const struct type data = *build_type(l->b, g->data);
    bool bytes = data.dtype == DT_UINT8;
    if (!bytes && data.dtype != DT_INT4 && data.dtype != DT_UINT4)
        return lower_unsupported(l, NULL, NULL, "data of type %s is not supported", dtype_info(data.dtype)->name);
    if (g->zero != NO_TENSOR && build_type(l->b, g->zero)->dtype != data.dtype)
        return lower_invalid(l, NULL, NULL, "the zero points are of type %s, the data of %s",
                             dtype_info(build_type(l->b, g->zero)->dtype)->name, dtype_info(data.dtype)->name);
    g->middle = bytes ? (double)(1 << (g->bits - 1)) : 0;
    if (bytes && g->bits < 8) {
        uint32_t last = data.shape.rank - 1;
        const struct shape *scale = &build_type(l->b, g->scale)->shape;
        if (g->quantized != last || scale->rank != data.shape.rank)
            return lower_unsupported(l, "quantize_axis", NULL,
                                     "blocks along another axis than the last are not supported");
        int64_t extent = data.shape.dims[last] * (8 / g->bits);
        TRY(unpack_bytes(g, 0, "data", extent, &g->data));
        if (g->zero != NO_TENSOR)
            TRY(unpack_bytes(g, 3, "zero_points", scale->dims[last], &g->zero));
    }
    TRY(check_scales(g));
    g->stored = is_storable(l, g->data) && (g->zero == NO_TENSOR || is_storable(l, g->zero));
    store_integers(g, data.dtype == DT_INT4 ? DT_INT8 : DT_UINT8);
    return lower_indices(l, 1, BOTH_ENDS, &data.shape.dims[g->gathered], 1, &g->indices);
}

/* Fixed-point rows have the encoding of their table. */
static tensor_id pick(struct block_rows *g, const char *what, tensor_id x)
{
    tensor_id out = NO_TENSOR;
    if (g->s.status != ODLC_OK || x == NO_TENSOR)
        return NO_TENSOR;
    struct build *b = g->s.l->b;
    const size_t before = b->graph->tensors.count;
    const bool unfolded = build_unfold(b, g->stored);
    g->s.status = lower_gather_axis(g->s.l, x, g->indices, g->gathered, step_name(g->s.l, what), &out);
    (void)build_unfold(b, unfolded);
    for (size_t id = before; id < b->graph->tensors.count; id++)
        if (dtype_is_fixed(build_type(b, (tensor_id)id)->dtype))
            graph_tensor(b->graph, (tensor_id)id)->quant = graph_tensor(b->graph, x)->quant;
    return out;
}

/* Rows of integers, or of zero points, as floats; NO_TENSOR: there are none. */
static tensor_id floats_of(struct block_rows *g, tensor_id rows)
{
    if (rows == NO_TENSOR)
        return NO_TENSOR;
    return g->stored ? emit_reals(&g->s, rows) : emit_cast(&g->s, rows, DT_FLOAT32);
}

odlc_status lower_gather_block_quantized(struct lower *l)
{
    struct block_rows g = {.s.l = l};
    TRY(read_operands(&g));
    enum dtype result = build_type(l->b, g.scale)->dtype;
    tensor_id x = pick(&g, "rows", g.data), scale = pick(&g, "scales", g.scale), zero = pick(&g, "zeros", g.zero);
    TRY(g.s.status);
    struct granularity blocks = {.axis = g.quantized, .block = g.block};
    if (g.gathered < g.quantized)
        blocks.axis += build_rank(l->b, g.indices) - 1;
    const struct shape shape = build_type(l->b, x)->shape;
    if (shape.rank == MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the result has %d axes", MAX_RANK);
    x = floats_of(&g, x);
    if (zero != NO_TENSOR)
        zero = emit_align(&g.s, floats_of(&g, zero), &shape, &blocks);
    else if (g.middle != 0 && !g.stored)
        zero = emit_scalar(&g.s, x, g.middle);
    if (zero != NO_TENSOR)
        x = emit_binary(&g.s, OP_ElementWiseSubtract, x, zero);
    scale = emit_align(&g.s, emit_cast(&g.s, scale, DT_FLOAT32), &shape, &blocks);
    return emit_give(&g.s, 0, emit_cast(&g.s, emit_binary(&g.s, OP_ElementWiseMultiply, x, scale), result));
}
