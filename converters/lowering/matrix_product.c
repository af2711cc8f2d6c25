/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/matrix_product.h"

#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/weights.h"

odlc_status lower_check_product(const struct lower *l, const struct matrix_product *g)
{
    const struct shape *a = &build_type(l->b, g->a)->shape, *b = &build_type(l->b, g->b)->shape;
    if (a->rank != 2 || b->rank != 2 || a->dims[!g->transpose_a] != b->dims[g->transpose_b])
        return lower_invalid(l, NULL, NULL, "%s and %s cannot be multiplied", shape_text(l->diags->arena, a),
                             shape_text(l->diags->arena, b));
    return ODLC_OK;
}

/* Of the product. */
static int64_t columns(const struct lower *l, const struct matrix_product *g)
{
    return build_type(l->b, g->b)->shape.dims[!g->transpose_b];
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
    return build_binary(l->b, OP_ElementWiseMultiply, *t, scale, out_name ? out_name : step_name(l, "scaled"), t);
}

static tensor_id splat(struct lower *l, const char *name, enum dtype dtype, int64_t count, double value)
{
    struct shape shape = SHAPE(count);
    struct view view = dtype_is_float(dtype) ? view_splat_float(l->arena, dtype, &shape, value)
                                             : view_splat_int(l->arena, dtype, &shape, (int64_t)value);
    return graph_add_constant(l->b->graph, name, dtype, &view);
}

/* A constant C with one value, or one per column, is a bias: beta · C as a vector that goes by C's name, and C is done
 * with. Otherwise there is none. */
static odlc_status take_bias(struct lower *l, struct matrix_product *g, tensor_id *bias, const char **name)
{
    enum dtype dtype = build_type(l->b, g->a)->dtype;
    struct shape row = SHAPE(columns(l, g)), none = {.rank = 0};
    const struct shape *c = g->c == NO_TENSOR ? &none : &build_type(l->b, g->c)->shape;
    uint64_t count = shape_count(c);
    bool per_column = c->rank > 0 && c->dims[c->rank - 1] == columns(l, g) && count == (uint64_t)columns(l, g);
    if (!build_is_const(l->b, g->c) || (!per_column && count != 1)) {
        *name = "";
        *bias = NO_TENSOR;
        return ODLC_OK;
    }
    *name = graph_tensor(l->b->graph, g->c)->name;
    *bias = g->c;
    g->c = NO_TENSOR;
    TRY(scaled(l, bias, g->beta, "beta", *name));
    if (per_column)
        TRY(build_reshape(l->b, *bias, &row, *name, bias));
    else
        *bias = splat(l, *name, dtype, columns(l, g), *build_const_as_floats(l->b, *bias, &count));
    return ODLC_OK;
}

/* Constant B: weights [out, in], with alpha in them. */
static odlc_status fully_connected(struct lower *l, struct matrix_product *g, tensor_id *out)
{
    struct perm swap = PERM(1, 0), keep = perm_identity(2);
    tensor_id weights = g->b, x = g->a, bias;
    const char *bias_name;
    TRY(take_bias(l, g, &bias, &bias_name));
    TRY(scaled(l, &weights, g->alpha, "alpha", NULL));
    TRY(lower_weights(l, 1, weights, g->transpose_b ? &keep : &swap, "_permute", &weights));
    if (g->transpose_a)
        TRY(build_transpose(l->b, x, &swap, step_name(l, "A"), &x));
    build_op(l->b, OP_FullyConnected, fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, weights);
    build_in(l->b, bias);
    build_string(l->b, PARAM_bias_op_name, bias_name);
    return build_end(l->b, g->c == NO_TENSOR ? lower_out_name(l, 0) : step_name(l, "product"), out);
}

static odlc_status dynamic_product(struct lower *l, const struct matrix_product *g, tensor_id *out)
{
    const char *last = g->c == NO_TENSOR ? lower_out_name(l, 0) : step_name(l, "scaled");
    build_op(l->b, OP_MatMul, fw_node_label(l->node));
    build_in(l->b, g->a);
    build_in(l->b, g->b);
    build_int(l->b, PARAM_transpose_in0, g->transpose_a);
    build_int(l->b, PARAM_transpose_in1, g->transpose_b);
    TRY(build_end(l->b, g->alpha == 1 ? last : step_name(l, "product"), out));
    return scaled(l, out, g->alpha, "alpha", last);
}

odlc_status lower_product(struct lower *l, struct matrix_product *g)
{
    /* Weights of no elements per output do not say into how many rows the input is to be cut. */
    bool weights = build_is_const(l->b, g->b) && build_type(l->b, g->b)->shape.dims[g->transpose_b] > 0;
    TRY(weights ? fully_connected(l, g, &l->out[0]) : dynamic_product(l, g, &l->out[0]));
    if (g->c == NO_TENSOR)
        return ODLC_OK;
    TRY(scaled(l, &g->c, g->beta, "beta", NULL));
    return build_binary(l->b, OP_ElementWiseAdd, l->out[0], g->c, lower_out_name(l, 0), &l->out[0]);
}
