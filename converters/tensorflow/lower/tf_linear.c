/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's linear algebra on small matrices, one column after the other. What TensorFlow refuses while it runs, a
 * singular matrix or one that is not positive definite, gives numbers that are none. */
#include "converters/lowering/elimination.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

static tensor_id transposed(struct emit *s, tensor_id x)
{
    const struct perm exchange = {.rank = 3, .axis = {0, 2, 1}};
    return emit_transpose(s, x, &exchange);
}

/* Input 0, transposed where the attribute says so. */
static odlc_status read_matrices(struct emit *s, int64_t *n, tensor_id *x, bool *adjoint)
{
    TRY(lower_square_matrices(s, n, x));
    TRY(lower_attr_bool(s->l, "adjoint", false, adjoint));
    if (*adjoint)
        *x = transposed(s, *x);
    return s->status;
}

/* Input 1, of as many rows, as [batch, n, columns]. */
static odlc_status read_right(struct emit *s, int64_t n, tensor_id *x)
{
    struct lower *l = s->l;
    TRY(lower_need(l, 1, "rhs", x));
    const struct type type = *build_type(l->b, *x);
    const struct shape *left = &build_type(l->b, l->in[0])->shape;
    bool fits = type.shape.rank == left->rank && type.shape.rank >= 2;
    for (uint32_t i = 0; fits && i + 1 < left->rank; i++)
        fits = type.shape.dims[i] == left->dims[i];
    if (!fits)
        return lower_unsupported(l, NULL, NULL, "the right sides %s are not as many as the matrices %s",
                                 shape_text(l->diags->arena, &type.shape), shape_text(l->diags->arena, left));
    const int64_t columns = type.shape.dims[type.shape.rank - 1];
    if (columns < 1)
        return lower_invalid(l, NULL, NULL, "the right sides have no columns");
    const struct shape all = SHAPE((int64_t)shape_count_range(&type.shape, 0, type.shape.rank - 2), n, columns);
    *x = emit_reshape(s, emit_cast(s, *x, type.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32), &all);
    return s->status;
}

/* Output 0 has the shape and type of input i. */
static odlc_status give_like(struct emit *s, uint32_t i, tensor_id x)
{
    struct lower *l = s->l;
    const struct type type = *build_type(l->b, l->in[i]);
    return emit_give(s, 0, emit_cast(s, emit_reshape(s, x, &type.shape), type.dtype));
}

odlc_status tf_matrix_inverse(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    int64_t n;
    bool adjoint;
    TRY(read_matrices(&s, &n, &x, &adjoint));
    return give_like(&s, 0, emit_inverse(&s, x));
}

odlc_status tf_matrix_solve(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, right;
    int64_t n;
    bool adjoint;
    TRY(read_matrices(&s, &n, &x, &adjoint));
    TRY(read_right(&s, n, &right));
    return give_like(&s, 1, emit_solution(&s, x, right));
}

odlc_status tf_log_determinant(struct lower *l)
{
    struct emit s = {.l = l};
    struct log_det found;
    TRY(lower_log_det(l, &found));
    TRY(emit_give(&s, 0, found.sign));
    return l->n_out > 1 ? emit_give(&s, 1, found.logarithm) : ODLC_OK;
}

/* ---- MatrixTriangularSolve ---- */

/* Element (i, j) … of matrices, [batch, rows, columns]. */
static tensor_id block(struct emit *s, tensor_id x, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    return emit_slice(s, emit_slice(s, x, 1, row, row + rows), 2, column, column + columns);
}

/* A row that is solved leaves the rows that are not: those below it in a lower matrix, above it in an upper one. */
odlc_status tf_triangular_solve(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, rest;
    int64_t n;
    bool adjoint, lower;
    TRY(read_matrices(&s, &n, &x, &adjoint));
    TRY(read_right(&s, n, &rest));
    TRY(lower_attr_bool(l, "lower", true, &lower));
    lower = lower != adjoint;
    tensor_id *rows = arena_array(l->arena, tensor_id, (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = lower ? k : n - 1 - k, left = n - 1 - k;
        tensor_id row = emit_slice(&s, rest, 1, lower ? 0 : left, lower ? 1 : left + 1);
        rows[i] = emit_binary(&s, OP_ElementWiseDivide, row, block(&s, x, i, 1, i, 1));
        if (left == 0)
            break;
        rest = emit_slice(&s, rest, 1, lower ? 1 : 0, lower ? left + 1 : left);
        tensor_id column = block(&s, x, lower ? i + 1 : 0, left, i, 1);
        rest = emit_binary(&s, OP_ElementWiseSubtract, rest, emit_binary(&s, OP_ElementWiseMultiply, column, rows[i]));
    }
    return give_like(&s, 1, n == 1 ? rows[0] : emit_concat(&s, rows, (uint32_t)n, 1));
}

/* ---- Cholesky ---- */

/* Columns of the result: that of the first element divided by its root; what its square explains is taken from the
 * rest. */
odlc_status tf_cholesky(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id rest;
    int64_t n;
    TRY(lower_square_matrices(&s, &n, &rest));
    const struct type type = *build_type(l->b, rest);
    tensor_id *columns = arena_array(l->arena, tensor_id, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t left = n - i;
        tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot, block(&s, rest, 0, 1, 0, 1));
        columns[i] = emit_binary(&s, OP_ElementWiseDivide, emit_slice(&s, rest, 2, 0, 1), root);
        if (left > 1) {
            tensor_id below = emit_slice(&s, columns[i], 1, 1, left);
            tensor_id explained = emit_binary(&s, OP_ElementWiseMultiply, below, transposed(&s, below));
            rest = emit_binary(&s, OP_ElementWiseSubtract, block(&s, rest, 1, left - 1, 1, left - 1), explained);
        }
        if (i > 0) {
            const struct shape above = SHAPE(type.shape.dims[0], i, 1);
            tensor_id parts[] = {lower_splat(l, step_name(l, "zeros"), type.dtype, &above, 0), columns[i]};
            columns[i] = emit_concat(&s, parts, 2, 1);
        }
    }
    return give_like(&s, 0, n == 1 ? columns[0] : emit_concat(&s, columns, (uint32_t)n, 2));
}
