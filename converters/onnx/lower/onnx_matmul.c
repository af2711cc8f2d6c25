/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX MatMul and Gemm, and the product that ONNX Runtime joins with transposes. */
#include "converters/lowering/emit.h"
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

struct factors {
    tensor_id a, b;
    bool transpose_a, transpose_b;
    double alpha;
};

/* alpha · A' · B'; a constant B takes alpha. */
static odlc_status multiply(struct lower *l, struct factors *f)
{
    struct emit s = {.l = l};
    tensor_id product;
    bool row = build_rank(l->b, f->a) == 1, column = build_rank(l->b, f->b) == 1;
    bool scales = f->alpha != 1, scales_b = scales && build_is_const(l->b, f->b);
    TRY(as_matrix(l, true, &f->a));
    TRY(as_matrix(l, false, &f->b));
    if (scales_b)
        f->b = emit_binary(&s, OP_ElementWiseMultiply, f->b, emit_scalar(&s, f->b, f->alpha));
    TRY(s.status);
    build_op(l->b, OP_MatMul, fw_node_label(l->node));
    build_in(l->b, f->a);
    build_in(l->b, f->b);
    if (f->transpose_a)
        build_int(l->b, PARAM_transpose_in0, true);
    if (f->transpose_b)
        build_int(l->b, PARAM_transpose_in1, true);
    if (!row && !column && scales == scales_b)
        return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
    TRY(build_end(l->b, step_name(l, "product"), &product));
    if (scales != scales_b)
        product = emit_binary(&s, OP_ElementWiseMultiply, product, emit_scalar(&s, product, f->alpha));
    if (!row && !column)
        return emit_give(&s, 0, product);
    TRY(s.status);
    struct shape full = build_type(l->b, product)->shape, shape = {.rank = 0};
    for (uint32_t i = 0; i < full.rank; i++) {
        bool dropped = (row && i == full.rank - 2) || (column && i == full.rank - 1);
        if (!dropped)
            shape.dims[shape.rank++] = full.dims[i];
    }
    return build_reshape(l->b, product, &shape, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_matmul(struct lower *l)
{
    struct factors f = {.alpha = 1};
    TRY(lower_need(l, 0, "A", &f.a));
    TRY(lower_need(l, 1, "B", &f.b));
    return multiply(l, &f);
}

/* ---- FusedMatMul ---- */

/* transBatch: the first axis goes behind the batch axes; trans: then the last two are exchanged. Of a constant that is
 * done here, so that it becomes the weights of a layer. */
static odlc_status read_factor(struct lower *l, uint32_t i, tensor_id *x, bool *transpose)
{
    static const char *const names[2][3] = {{"A", "transA", "transBatchA"}, {"B", "transB", "transBatchB"}};
    struct emit s = {.l = l};
    int64_t swap, batch;
    TRY(lower_need(l, i, names[i][0], x));
    TRY(lower_attr_int(l, names[i][1], 0, &swap));
    TRY(lower_attr_int(l, names[i][2], 0, &batch));
    uint32_t rank = build_rank(l->b, *x);
    bool swaps = swap && rank > 1;
    if (batch && (rank < 3 || rank != build_rank(l->b, l->in[1 - i])))
        return lower_invalid(l, names[i][2], NULL, "the operands are not of one rank of 3 or more");
    struct perm perm = perm_identity(rank);
    for (uint32_t k = 0; batch && k + 1 < rank; k++)
        perm.axis[k] = (uint8_t)(k + 2 < rank ? k + 1 : 0);
    *transpose = swaps && !build_is_const(l->b, *x);
    if (swaps && !*transpose) {
        uint8_t last = perm.axis[rank - 1];
        perm.axis[rank - 1] = perm.axis[rank - 2];
        perm.axis[rank - 2] = last;
    }
    if (!perm_is_identity(&perm))
        *x = emit_transpose(&s, *x, &perm);
    return s.status;
}

odlc_status lower_fused_matmul(struct lower *l)
{
    struct factors f;
    TRY(lower_need(l, 1, "B", &f.b));
    TRY(read_factor(l, 0, &f.a, &f.transpose_a));
    TRY(read_factor(l, 1, &f.b, &f.transpose_b));
    TRY(lower_attr_float(l, "alpha", 1, &f.alpha));
    return multiply(l, &f);
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
