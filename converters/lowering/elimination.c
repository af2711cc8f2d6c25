/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/elimination.h"

#include "converters/lowering/shapes.h"

enum { LARGEST_MATRIX = 128 }; /* some 20 ops for each of its rows */

/* Matrices [batch, n, n] that are still to be reduced, and, [batch, 1, 1], the pivot of the last step and the sign that
 * the exchange of its row turned. */
struct elimination {
    tensor_id rest, pivot, sign;
    int64_t n;
};

/* True [batch, n, 1] at the row whose first element is largest; *place is its number, [batch, 1, 1]. */
static tensor_id pivot_row(struct emit *s, int64_t n, tensor_id column, tensor_id *place)
{
    double *numbers = arena_array(s->l->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (double)i;
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, column);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(s->l->b, OP_Argmax, step_name(s->l, "Argmax"));
    build_in(s->l->b, size);
    build_int(s->l->b, PARAM_axis, 1);
    build_int(s->l->b, PARAM_keep_dims, true);
    s->status = build_end(s->l->b, step_name(s->l, "Argmax"), place);
    return emit_binary(s, OP_ElementWiseEqual, emit_constant(s, DT_INT32, &SHAPE(1, n, 1), numbers), *place);
}

/* One row and column less. The pivot's row goes first; the first one takes its place, which turns the sign. */
static void eliminate(struct emit *s, struct elimination *e)
{
    const int64_t rows = 1;
    tensor_id place = NO_TENSOR, column = emit_slice(s, e->rest, 2, 0, 1);
    tensor_id is_pivot = pivot_row(s, e->n, column, &place);
    tensor_id zero = emit_scalar(s, e->rest, 0), one = emit_scalar(s, e->rest, 1);
    tensor_id pivot = emit_reduce(s, OP_ReduceSum, emit_select(s, is_pivot, e->rest, zero), &rows, 1, true);
    tensor_id first = emit_slice(s, e->rest, 1, 0, 1);
    tensor_id swapped = emit_slice(s, emit_select(s, is_pivot, first, e->rest), 1, 1, e->n);
    tensor_id stays = emit_binary(s, OP_ElementWiseEqual, place, emit_scalar(s, place, 0));
    e->sign = emit_select(s, stays, one, emit_scalar(s, e->rest, -1));
    tensor_id head = e->pivot = emit_slice(s, pivot, 2, 0, 1);
    /* A pivot of 0 is that of a column of zeros: the determinant is 0 whatever comes. */
    tensor_id divisor = emit_select(s, emit_binary(s, OP_ElementWiseEqual, head, zero), one, head);
    tensor_id factors = emit_binary(s, OP_ElementWiseDivide, emit_slice(s, swapped, 2, 0, 1), divisor);
    tensor_id taken = emit_binary(s, OP_ElementWiseMultiply, factors, emit_slice(s, pivot, 2, 1, e->n));
    e->rest = emit_binary(s, OP_ElementWiseSubtract, emit_slice(s, swapped, 2, 1, e->n), taken);
    e->n--;
}

odlc_status lower_square_matrices(struct emit *s, int64_t *n, tensor_id *x)
{
    struct lower *l = s->l;
    TRY(lower_need(l, 0, "the matrices", x));
    const struct type type = *build_type(l->b, *x);
    uint32_t rank = type.shape.rank;
    if (rank < 2 || type.shape.dims[rank - 1] != type.shape.dims[rank - 2] || !dtype_is_float(type.dtype))
        return lower_invalid(l, NULL, NULL, "%s of %s is not made of square matrices of floats",
                             shape_text(l->diags->arena, &type.shape), dtype_info(type.dtype)->name);
    *n = type.shape.dims[rank - 1];
    if (*n < 1 || *n > LARGEST_MATRIX)
        return lower_unsupported(l, NULL, NULL, "matrices of %lld rows are outside 1 to %d", (long long)*n,
                                 LARGEST_MATRIX);
    struct shape all = SHAPE((int64_t)shape_count_range(&type.shape, 0, rank - 2), *n, *n);
    *x = emit_reshape(s, emit_cast(s, *x, type.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32), &all);
    return s->status;
}

/* A number for each matrix, [batch, 1, 1], as the matrices without their last two axes. */
static tensor_id each_matrix(struct emit *s, tensor_id x)
{
    const struct type type = *build_type(s->l->b, s->l->in[0]);
    struct shape batch = type.shape;
    batch.rank -= 2;
    return emit_cast(s, emit_reshape(s, x, &batch), type.dtype);
}

odlc_status lower_det(struct lower *l)
{
    struct emit s = {.l = l};
    struct elimination e;
    TRY(lower_square_matrices(&s, &e.n, &e.rest));
    tensor_id product = emit_scalar(&s, e.rest, 1);
    while (e.n > 1) {
        eliminate(&s, &e);
        tensor_id factor = emit_binary(&s, OP_ElementWiseMultiply, e.pivot, e.sign);
        product = emit_binary(&s, OP_ElementWiseMultiply, product, factor);
    }
    product = emit_binary(&s, OP_ElementWiseMultiply, product, e.rest);
    return emit_give(&s, 0, each_matrix(&s, product));
}

static tensor_id log_size(struct emit *s, tensor_id x)
{
    return emit_unary(s, OP_ElementWiseLog, emit_unary(s, OP_ElementWiseAbs, x));
}

odlc_status lower_log_det(struct lower *l, struct log_det *out)
{
    struct emit s = {.l = l};
    struct elimination e;
    TRY(lower_square_matrices(&s, &e.n, &e.rest));
    tensor_id sign = emit_scalar(&s, e.rest, 1), sum = emit_scalar(&s, e.rest, 0);
    while (e.n > 1) {
        eliminate(&s, &e);
        tensor_id turned = emit_binary(&s, OP_ElementWiseMultiply, emit_unary(&s, OP_ElementWiseSign, e.pivot), e.sign);
        sign = emit_binary(&s, OP_ElementWiseMultiply, sign, turned);
        sum = emit_binary(&s, OP_ElementWiseAdd, sum, log_size(&s, e.pivot));
    }
    sign = emit_binary(&s, OP_ElementWiseMultiply, sign, emit_unary(&s, OP_ElementWiseSign, e.rest));
    sum = emit_binary(&s, OP_ElementWiseAdd, sum, log_size(&s, e.rest));
    const tensor_id signs = each_matrix(&s, sign);
    *out = (struct log_det){signs, each_matrix(&s, sum)};
    return s.status;
}

/* ---- Inverse ---- */

/* The rows of [X, right] on their way to [1, solution], of which columns that are done are left out: `rest` are those
 * that were no pivot yet, `done` the others in the order of their columns. */
struct inversion {
    tensor_id rest, done;
    int64_t n; /* rows of rest */
};

/* rows[:, 1:] - rows[:, 0] · pivot */
static tensor_id clear_column(struct emit *s, tensor_id rows, int64_t width, tensor_id pivot)
{
    tensor_id taken = emit_binary(s, OP_ElementWiseMultiply, emit_slice(s, rows, 2, 0, 1), pivot);
    return emit_binary(s, OP_ElementWiseSubtract, emit_slice(s, rows, 2, 1, width), taken);
}

static void invert_column(struct emit *s, struct inversion *v, int64_t width)
{
    const int64_t rows = 1;
    tensor_id place = NO_TENSOR, column = emit_slice(s, v->rest, 2, 0, 1);
    tensor_id is_pivot = pivot_row(s, v->n, column, &place);
    tensor_id chosen = emit_select(s, is_pivot, v->rest, emit_scalar(s, v->rest, 0));
    tensor_id pivot = emit_reduce(s, OP_ReduceSum, chosen, &rows, 1, true);
    tensor_id first = emit_slice(s, v->rest, 1, 0, 1);
    tensor_id head = emit_slice(s, pivot, 2, 0, 1);
    pivot = emit_binary(s, OP_ElementWiseDivide, emit_slice(s, pivot, 2, 1, width), head);
    if (v->n > 1) {
        tensor_id others = emit_slice(s, emit_select(s, is_pivot, first, v->rest), 1, 1, v->n);
        v->rest = clear_column(s, others, width, pivot);
    }
    tensor_id parts[] = {v->done, pivot};
    if (v->done != NO_TENSOR)
        parts[0] = clear_column(s, v->done, width, pivot);
    v->done = v->done == NO_TENSOR ? pivot : emit_concat(s, parts, 2, 1);
    v->n--;
}

tensor_id emit_solution(struct emit *s, tensor_id matrices, tensor_id right)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const int64_t n = build_type(s->l->b, matrices)->shape.dims[1], columns = build_type(s->l->b, right)->shape.dims[2];
    const tensor_id parts[] = {matrices, right};
    struct inversion v = {.rest = emit_concat(s, parts, 2, 2), .done = NO_TENSOR, .n = n};
    for (int64_t width = n + columns; v.n > 0; width--)
        invert_column(s, &v, width);
    return v.done;
}

tensor_id emit_inverse(struct emit *s, tensor_id matrices)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, matrices);
    const int64_t n = type.shape.dims[1];
    double *ones = arena_array(s->l->arena, double, (size_t)(n * n));
    for (int64_t i = 0; i < n; i++)
        ones[i * n + i] = 1;
    tensor_id unit = emit_constant(s, type.dtype, &SHAPE(1, n, n), ones);
    return emit_solution(s, matrices, emit_broadcast(s, unit, &type.shape));
}

odlc_status lower_inverse(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id matrices;
    int64_t n;
    TRY(lower_square_matrices(&s, &n, &matrices));
    const struct type type = *build_type(l->b, l->in[0]);
    tensor_id inverse = emit_inverse(&s, matrices);
    return emit_give(&s, 0, emit_cast(&s, emit_reshape(&s, inverse, &type.shape), type.dtype));
}
