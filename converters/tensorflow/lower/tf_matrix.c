/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators on the diagonals of matrices, which are the last two axes: elements are picked from places that
 * are known, and selected by a mask. The arg is the alignment of operators without the attribute `align`. */
#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* The diagonals low … high of a matrix, where 0 is the main one and positive ones are above. As a tensor they are rows,
 * the highest one first, each as long as the longest. */
struct band {
    int64_t low, high, rows, columns, longest;
    bool left_above,
        left_below; /* shorter ones above (below) the main one start at the row's begin, not end at its end */
};

static int64_t diagonal_length(const struct band *b, int64_t d)
{
    return min_i64(b->rows + min_i64(d, 0), b->columns - max_i64(d, 0));
}

/* Where a diagonal starts in its row. */
static int64_t diagonal_start(const struct band *b, int64_t d)
{
    bool left = (d >= 0 && b->left_above) || (d <= 0 && b->left_below);
    return left ? 0 : b->longest - diagonal_length(b, d);
}

static bool one_diagonal(const struct band *b)
{
    return b->low == b->high;
}

static odlc_status read_alignment(const struct lower *l, struct band *b)
{
    enum { BELOW_LEFT = 1, ABOVE_LEFT = 2 };
    static const struct choice alignments[] = {{"RIGHT_LEFT", BELOW_LEFT},
                                               {"LEFT_LEFT", BELOW_LEFT | ABOVE_LEFT},
                                               {"LEFT_RIGHT", ABOVE_LEFT},
                                               {"RIGHT_RIGHT", 0}};
    int value;
    TRY(lower_choose(l, "align", l->variant, alignments, COUNT_OF(alignments), &value));
    b->left_below = value & BELOW_LEFT;
    b->left_above = value & ABOVE_LEFT;
    return ODLC_OK;
}

/* The diagonals that input i says: one, or the lowest and the highest; the main one without the input. */
static odlc_status read_band(const struct lower *l, uint32_t i, struct band *b)
{
    const int64_t *k;
    uint32_t count;
    TRY(lower_const_ints(l, i, "k", &k, &count));
    *b = (struct band){.low = 0};
    if (lower_in(l, i) != NO_TENSOR) {
        if (count < 1 || count > 2 || k[0] > k[count - 1] || k[0] <= INT32_MIN || k[count - 1] > INT32_MAX)
            return lower_invalid(l, "k", NULL, "k is not one diagonal, or the lowest and the highest of several");
        b->low = k[0];
        b->high = k[count - 1];
    }
    return read_alignment(l, b);
}

/* The band in matrices of that size. */
static odlc_status place_band(const struct lower *l, struct band *b, int64_t rows, int64_t columns)
{
    b->rows = rows;
    b->columns = columns;
    b->longest = min_i64(rows + min_i64(b->high, 0), columns - max_i64(b->low, 0));
    if (b->low <= -rows || b->high >= columns || b->longest < 1)
        return lower_invalid(l, "k", NULL, "matrices of %lld rows and %lld columns have no diagonals %lld to %lld",
                             (long long)rows, (long long)columns, (long long)b->low, (long long)b->high);
    return ODLC_OK;
}

static odlc_status need_matrices(const struct lower *l, tensor_id *in, struct shape *shape)
{
    TRY(lower_need(l, 0, "input", in));
    *shape = build_type(l->b, *in)->shape;
    if (shape->rank < 2)
        return lower_invalid(l, NULL, NULL, "the input %s is not a matrix", shape_text(l->diags->arena, shape));
    return ODLC_OK;
}

/* ---- picking ---- */

/* For each element of the result's last axes: whether it is picked, and from where in the source's last axes. */
struct picks {
    struct shape shape; /* of these axes */
    bool *is_picked, all;
    int64_t *from;
};

static odlc_status start_picks(const struct lower *l, const struct shape *shape, struct picks *p)
{
    *p = (struct picks){.shape = *shape, .all = true};
    TRY(lower_check_shape(l, NULL, shape));
    TRY(lower_table(l, shape_count(shape), sizeof *p->is_picked, &p->is_picked));
    return lower_table(l, shape_count(shape), sizeof *p->from, &p->from);
}

static void pick(struct picks *p, int64_t at, bool is_picked, int64_t from)
{
    p->is_picked[at] = is_picked;
    p->from[at] = is_picked ? from : 0;
    p->all = p->all && is_picked;
}

/* is_picked ? yes : no, by a mask of the last axes. */
static odlc_status give_masked(struct emit *s, const struct picks *p, tensor_id yes, tensor_id no)
{
    struct lower *l = s->l;
    TRY(s->status);
    if (p->all)
        return emit_give(s, 0, yes);
    struct view mask = view_of(p->is_picked, DT_BOOL, &p->shape);
    tensor_id condition = graph_add_constant(l->b->graph, step_name(l, "mask"), DT_BOOL, &mask);
    return emit_end_select(s, condition, yes, no);
}

/* The picked elements of `source`, whose last `axes` axes count as one; the others of `rest`, which broadcasts. */
static odlc_status give_picked(struct lower *l, const struct picks *p, tensor_id source, uint32_t axes, tensor_id rest)
{
    struct emit s = {.l = l};
    struct shape flat = build_type(l->b, source)->shape;
    uint32_t outer = flat.rank - axes;
    flat.dims[outer] = (int64_t)shape_count_range(&flat, outer, flat.rank);
    flat.rank = outer + 1;
    if (outer + p->shape.rank > MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    tensor_id picked;
    source = emit_reshape(&s, source, &flat);
    TRY(s.status);
    TRY(lower_gather_positions(l, source, outer, p->from, (int64_t)shape_count(&p->shape), step_name(l, "picked"),
                               &picked));
    struct shape full = flat;
    full.rank = outer;
    for (uint32_t i = 0; i < p->shape.rank; i++)
        full.dims[full.rank++] = p->shape.dims[i];
    return give_masked(&s, p, emit_reshape(&s, picked, &full), rest);
}

/* Each element of a matrix comes from its diagonal. */
static odlc_status picks_of_matrix(const struct lower *l, const struct band *b, struct picks *p)
{
    struct shape matrix = SHAPE(b->rows, b->columns);
    TRY(start_picks(l, &matrix, p));
    for (int64_t i = 0, at = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->columns; j++, at++) {
            int64_t d = j - i;
            bool inside = d >= b->low && d <= b->high;
            pick(p, at, inside, inside ? (b->high - d) * b->longest + diagonal_start(b, d) + min_i64(i, j) : 0);
        }
    return ODLC_OK;
}

/* The diagonals, in the last axes of a tensor, have to be those of the band. */
static odlc_status check_diagonals(const struct lower *l, const struct band *b, const struct shape *shape)
{
    int64_t count = b->high - b->low + 1;
    uint32_t axes = one_diagonal(b) ? 1 : 2;
    if (shape->rank < axes || shape->dims[shape->rank - 1] != b->longest ||
        (axes == 2 && shape->dims[shape->rank - 2] != count))
        return lower_invalid(l, NULL, NULL, "%s are not %lld diagonals of %lld elements",
                             shape_text(l->diags->arena, shape), (long long)count, (long long)b->longest);
    return ODLC_OK;
}

/* Input i, one number, or zero. */
static odlc_status padding(const struct lower *l, uint32_t i, tensor_id like, tensor_id *out)
{
    struct shape scalar = {.rank = 0};
    *out = lower_in(l, i);
    if (*out == NO_TENSOR)
        *out = lower_splat(l, step_name(l, "zero"), build_type(l->b, like)->dtype, &scalar, 0);
    else if (shape_count(&build_type(l->b, *out)->shape) != 1)
        return lower_invalid(l, "padding_value", NULL, "the padding value is not one number");
    return ODLC_OK;
}

/* ---- operators ---- */

/* The number of rows or columns that input i gives; -1, for the fewest that hold the diagonals, without it. */
static odlc_status extent(const struct lower *l, uint32_t i, const char *name, int64_t *out)
{
    const int64_t *given;
    uint32_t count;
    TRY(lower_const_ints(l, i, name, &given, &count));
    if (given && (count != 1 || given[0] < -1 || given[0] > INT32_MAX))
        return lower_invalid(l, name, NULL, "%s is not a number of rows or columns, or -1", name);
    *out = given ? given[0] : -1;
    return ODLC_OK;
}

/* The size of the matrices around diagonals of that length, one of which reaches the last row or column. */
static odlc_status matrix_size(const struct lower *l, struct band *b, int64_t longest)
{
    int64_t rows, columns, least_rows = longest - min_i64(b->high, 0), least_columns = longest + max_i64(b->low, 0);
    TRY(extent(l, 2, "num_rows", &rows));
    TRY(extent(l, 3, "num_cols", &columns));
    if (rows == -1 && columns == -1)
        rows = columns = max_i64(least_rows, least_columns);
    b->rows = rows == -1 ? least_rows : rows;
    b->columns = columns == -1 ? least_columns : columns;
    b->longest = longest;
    bool fits =
        b->rows == least_rows ? b->columns >= least_columns : b->rows > least_rows && b->columns == least_columns;
    if (longest < 1 || !fits)
        return lower_invalid(
            l, "k", NULL, "diagonals %lld to %lld of %lld elements are not those of %lld rows and %lld columns",
            (long long)b->low, (long long)b->high, (long long)longest, (long long)b->rows, (long long)b->columns);
    return ODLC_OK;
}

odlc_status tf_matrix_diag(struct lower *l)
{
    tensor_id diagonals, rest;
    struct band b;
    struct picks p;
    TRY(lower_need(l, 0, "diagonal", &diagonals));
    TRY(read_band(l, 1, &b));
    const struct shape shape = build_type(l->b, diagonals)->shape;
    if (shape.rank == 0)
        return lower_invalid(l, NULL, NULL, "the diagonal is a scalar");
    TRY(matrix_size(l, &b, shape.dims[shape.rank - 1]));
    TRY(check_diagonals(l, &b, &shape));
    TRY(padding(l, 4, diagonals, &rest));
    TRY(picks_of_matrix(l, &b, &p));
    return give_picked(l, &p, diagonals, one_diagonal(&b) ? 1 : 2, rest);
}

odlc_status tf_matrix_diag_part(struct lower *l)
{
    tensor_id in, rest;
    struct shape shape;
    struct band b;
    struct picks p;
    TRY(need_matrices(l, &in, &shape));
    TRY(read_band(l, 1, &b));
    TRY(place_band(l, &b, shape.dims[shape.rank - 2], shape.dims[shape.rank - 1]));
    TRY(padding(l, 2, in, &rest));
    struct shape diagonals = SHAPE(b.high - b.low + 1, b.longest), diagonal = SHAPE(b.longest);
    TRY(start_picks(l, one_diagonal(&b) ? &diagonal : &diagonals, &p));
    for (int64_t d = b.high, at = 0; d >= b.low; d--)
        for (int64_t i = 0; i < b.longest; i++, at++) {
            int64_t k = i - diagonal_start(&b, d);
            bool inside = k >= 0 && k < diagonal_length(&b, d);
            pick(&p, at, inside, (k - min_i64(d, 0)) * b.columns + k + max_i64(d, 0));
        }
    return give_picked(l, &p, in, 2, rest);
}

odlc_status tf_matrix_set_diag(struct lower *l)
{
    tensor_id in, diagonals;
    struct shape shape;
    struct band b;
    struct picks p;
    TRY(need_matrices(l, &in, &shape));
    TRY(lower_need(l, 1, "diagonal", &diagonals));
    TRY(read_band(l, 2, &b));
    TRY(place_band(l, &b, shape.dims[shape.rank - 2], shape.dims[shape.rank - 1]));
    TRY(check_diagonals(l, &b, &build_type(l->b, diagonals)->shape));
    TRY(picks_of_matrix(l, &b, &p));
    return give_picked(l, &p, diagonals, one_diagonal(&b) ? 1 : 2, in);
}

/* Zeros outside of so many diagonals below and above the main one; negative: all. */
odlc_status tf_matrix_band_part(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id in, zero;
    struct shape shape;
    struct picks p;
    const int64_t *bounds[2];
    TRY(need_matrices(l, &in, &shape));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t count;
        const char *name = i ? "num_upper" : "num_lower";
        tensor_id bound;
        TRY(lower_need(l, 1 + i, name, &bound));
        TRY(lower_const_ints(l, 1 + i, name, &bounds[i], &count));
        if (count != 1)
            return lower_invalid(l, name, NULL, "%s is not one number", name);
    }
    int64_t lower = *bounds[0], upper = *bounds[1];
    struct shape matrix = SHAPE(shape.dims[shape.rank - 2], shape.dims[shape.rank - 1]);
    TRY(start_picks(l, &matrix, &p));
    TRY(padding(l, 3, in, &zero));
    for (int64_t i = 0, at = 0; i < matrix.dims[0]; i++)
        for (int64_t j = 0; j < matrix.dims[1]; j++, at++)
            pick(&p, at, (lower < 0 || i - j <= lower) && (upper < 0 || j - i <= upper), 0);
    return give_masked(&s, &p, in, zero);
}
