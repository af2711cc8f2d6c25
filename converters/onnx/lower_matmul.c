/* ONNX MatMul and Gemm. */
#include <math.h>

#include "converters/onnx/lower_shape.h"
#include "converters/onnx/rows.h"
#include "converters/lowering/weights.h"

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
    build_op(l->b, "MatMul", fw_node_label(l->node));
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

struct gemm_node {
    tensor_id a, b, c; /* c: NO_TENSOR when there is none */
    bool transpose_a, transpose_b;
    double alpha, beta;
    int64_t n;
};

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

static odlc_status read_gemm(struct lower *l, struct gemm_node *g)
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
    const struct shape *a = &build_type(l->b, g->a)->shape, *b = &build_type(l->b, g->b)->shape;
    if (a->rank != 2 || b->rank != 2 || a->dims[!g->transpose_a] != b->dims[g->transpose_b])
        return lower_invalid(l, NULL, NULL, "%s and %s cannot be multiplied", shape_text(l->diags->arena, a),
                             shape_text(l->diags->arena, b));
    g->n = b->dims[!g->transpose_b];
    return check_legacy_c(l, a->dims[g->transpose_a], g->n);
}

/* factor · t; integers have only integer factors. out_name may be NULL. */
static odlc_status scaled(struct lower *l, tensor_id *t, double factor, const char *step, const char *out_name)
{
    enum dtype dtype = build_type(l->b, *t)->dtype;
    if (factor == 1)
        return ODLC_OK;
    if (!dtype_is_float(dtype) && (fabs(factor) > INT32_MAX || factor != trunc(factor)))
        return lower_unsupported(l, step, NULL, "%s is %g, but the operands are integers", step, factor);
    tensor_id scale = build_const_scalar(l->b, step_name(l, step), dtype, factor);
    return build_binary(l->b, "ElementWiseMultiply", *t, scale, out_name ? out_name : step_name(l, "scaled"), t);
}

static tensor_id splat(struct lower *l, const char *name, enum dtype dtype, int64_t count, double value)
{
    struct shape shape = SHAPE(count);
    struct view view = dtype_is_float(dtype) ? view_splat_float(l->arena, dtype, &shape, value)
                                             : view_splat_int(l->arena, dtype, &shape, (int64_t)value);
    return graph_add_constant(l->b->graph, name, dtype, &view);
}

/* A constant C with one value, or one per column, is a bias: beta · C as a vector, and C is done with. Otherwise the
 * bias is 0, as for convolutions without one. */
static odlc_status take_bias(struct lower *l, struct gemm_node *g, tensor_id *bias, const char **name)
{
    enum dtype dtype = build_type(l->b, g->a)->dtype;
    struct shape row = SHAPE(g->n), none = {.rank = 0};
    const struct shape *c = g->c == NO_TENSOR ? &none : &build_type(l->b, g->c)->shape;
    uint64_t count = shape_count(c);
    bool per_column = c->rank > 0 && c->dims[c->rank - 1] == g->n && count == (uint64_t)g->n;
    if (!build_is_const(l->b, g->c) || (!per_column && count != 1)) {
        *name = "";
        *bias = splat(l, step_name(l, "bias"), dtype, g->n, 0);
        return ODLC_OK;
    }
    *bias = g->c;
    g->c = NO_TENSOR;
    TRY(scaled(l, bias, g->beta, "beta", NULL));
    if (per_column)
        TRY(build_reshape(l->b, *bias, &row, step_name(l, "bias"), bias));
    else
        *bias = splat(l, step_name(l, "bias"), dtype, g->n, *build_const_as_floats(l->b, *bias, &count));
    *name = graph_tensor(l->b->graph, *bias)->name;
    return ODLC_OK;
}

/* Constant B: weights [out, in], with alpha in them. */
static odlc_status fully_connected(struct lower *l, struct gemm_node *g, tensor_id *out)
{
    struct perm swap = PERM(1, 0), keep = perm_identity(2);
    tensor_id weights = g->b, x = g->a, bias;
    const char *bias_name;
    TRY(take_bias(l, g, &bias, &bias_name));
    TRY(scaled(l, &weights, g->alpha, "alpha", NULL));
    TRY(lower_weights(l, 1, weights, g->transpose_b ? &keep : &swap, "_permute", &weights));
    if (g->transpose_a)
        TRY(build_transpose(l->b, x, &swap, step_name(l, "A"), &x));
    build_op(l->b, "FullyConnected", fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, weights);
    build_in(l->b, bias);
    build_string(l->b, "bias_op_name", bias_name);
    return build_end(l->b, g->c == NO_TENSOR ? lower_out_name(l, 0) : step_name(l, "product"), out);
}

static odlc_status dynamic_product(struct lower *l, const struct gemm_node *g, tensor_id *out)
{
    const char *last = g->c == NO_TENSOR ? lower_out_name(l, 0) : step_name(l, "scaled");
    build_op(l->b, "MatMul", fw_node_label(l->node));
    build_in(l->b, g->a);
    build_in(l->b, g->b);
    build_int(l->b, "transpose_in0", g->transpose_a);
    build_int(l->b, "transpose_in1", g->transpose_b);
    TRY(build_end(l->b, g->alpha == 1 ? last : step_name(l, "product"), out));
    return scaled(l, out, g->alpha, "alpha", last);
}

odlc_status lower_gemm(struct lower *l)
{
    struct gemm_node g;
    TRY(read_gemm(l, &g));
    /* Weights of no elements per output do not say into how many rows the input is to be cut. */
    bool weights = build_is_const(l->b, g.b) && build_type(l->b, g.b)->shape.dims[g.transpose_b] > 0;
    TRY(weights ? fully_connected(l, &g, &l->out[0]) : dynamic_product(l, &g, &l->out[0]));
    if (g.c == NO_TENSOR)
        return ODLC_OK;
    TRY(scaled(l, &g.c, g.beta, "beta", NULL));
    return build_binary(l->b, "ElementWiseAdd", l->out[0], g.c, lower_out_name(l, 0), &l->out[0]);
}
