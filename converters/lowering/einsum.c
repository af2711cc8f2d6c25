/* SPDX-License-Identifier: Apache-2.0 */
/* Operand by operand, each pair a matrix product or, where nothing is summed, a product of elements. */
#include "converters/lowering/einsum.h"

#include "converters/lowering/equation.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

struct einsum {
    struct emit s;
    struct equation equation;
    int64_t extent[EINSUM_LABELS]; /* of a label: 1 is repeated where another operand has more */
};

/* A tensor whose axes have these labels, each once. */
struct term {
    tensor_id t;
    struct labels labels;
};

static struct shape shape_of(const struct einsum *e, tensor_id t)
{
    return build_type(e->s.l->b, t)->shape;
}

/* ---- one operand ---- */

/* The first pair of axes with one label; false when there is none. */
static bool find_pair(const struct labels *labels, uint32_t *first, uint32_t *second)
{
    for (*first = 0; *first < labels->count; ++*first)
        for (*second = *first + 1; *second < labels->count; ++*second)
            if (labels->at[*first] == labels->at[*second])
                return true;
    return false;
}

/* A label that stands twice stands for the diagonal: of both axes joined, every extent + 1st element. */
static odlc_status take_diagonal(struct einsum *e, struct term *t, uint32_t first, uint32_t second)
{
    struct lower *l = e->s.l;
    struct shape in = shape_of(e, t->t), joined = {.rank = 0};
    struct perm perm = {.rank = in.rank};
    struct labels labels = {0};
    int64_t extent = in.dims[first], *diagonal;
    if (extent != in.dims[second])
        return lower_invalid(l, "equation", NULL, "axes %u and %u of %s have one label", first, second,
                             shape_text(l->diags->arena, &in));
    for (uint32_t i = 0; i < in.rank; i++) {
        if (i == first || i == second)
            continue;
        perm.axis[joined.rank] = (uint8_t)i;
        labels.at[labels.count++] = t->labels.at[i];
        joined.dims[joined.rank++] = in.dims[i];
    }
    perm.axis[joined.rank] = (uint8_t)first;
    perm.axis[joined.rank + 1] = (uint8_t)second;
    labels.at[labels.count++] = t->labels.at[first];
    joined.dims[joined.rank++] = extent * extent;
    TRY(lower_table(l, (uint64_t)extent, sizeof *diagonal, &diagonal));
    for (int64_t i = 0; i < extent; i++)
        diagonal[i] = i * (extent + 1);
    tensor_id x = emit_reshape(&e->s, emit_transpose(&e->s, t->t, &perm), &joined);
    TRY(e->s.status);
    t->labels = labels;
    return lower_gather_positions(l, x, joined.rank - 1, diagonal, extent, step_name(l, "diagonal"), &t->t);
}

/* The sum along the axes whose labels are in the set. */
static void sum_axes(struct einsum *e, struct term *t, uint64_t set)
{
    int64_t axes[MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->labels.count; i++)
        if (set >> t->labels.at[i] & 1)
            axes[count++] = i;
    if (count == 0)
        return;
    t->t = emit_reduce(&e->s, OP_ReduceSum, t->t, axes, count, false);
    t->labels = labels_of(&t->labels, ~set);
}

/* Diagonals are taken, and what neither the others nor the result have is summed. */
static odlc_status read_term(struct einsum *e, uint32_t i, struct term *t)
{
    struct lower *l = e->s.l;
    uint64_t needed = labels_set(&e->equation.result);
    uint32_t first, second;
    *t = (struct term){.t = l->in[i], .labels = e->equation.terms[i]};
    while (find_pair(&t->labels, &first, &second))
        TRY(take_diagonal(e, t, first, second));
    for (uint32_t k = 0; k < l->n_in; k++)
        if (k != i)
            needed |= labels_set(&e->equation.terms[k]);
    sum_axes(e, t, ~needed);
    TRY(e->s.status);
    const struct shape shape = shape_of(e, t->t);
    for (uint32_t k = 0; k < shape.rank; k++) {
        int64_t *extent = &e->extent[t->labels.at[k]], dim = shape.dims[k];
        if (*extent != 1 && dim != 1 && *extent != dim)
            return lower_invalid(l, "equation", NULL, "a label stands for axes of %lld and %lld elements",
                                 (long long)*extent, (long long)dim);
        *extent = *extent == 1 ? dim : *extent;
    }
    return ODLC_OK;
}

/* ---- two operands ---- */

/* The axes in the order of the labels, which are those of the term. */
static void arrange(struct einsum *e, struct term *t, const struct labels *order)
{
    struct perm perm = {.rank = order->count};
    for (uint32_t i = 0; i < order->count; i++)
        for (uint32_t k = 0; k < t->labels.count; k++)
            if (t->labels.at[k] == order->at[i])
                perm.axis[i] = (uint8_t)k;
    t->t = emit_transpose(&e->s, t->t, &perm);
    t->labels = *order;
}

/* Axes of 1 that the other operand has more of are repeated. */
static void repeat_axes(struct einsum *e, struct term *t, uint64_t set)
{
    if (e->s.status != ODLC_OK)
        return;
    struct shape shape = shape_of(e, t->t);
    for (uint32_t i = 0; i < shape.rank; i++)
        if (set >> t->labels.at[i] & 1)
            shape.dims[i] = e->extent[t->labels.at[i]];
    t->t = emit_broadcast(&e->s, t->t, &shape);
}

/* The labels of a pair: in both and needed later, in both and summed, in one of them. */
struct pair {
    struct labels batch, summed, x_own, y_own;
};

/* batch, then the two groups, the second of which may come first: then the product is told to transpose. As a matrix
 * per index of the batch axes. */
static bool as_matrices(struct einsum *e, struct term *t, const struct labels *batch, const struct labels *rows,
                        const struct labels *columns)
{
    struct labels order = *batch, swapped = *batch;
    bool fits = labels_append(&order, rows) && labels_append(&order, columns) && labels_append(&swapped, columns) &&
                labels_append(&swapped, rows);
    bool is_swapped = fits && columns->count && rows->count && labels_equal(&t->labels, &swapped);
    arrange(e, t, is_swapped ? &swapped : &order);
    repeat_axes(e, t, labels_set(batch) | labels_set(rows) | labels_set(columns));
    if (e->s.status != ODLC_OK)
        return false;
    struct shape in = shape_of(e, t->t), matrices = {.rank = 0};
    if (batch->count + 2 > MAX_RANK)
        matrices.dims[matrices.rank++] = (int64_t)shape_count_range(&in, 0, batch->count);
    else
        for (; matrices.rank < batch->count; matrices.rank++)
            matrices.dims[matrices.rank] = in.dims[matrices.rank];
    uint32_t middle = batch->count + (is_swapped ? columns : rows)->count;
    matrices.dims[matrices.rank++] = (int64_t)shape_count_range(&in, batch->count, middle);
    matrices.dims[matrices.rank++] = (int64_t)shape_count_range(&in, middle, in.rank);
    t->t = emit_reshape(&e->s, t->t, &matrices);
    return is_swapped;
}

static tensor_id matrix_product(struct einsum *e, struct term *x, struct term *y, const struct pair *p,
                                const struct labels *result)
{
    struct shape shape = {.rank = result->count};
    bool transpose_x = as_matrices(e, x, &p->batch, &p->x_own, &p->summed);
    bool transpose_y = as_matrices(e, y, &p->batch, &p->summed, &p->y_own);
    for (uint32_t i = 0; i < result->count; i++)
        shape.dims[i] = e->extent[result->at[i]];
    return emit_reshape(&e->s, emit_matmul(&e->s, x->t, y->t, transpose_x, transpose_y), &shape);
}

/* [batch, x_own, 1 …] · [batch, 1 …, y_own] */
static tensor_id element_product(struct einsum *e, struct term *x, struct term *y, const struct pair *p)
{
    struct labels y_order = p->batch, x_order = p->batch;
    if (!labels_append(&x_order, &p->x_own) || !labels_append(&y_order, &p->y_own))
        return NO_TENSOR; /* not possible: these are the labels of x and of y */
    arrange(e, x, &x_order);
    arrange(e, y, &y_order);
    if (e->s.status != ODLC_OK)
        return NO_TENSOR;
    struct shape x_shape = shape_of(e, x->t), y_in = shape_of(e, y->t), y_shape = {.rank = p->batch.count};
    for (uint32_t i = 0; i < p->y_own.count; i++)
        x_shape.dims[x_shape.rank++] = 1;
    for (uint32_t i = 0; i < p->batch.count; i++)
        y_shape.dims[i] = y_in.dims[i];
    for (uint32_t i = 0; i < p->x_own.count; i++)
        y_shape.dims[y_shape.rank++] = 1;
    for (uint32_t i = p->batch.count; i < y_in.rank; i++)
        y_shape.dims[y_shape.rank++] = y_in.dims[i];
    tensor_id left = emit_reshape(&e->s, x->t, &x_shape), right = emit_reshape(&e->s, y->t, &y_shape);
    return emit_binary(&e->s, OP_ElementWiseMultiply, left, right);
}

/* x takes up y; labels that are not needed any more are summed. */
static odlc_status take_up(struct einsum *e, struct term *x, struct term *y, uint64_t needed)
{
    uint64_t both = labels_set(&x->labels) & labels_set(&y->labels);
    const struct pair p = {.batch = labels_of(&x->labels, both & needed),
                           .summed = labels_of(&x->labels, both & ~needed),
                           .x_own = labels_of(&x->labels, ~both),
                           .y_own = labels_of(&y->labels, ~both)};
    struct labels result = p.batch;
    if (!labels_append(&result, &p.x_own) || !labels_append(&result, &p.y_own))
        return lower_unsupported(e->s.l, "equation", NULL, "a product on the way has more than %d axes", MAX_RANK);
    x->t = p.summed.count ? matrix_product(e, x, y, &p, &result) : element_product(e, x, y, &p);
    x->labels = result;
    return e->s.status;
}

odlc_status lower_einsum(struct lower *l)
{
    struct einsum e = {.s.l = l};
    struct term *terms = arena_array(l->arena, struct term, l->n_in);
    TRY(einsum_parse(l, &e.equation));
    for (uint32_t i = 0; i < EINSUM_LABELS; i++)
        e.extent[i] = 1;
    for (uint32_t i = 0; i < l->n_in; i++)
        TRY(read_term(&e, i, &terms[i]));
    for (uint32_t i = 1; i < l->n_in; i++) {
        uint64_t needed = labels_set(&e.equation.result);
        for (uint32_t k = i + 1; k < l->n_in; k++)
            needed |= labels_set(&terms[k].labels);
        TRY(take_up(&e, &terms[0], &terms[i], needed));
    }
    arrange(&e, &terms[0], &e.equation.result);
    return emit_give(&e.s, 0, terms[0].t);
}
