/* SPDX-License-Identifier: Apache-2.0 */
/* CDist of ONNX Runtime, which converted nearest neighbours have: distances between the rows of two matrices. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/onnx_rows.h"

enum { MOST = 64 * 1024 * 1024, SQUARED = 0, PLAIN_ROOT = 1 }; /* MOST: differences of all rows */

odlc_status lower_cdist(struct lower *l)
{
    static const struct choice metrics[] = {{"sqeuclidean", SQUARED}, {"euclidean", PLAIN_ROOT}};
    static const int64_t features = 2;
    struct emit s = {.l = l};
    tensor_id a, b;
    int metric;
    TRY(lower_need(l, 0, "A", &a));
    TRY(lower_need(l, 1, "B", &b));
    TRY(lower_choose(l, "metric", "sqeuclidean", metrics, COUNT_OF(metrics), &metric));
    const struct shape x = build_type(l->b, a)->shape, y = build_type(l->b, b)->shape;
    if (x.rank != 2 || y.rank != 2 || x.dims[1] != y.dims[1])
        return lower_invalid(l, NULL, NULL, "%s and %s are not rows of as many features",
                             shape_text(l->diags->arena, &x), shape_text(l->diags->arena, &y));
    const struct shape all = SHAPE(x.dims[0], y.dims[0], x.dims[1]);
    if (shape_count(&all) > MOST)
        return lower_unsupported(l, NULL, NULL, "%s and %s have more than %d differences",
                                 shape_text(l->diags->arena, &x), shape_text(l->diags->arena, &y), MOST);
    a = emit_reshape(&s, a, &SHAPE(x.dims[0], 1, x.dims[1]));
    const tensor_id difference = emit_binary(&s, OP_ElementWiseSubtract, a, b);
    const tensor_id square = emit_binary(&s, OP_ElementWiseMultiply, difference, difference);
    tensor_id sum = emit_reduce(&s, OP_ReduceSum, square, &features, 1, false);
    if (metric == PLAIN_ROOT)
        sum = emit_unary(&s, OP_ElementWiseSquareRoot, sum);
    return emit_give(&s, 0, sum);
}
