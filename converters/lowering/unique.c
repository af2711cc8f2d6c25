/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/unique.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The slices of a constant along an axis, as rows of elements that compare like the slices' own. */
struct slice_row {
    const void *values; /* double, int64_t or uint64_t */
    uint64_t count;
    enum dtype wide;
    int64_t at;    /* along the axis */
    int64_t group; /* of equal rows: the number of the first */
};

static int compare_element(const struct slice_row *x, const struct slice_row *y, uint64_t i)
{
    if (x->wide == DT_FLOAT64) {
        double a = ((const double *)x->values)[i], b = ((const double *)y->values)[i];
        return (a > b) - (a < b);
    }
    if (x->wide == DT_UINT64) {
        uint64_t a = ((const uint64_t *)x->values)[i], b = ((const uint64_t *)y->values)[i];
        return (a > b) - (a < b);
    }
    int64_t a = ((const int64_t *)x->values)[i], b = ((const int64_t *)y->values)[i];
    return (a > b) - (a < b);
}

static int compare_values(const struct slice_row *x, const struct slice_row *y)
{
    for (uint64_t i = 0; i < x->count; i++) {
        int order = compare_element(x, y, i);
        if (order)
            return order;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct slice_row *x = a, *y = b;
    int order = compare_values(x, y);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int compare_places(const void *a, const void *b)
{
    const struct slice_row *const *x = a, *const *y = b;
    return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

/* The rows of the data along the axis, sorted, equal ones in the order of their places. */
static odlc_status sorted_rows(struct lower *l, tensor_id data, uint32_t axis, struct slice_row **out)
{
    const struct tensor *t = graph_tensor(l->b->graph, data);
    const struct shape shape = t->type->shape;
    bool is_float = dtype_is_float(t->type->dtype);
    enum dtype wide = is_float ? DT_FLOAT64 : t->type->dtype == DT_UINT64 ? DT_UINT64 : DT_INT64;
    uint64_t count = (uint64_t)shape.dims[axis], inner = shape_count_range(&shape, axis + 1, shape.rank);
    uint64_t outer = shape_count_range(&shape, 0, axis), row = outer * inner;
    uint8_t *elements;
    TRY(lower_table(l, count * row, sizeof(int64_t), &elements));
    TRY(lower_table(l, count, sizeof **out, out));
    uint64_t size = dtype_size(t->type->dtype);
    const uint8_t *from = view_load(l->arena, t->view, t->type->dtype);
    for (uint64_t at = 0; at < count; at++) {
        uint8_t *to = elements + at * row * sizeof(int64_t);
        for (uint64_t o = 0; o < outer; o++)
            convert_elements(to + o * inner * sizeof(int64_t), wide, from + (o * count + at) * inner * size,
                             t->type->dtype, inner);
        (*out)[at] = (struct slice_row){.values = to, .count = row, .wide = wide, .at = (int64_t)at};
    }
    for (uint64_t i = 0; is_float && i < count * row; i++)
        if (isnan(((const double *)(const void *)elements)[i]))
            return lower_unsupported(l, NULL, NULL, "the input holds a NaN, which is neither equal to itself nor not");
    qsort(*out, count, sizeof **out, compare_rows);
    return ODLC_OK;
}

/* The rows are sorted. */
static odlc_status unique_rows(struct lower *l, struct slice_row *rows, bool sorted, struct unique *u)
{
    const struct slice_row **unique = arena_array(l->arena, const struct slice_row *, (size_t)u->all + 1);
    int64_t n = 0, *numbers;
    for (int64_t i = 0; i < u->all; i++) {
        bool is_new = i == 0 || compare_values(&rows[i], &rows[i - 1]) != 0;
        rows[i].group = is_new ? rows[i].at : rows[i - 1].group;
        if (is_new)
            unique[n++] = &rows[i];
    }
    if (!sorted)
        qsort(unique, (size_t)n, sizeof *unique, compare_places);
    u->count = n;
    TRY(lower_table(l, (uint64_t)n, sizeof *u->places, &u->places));
    TRY(lower_table(l, (uint64_t)n, sizeof *u->counts, &u->counts));
    TRY(lower_table(l, (uint64_t)u->all, sizeof *u->inverse, &u->inverse));
    TRY(lower_table(l, (uint64_t)u->all, sizeof *numbers, &numbers)); /* of the groups in the result */
    for (int64_t i = 0; i < n; i++) {
        u->places[i] = unique[i]->at;
        numbers[unique[i]->at] = i;
    }
    for (int64_t i = 0; i < u->all; i++) {
        u->inverse[rows[i].at] = numbers[rows[i].group];
        u->counts[numbers[rows[i].group]]++;
    }
    return ODLC_OK;
}

odlc_status lower_unique_slices(struct lower *l, tensor_id data, uint32_t axis, bool sorted, struct unique *out)
{
    struct slice_row *rows;
    if (build_type(l->b, data)->dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "the input holds strings");
    TRY(sorted_rows(l, data, axis, &rows));
    out->all = build_type(l->b, data)->shape.dims[axis];
    return unique_rows(l, rows, sorted, out);
}
