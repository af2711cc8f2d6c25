/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators on what is given by positions: products of sparse matrices, and counts of numbers. */
#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/gather.h"
#include "converters/lowering/scatter.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- SparseTensorDenseMatMul ---- */

/* The matrix that inputs 0 to 2 list, with all its zeros. Values of one place are added. */
static odlc_status dense_matrix(struct lower *l, tensor_id *out)
{
    struct scatter s = {.reduction = REDUCE_ADD};
    struct shape shape;
    const int64_t *dims;
    tensor_id given;
    uint32_t count;
    TRY(lower_need(l, 0, "a_indices", &given));
    TRY(lower_need(l, 1, "a_values", &s.updates));
    TRY(lower_const_ints(l, 2, "a_shape", &dims, &count));
    TRY(lower_shape_of(l, "a_shape", dims, count, &shape));
    const struct type values = *build_type(l->b, s.updates);
    if (shape.rank != 2 || values.shape.rank != 1 ||
        !shape_equal(&build_type(l->b, given)->shape, &SHAPE(values.shape.dims[0], 2)))
        return lower_invalid(l, NULL, NULL, "indices %s and values %s are not those of a matrix %s",
                             shape_text(l->diags->arena, &build_type(l->b, given)->shape),
                             shape_text(l->diags->arena, &values.shape), shape_text(l->diags->arena, &shape));
    TRY(lower_indices(l, 0, FROM_FRONT, shape.dims, shape.rank, &s.indices));
    s.data = lower_splat(l, step_name(l, "zeros"), values.dtype, &shape, 0);
    return lower_scatter_slices(l, s, step_name(l, "matrix"), out);
}

odlc_status tf_sparse_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id a, b;
    bool adjoint_a, adjoint_b;
    TRY(dense_matrix(l, &a));
    TRY(lower_need(l, 3, "b", &b));
    TRY(lower_attr_bool(l, "adjoint_a", false, &adjoint_a));
    TRY(lower_attr_bool(l, "adjoint_b", false, &adjoint_b));
    const struct shape left = build_type(l->b, a)->shape, right = build_type(l->b, b)->shape;
    if (right.rank != 2 || left.dims[!adjoint_a] != right.dims[adjoint_b])
        return lower_invalid(l, NULL, NULL, "a matrix %s%s cannot be multiplied with %s%s",
                             shape_text(l->diags->arena, &left), adjoint_a ? " (transposed)" : "",
                             shape_text(l->diags->arena, &right), adjoint_b ? " (transposed)" : "");
    return emit_give(&s, 0, emit_matmul(&s, a, b, adjoint_a, adjoint_b));
}

/* ---- Bincount, DenseBincount ---- */

struct bincount {
    tensor_id numbers; /* [rows, count, 1] */
    tensor_id weights; /* the same, or NO_TENSOR: each counts as one */
    enum dtype dtype;  /* of the result */
    int64_t size;      /* numbers from there on are not counted */
    bool binary;       /* whether a number is there, not how often */
};

static odlc_status read_bincount(struct emit *s, struct bincount *c)
{
    struct lower *l = s->l;
    tensor_id weights;
    TRY(lower_need(l, 0, "input", &c->numbers));
    TRY(lower_one_int(l, 1, "size", &c->size));
    TRY(lower_need(l, 2, "weights", &weights));
    TRY(lower_attr_bool(l, "binary_output", false, &c->binary));
    const struct shape all = build_type(l->b, c->numbers)->shape, given = build_type(l->b, weights)->shape;
    const bool by_row = l->variant && all.rank == 2;
    if (c->size < 0 || c->size > INT32_MAX)
        return lower_invalid(l, "size", NULL, "size is %lld", (long long)c->size);
    if (l->variant && all.rank > 2)
        return lower_invalid(l, NULL, NULL, "the input %s has more than two axes", shape_text(l->diags->arena, &all));
    if (shape_count(&given) != 0 && !shape_equal(&all, &given))
        return lower_invalid(l, "weights", NULL, "the weights are %s for numbers %s",
                             shape_text(l->diags->arena, &given), shape_text(l->diags->arena, &all));
    const int64_t rows = by_row ? all.dims[0] : 1;
    const struct shape column = SHAPE(rows, by_row ? all.dims[1] : (int64_t)shape_count(&all), 1);
    c->dtype = build_type(l->b, weights)->dtype;
    c->numbers = emit_cast(s, emit_reshape(s, c->numbers, &column), DT_INT32);
    c->weights = shape_count(&given) == 0 ? NO_TENSOR : emit_reshape(s, weights, &column);
    return s->status;
}

/* Which number is at which place, [rows, count, size], weighted and added. */
static odlc_status give_bins(struct emit *s, const struct bincount *c)
{
    static const int64_t middle = 1;
    struct lower *l = s->l;
    const struct shape column = build_type(l->b, c->numbers)->shape;
    const struct shape table = SHAPE(column.dims[0], column.dims[1], c->size);
    TRY(lower_check_shape(l, "size", &table));
    tensor_id is_there = emit_binary(s, OP_ElementWiseEqual, c->numbers, emit_positions(s, c->size));
    tensor_id one = emit_cast(s, is_there, c->dtype);
    if (c->weights != NO_TENSOR && !c->binary)
        one = emit_select(s, is_there, c->weights, emit_scalar(s, c->weights, 0));
    tensor_id sum = emit_reduce(s, c->binary ? OP_ReduceMax : OP_ReduceSum, one, &middle, 1, false);
    const bool by_row = l->variant && build_rank(l->b, l->in[0]) == 2;
    return emit_give(s, 0, by_row ? sum : emit_reshape(s, sum, &SHAPE(c->size)));
}

odlc_status tf_bincount(struct lower *l)
{
    struct emit s = {.l = l};
    struct bincount c;
    TRY(read_bincount(&s, &c));
    if (c.size == 0 || shape_count(&build_type(l->b, c.numbers)->shape) == 0) {
        const struct shape *in = &build_type(l->b, l->in[0])->shape;
        const bool by_row = l->variant && in->rank == 2;
        l->out[0] =
            lower_splat(l, lower_out_name(l, 0), c.dtype, by_row ? &SHAPE(in->dims[0], c.size) : &SHAPE(c.size), 0);
        return ODLC_OK;
    }
    return give_bins(&s, &c);
}
