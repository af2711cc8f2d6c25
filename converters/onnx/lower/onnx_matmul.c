/* ONNX MatMul and Gemm. */
#include "converters/lowering/matrix_product.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- MatMul ---- */

/* A vector on the left is a row, on the right a column. */
static odlc_status as_matrix(struct lower *l, bool left, tensor_id *t)
{
    const struct shape *in = &build_type(l->b, *t)->shape;
    if (in->rank == 0)
        return lower_invalid(l, NULL, NULL, "an operand is a scalar");
    if (in->rank > 1)
        return ODLC_OK;
    struct shape matrix = left ? SHAPE(1, in->dims[0]) : SHAPE(in->dims[0], 1);
    return build_reshape(l->b, *t, &matrix, step_name(l, left ? "row" : "column"), t);
}

odlc_status lower_matmul(struct lower *l)
{
    tensor_id a, b, product;
    TRY(lower_need(l, 0, "A", &a));
    TRY(lower_need(l, 1, "B", &b));
    bool row = build_rank(l->b, a) == 1, column = build_rank(l->b, b) == 1;
    TRY(as_matrix(l, true, &a));
    TRY(as_matrix(l, false, &b));
    build_op(l->b, OP_MatMul, fw_node_label(l->node));
    build_in(l->b, a);
    build_in(l->b, b);
    if (!row && !column)
        return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
    TRY(build_end(l->b, step_name(l, "product"), &product));
    struct shape full = build_type(l->b, product)->shape, shape = {.rank = 0};
    for (uint32_t i = 0; i < full.rank; i++) {
        bool dropped = (row && i == full.rank - 2) || (column && i == full.rank - 1);
        if (!dropped)
            shape.dims[shape.rank++] = full.dims[i];
    }
    return build_reshape(l->b, product, &shape, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Gemm: alpha · A' · B' + beta · C ---- */

/* Before opset 7, C has the product's shape or the attribute says that it broadcasts. */
static odlc_status check_legacy_c(const struct lower *l, int64_t rows, int64_t columns)
{
    int64_t broadcast;
    struct shape product = SHAPE(rows, columns);
    if (l->version >= 7 || lower_in(l, 2) == NO_TENSOR)
        return ODLC_OK;
    const struct shape *c = &build_type(l->b, l->in[2])->shape;
    TRY(lower_attr_int(l, "broadcast", 0, &broadcast));
    if (!broadcast && !shape_equal(c, &product))
        return lower_invalid(l, "broadcast", NULL, "C is %s and the product %s, without broadcast = 1",
                             shape_text(l->diags->arena, c), shape_text(l->diags->arena, &product));
    return ODLC_OK;
}

static odlc_status read_gemm(struct lower *l, struct matrix_product *g)
{
    int64_t transpose_a, transpose_b;
    TRY(lower_need(l, 0, "A", &g->a));
    TRY(lower_need(l, 1, "B", &g->b));
    TRY(lower_attr_int(l, "transA", 0, &transpose_a));
    TRY(lower_attr_int(l, "transB", 0, &transpose_b));
    TRY(lower_attr_float(l, "alpha", 1, &g->alpha));
    TRY(lower_attr_float(l, "beta", 1, &g->beta));
    g->transpose_a = transpose_a != 0;
    g->transpose_b = transpose_b != 0;
    g->c = g->beta == 0 ? NO_TENSOR : lower_in(l, 2);
    TRY(lower_check_product(l, g));
    return check_legacy_c(l, build_type(l->b, g->a)->shape.dims[g->transpose_a],
                          build_type(l->b, g->b)->shape.dims[!g->transpose_b]);
}

odlc_status lower_gemm(struct lower *l)
{
    struct matrix_product g;
    TRY(read_gemm(l, &g));
    return lower_product(l, &g);
}
