/* ONNX operators whose result's shape depends on values: Unique, NonMaxSuppression. They are computed at conversion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converters/onnx/lower_shape.h"
#include "converters/onnx/rows.h"

static void give_indices(struct lower *l, uint32_t i, const struct shape *shape, const int64_t *values)
{
    if (i < l->n_out)
        l->out[i] = build_const_ints(l->b, lower_out_name(l, i), DT_INT64, shape, values);
}

/* ---- Unique ---- */

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

/* Outputs 1 to 3 and the place of each unique row, in the order of the result. */
static odlc_status unique_places(struct lower *l, struct slice_row *rows, int64_t count, bool sorted, int64_t **out,
                                 int64_t *n_unique)
{
    const struct slice_row **unique = arena_array(l->arena, const struct slice_row *, (size_t)count + 1);
    int64_t n = 0, *inverse, *counts, *numbers;
    for (int64_t i = 0; i < count; i++) {
        bool is_new = i == 0 || compare_values(&rows[i], &rows[i - 1]) != 0;
        rows[i].group = is_new ? rows[i].at : rows[i - 1].group;
        if (is_new)
            unique[n++] = &rows[i];
    }
    if (!sorted)
        qsort(unique, (size_t)n, sizeof *unique, compare_places);
    TRY(lower_table(l, (uint64_t)n, sizeof **out, out));
    TRY(lower_table(l, (uint64_t)n, sizeof *counts, &counts));
    TRY(lower_table(l, (uint64_t)count, sizeof *inverse, &inverse));
    TRY(lower_table(l, (uint64_t)count, sizeof *numbers, &numbers)); /* of the groups in the result */
    for (int64_t i = 0; i < n; i++) {
        (*out)[i] = unique[i]->at;
        numbers[unique[i]->at] = i;
    }
    for (int64_t i = 0; i < count; i++) {
        inverse[rows[i].at] = numbers[rows[i].group];
        counts[numbers[rows[i].group]]++;
    }
    struct shape of_unique = SHAPE(n), of_all = SHAPE(count);
    give_indices(l, 1, &of_unique, *out);
    give_indices(l, 2, &of_all, inverse);
    give_indices(l, 3, &of_unique, counts);
    *n_unique = n;
    return ODLC_OK;
}

odlc_status lower_unique(struct lower *l)
{
    tensor_id data;
    int64_t given, sorted, *places, count;
    uint32_t axis = 0;
    struct slice_row *rows;
    TRY(lower_need(l, 0, "X", &data));
    TRY(lower_need_const(l, 0, "X", "the shapes of the results depend on its values"));
    if (build_type(l->b, data)->dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "the input holds strings");
    TRY(lower_attr_int(l, "sorted", 1, &sorted));
    TRY(lower_attr_int(l, "axis", 0, &given));
    struct shape flat = SHAPE((int64_t)shape_count(&build_type(l->b, data)->shape));
    if (!lower_has_attr(l, "axis"))
        TRY(build_reshape(l->b, data, &flat, step_name(l, "flat"), &data));
    TRY(lower_axis(l, "axis", given, build_rank(l->b, data), &axis));
    TRY(sorted_rows(l, data, axis, &rows));
    TRY(unique_places(l, rows, build_type(l->b, data)->shape.dims[axis], sorted != 0, &places, &count));
    return lower_pick(l, data, axis, places, count, lower_out_name(l, 0), &l->out[0]);
}

/* ---- NonMaxSuppression ---- */

struct suppression {
    const double *boxes, *scores;
    int64_t batches, classes, n_boxes, most;
    double iou_threshold, score_threshold;
    bool has_score_threshold, centered;
};

/* Lower and upper end along two axes, whichever corners the box is given by. In float, which the operator's types are:
 * a threshold that is met exactly is met in the same way as elsewhere. */
static void corners(const struct suppression *n, const double *box, float out[4])
{
    for (int i = 0; i < 2; i++) {
        /* the center's coordinates, then the sizes; or the coordinates of two corners */
        float at = (float)box[i], next = (float)box[i + 2];
        float a = n->centered ? at - next / 2 : at, b = n->centered ? at + next / 2 : next;
        out[i] = a < b ? a : b;
        out[i + 2] = a < b ? b : a;
    }
}

static bool overlaps(const struct suppression *n, const double *one, const double *other)
{
    float a[4], b[4], size[2];
    corners(n, one, a);
    corners(n, other, b);
    for (int i = 0; i < 2; i++)
        size[i] = (a[i + 2] < b[i + 2] ? a[i + 2] : b[i + 2]) - (a[i] > b[i] ? a[i] : b[i]);
    if (!(size[0] > 0 && size[1] > 0))
        return false;
    float shared = size[0] * size[1];
    float a_area = (a[2] - a[0]) * (a[3] - a[1]), b_area = (b[2] - b[0]) * (b[3] - b[1]);
    float both = a_area + b_area - shared;
    return both > 0 && shared / both > (float)n->iou_threshold;
}

struct candidate {
    double score;
    int64_t box;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* Appends the boxes of one class of a batch element, best first; returns how many. */
static int64_t suppress(const struct suppression *n, int64_t batch, int64_t class, struct candidate *by_score,
                        int64_t *out)
{
    const double *boxes = n->boxes + batch * n->n_boxes * 4;
    const double *scores = n->scores + (batch * n->classes + class) * n->n_boxes;
    int64_t kept = 0, candidates = 0;
    for (int64_t i = 0; i < n->n_boxes; i++)
        if (!n->has_score_threshold || scores[i] > n->score_threshold)
            by_score[candidates++] = (struct candidate){scores[i], i};
    qsort(by_score, (size_t)candidates, sizeof *by_score, compare_candidates);
    for (int64_t c = 0; c < candidates && kept < n->most; c++) {
        bool free = true;
        for (int64_t k = 0; k < kept && free; k++)
            free = !overlaps(n, boxes + 4 * by_score[c].box, boxes + 4 * out[3 * k + 2]);
        if (!free)
            continue;
        out[3 * kept] = batch;
        out[3 * kept + 1] = class;
        out[3 * kept++ + 2] = by_score[c].box;
    }
    return kept;
}

/* The one number of an optional input. */
static odlc_status optional_number(const struct lower *l, uint32_t i, const char *what, double *value)
{
    const double *given;
    uint32_t count;
    TRY(lower_const_floats(l, i, what, &given, &count));
    if (lower_in(l, i) != NO_TENSOR && count != 1)
        return lower_invalid(l, what, NULL, "%s is not one number", what);
    *value = given ? given[0] : *value;
    return ODLC_OK;
}

static odlc_status read_suppression(struct lower *l, struct suppression *n)
{
    tensor_id boxes, scores;
    int64_t centered;
    uint64_t count;
    double most = 0;
    *n = (struct suppression){.has_score_threshold = lower_in(l, 4) != NO_TENSOR};
    TRY(lower_need(l, 0, "boxes", &boxes));
    TRY(lower_need(l, 1, "scores", &scores));
    for (uint32_t i = 0; i < 2; i++)
        TRY(lower_need_const(l, i, i ? "scores" : "boxes", "how many boxes are left depends on the values"));
    TRY(optional_number(l, 2, "max_output_boxes_per_class", &most));
    TRY(optional_number(l, 3, "iou_threshold", &n->iou_threshold));
    TRY(optional_number(l, 4, "score_threshold", &n->score_threshold));
    TRY(lower_attr_int(l, "center_point_box", 0, &centered));
    const struct shape b = build_type(l->b, boxes)->shape, s = build_type(l->b, scores)->shape;
    if (b.rank != 3 || s.rank != 3 || b.dims[2] != 4 || b.dims[0] != s.dims[0] || b.dims[1] != s.dims[2])
        return lower_invalid(l, NULL, NULL, "boxes %s and scores %s do not match", shape_text(l->diags->arena, &b),
                             shape_text(l->diags->arena, &s));
    n->batches = b.dims[0];
    n->n_boxes = b.dims[1];
    n->classes = s.dims[1];
    n->most = most < 0 ? 0 : most > (double)n->n_boxes ? n->n_boxes : (int64_t)most;
    n->centered = centered != 0;
    n->boxes = build_const_as_floats(l->b, boxes, &count);
    n->scores = build_const_as_floats(l->b, scores, &count);
    for (uint64_t i = 0; n->has_score_threshold && i < count; i++)
        if (n->scores[i] == n->score_threshold)
            return lower_unsupported(l, "score_threshold", NULL,
                                     "a score is the threshold %g itself, which implementations drop and the "
                                     "operator's definition keeps",
                                     n->score_threshold);
    return ODLC_OK;
}

odlc_status lower_non_max_suppression(struct lower *l)
{
    struct suppression n;
    TRY(read_suppression(l, &n));
    struct shape all = SHAPE(n.batches, n.classes, n.most, 3);
    int64_t *rows, kept = 0;
    struct candidate *by_score;
    TRY(lower_check_shape(l, NULL, &all));
    TRY(lower_table(l, shape_count(&all), sizeof *rows, &rows));
    TRY(lower_table(l, (uint64_t)n.n_boxes, sizeof *by_score, &by_score));
    for (int64_t batch = 0; batch < n.batches; batch++)
        for (int64_t class = 0; class < n.classes; class ++)
            kept += suppress(&n, batch, class, by_score, rows + 3 * kept);
    struct shape shape = SHAPE(kept, 3);
    give_indices(l, 0, &shape, rows);
    return ODLC_OK;
}
