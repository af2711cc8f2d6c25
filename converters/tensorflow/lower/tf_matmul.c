/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow matrix products. */
#include <string.h>

#include "converters/lowering/matrix_product.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/activation.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

static odlc_status read_product(const struct lower *l, struct matrix_product *g)
{
    *g = (struct matrix_product){.c = NO_TENSOR, .alpha = 1, .beta = 1};
    TRY(lower_need(l, 0, "a", &g->a));
    TRY(lower_need(l, 1, "b", &g->b));
    TRY(lower_attr_bool(l, "transpose_a", false, &g->transpose_a));
    TRY(lower_attr_bool(l, "transpose_b", false, &g->transpose_b));
    return lower_check_product(l, g);
}

odlc_status tf_matmul(struct lower *l)
{
    struct matrix_product g;
    TRY(read_product(l, &g));
    return lower_product(l, &g);
}

/* A product, and what fused_ops lists: a bias, then perhaps an activation. */
odlc_status tf_fused_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    struct matrix_product g;
    const char *const *fused;
    uint32_t count, bias;
    TRY(read_product(l, &g));
    TRY(lower_attr_strings(l, "fused_ops", &fused, &count));
    bias = count > 0 && strcmp(fused[0], "BiasAdd") == 0;
    if (bias)
        TRY(lower_need(l, 2, "the bias", &g.c));
    if (count == bias)
        return lower_product(l, &g);
    tensor_id y = NO_TENSOR;
    struct lower inner = *l; /* its result has no name of the model's */
    inner.out = &y;
    inner.n_out = 0;
    TRY(lower_product(&inner, &g));
    for (uint32_t i = bias; i < count; i++)
        y = emit_activation(&s, fused[i], y);
    return emit_give(&s, 0, y);
}

/* Matrices in the last two axes; those of integers are multiplied in the result's type. */
odlc_status tf_batch_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    bool adj_x, adj_y;
    enum dtype to;
    TRY(lower_need(l, 0, "x", &x));
    TRY(lower_need(l, 1, "y", &y));
    TRY(lower_attr_bool(l, "adj_x", false, &adj_x));
    TRY(lower_attr_bool(l, "adj_y", false, &adj_y));
    TRY(lower_tf_dtype(l, "Tout", build_type(l->b, x)->dtype, &to));
    if (build_rank(l->b, x) < 2 || build_rank(l->b, y) < 2)
        return lower_invalid(l, NULL, NULL, "the operands %s and %s are not both matrices",
                             shape_text(l->diags->arena, &build_type(l->b, x)->shape),
                             shape_text(l->diags->arena, &build_type(l->b, y)->shape));
    x = emit_cast(&s, x, to);
    y = emit_cast(&s, y, to);
    return emit_give(&s, 0, emit_matmul(&s, x, y, adj_x, adj_y));
}
