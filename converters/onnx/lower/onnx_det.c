/* ONNX Det: elimination with the largest pivot of each column, a matrix of one row and column less at each step. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

enum { LARGEST_MATRIX = 128 }; /* some 20 ops for each of its rows */

/* Matrices [batch, n, n] that are still to be reduced, and the product [batch, 1, 1] of the pivots so far. */
struct elimination {
    tensor_id rest, product;
    int64_t n;
};

/* True [batch, n, 1] at the row whose first element is largest; *place is its number, [batch, 1, 1]. */
static tensor_id pivot_row(struct emit *s, const struct elimination *e, tensor_id column, tensor_id *place)
{
    double *numbers = arena_array(s->l->arena, double, (size_t)e->n);
    for (int64_t i = 0; i < e->n; i++)
        numbers[i] = (double)i;
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, column);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(s->l->b, OP_Argmax, step_name(s->l, "Argmax"));
    build_in(s->l->b, size);
    build_int(s->l->b, PARAM_axis, 1);
    build_int(s->l->b, PARAM_keep_dims, true);
    s->status = build_end(s->l->b, step_name(s->l, "Argmax"), place);
    return emit_binary(s, OP_ElementWiseEqual, emit_constant(s, DT_INT32, &SHAPE(1, e->n, 1), numbers), *place);
}

/* One row and column less. The pivot's row goes first; the first one takes its place, which turns the sign. */
static void eliminate(struct emit *s, struct elimination *e)
{
    const int64_t rows = 1;
    tensor_id place = NO_TENSOR, column = emit_slice(s, e->rest, 2, 0, 1);
    tensor_id is_pivot = pivot_row(s, e, column, &place);
    tensor_id zero = emit_scalar(s, e->rest, 0), one = emit_scalar(s, e->rest, 1);
    tensor_id pivot = emit_reduce(s, OP_ReduceSum, emit_select(s, is_pivot, e->rest, zero), &rows, 1, true);
    tensor_id first = emit_slice(s, e->rest, 1, 0, 1);
    tensor_id swapped = emit_slice(s, emit_select(s, is_pivot, first, e->rest), 1, 1, e->n);
    tensor_id stays = emit_binary(s, OP_ElementWiseEqual, place, emit_scalar(s, place, 0));
    tensor_id sign = emit_select(s, stays, one, emit_scalar(s, e->rest, -1));
    tensor_id head = emit_slice(s, pivot, 2, 0, 1);
    e->product = emit_binary(s, OP_ElementWiseMultiply, e->product, emit_binary(s, OP_ElementWiseMultiply, head, sign));
    /* A pivot of 0 is that of a column of zeros: the product is 0 whatever comes. */
    tensor_id divisor = emit_select(s, emit_binary(s, OP_ElementWiseEqual, head, zero), one, head);
    tensor_id factors = emit_binary(s, OP_ElementWiseDivide, emit_slice(s, swapped, 2, 0, 1), divisor);
    tensor_id taken = emit_binary(s, OP_ElementWiseMultiply, factors, emit_slice(s, pivot, 2, 1, e->n));
    e->rest = emit_binary(s, OP_ElementWiseSubtract, emit_slice(s, swapped, 2, 1, e->n), taken);
    e->n--;
}

odlc_status lower_det(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    const struct type type = *build_type(l->b, x);
    uint32_t rank = type.shape.rank;
    if (rank < 2 || type.shape.dims[rank - 1] != type.shape.dims[rank - 2] || !dtype_is_float(type.dtype))
        return lower_invalid(l, NULL, NULL, "%s of %s is not made of square matrices of floats",
                             shape_text(l->diags->arena, &type.shape), dtype_info(type.dtype)->name);
    struct elimination e = {.n = type.shape.dims[rank - 1]};
    if (e.n < 1 || e.n > LARGEST_MATRIX)
        return lower_unsupported(l, NULL, NULL, "matrices of %lld rows are outside 1 to %d", (long long)e.n,
                                 LARGEST_MATRIX);
    struct shape batch = {.rank = rank - 2}, all = SHAPE(0, e.n, e.n);
    for (uint32_t i = 0; i < batch.rank; i++)
        batch.dims[i] = type.shape.dims[i];
    all.dims[0] = (int64_t)shape_count(&batch);
    x = emit_cast(&s, x, type.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32); /* in float at least */
    e.rest = emit_reshape(&s, x, &all);
    e.product = emit_scalar(&s, x, 1);
    while (e.n > 1)
        eliminate(&s, &e);
    tensor_id product = emit_binary(&s, OP_ElementWiseMultiply, e.product, e.rest);
    return emit_give(&s, 0, emit_cast(&s, emit_reshape(&s, product, &batch), type.dtype));
}
