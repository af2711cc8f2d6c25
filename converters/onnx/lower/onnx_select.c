/* ONNX operators whose result's shape depends on values: Unique, NonMaxSuppression. They are computed at conversion. */
#include <stdlib.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/unique.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- Unique ---- */

odlc_status lower_unique(struct lower *l)
{
    tensor_id data;
    int64_t given, sorted;
    uint32_t axis = 0;
    struct unique u;
    TRY(lower_need(l, 0, "X", &data));
    TRY(lower_need_const(l, 0, "X", "the shapes of the results depend on its values"));
    TRY(lower_attr_int(l, "sorted", 1, &sorted));
    TRY(lower_attr_int(l, "axis", 0, &given));
    struct shape flat = SHAPE((int64_t)shape_count(&build_type(l->b, data)->shape));
    if (!lower_has_attr(l, "axis"))
        TRY(build_reshape(l->b, data, &flat, step_name(l, "flat"), &data));
    TRY(lower_axis(l, "axis", given, build_rank(l->b, data), &axis));
    TRY(lower_unique_slices(l, data, axis, sorted != 0, &u));
    struct shape of_unique = SHAPE(u.count), of_all = SHAPE(u.all);
    lower_give_ints(l, 1, DT_INT64, &of_unique, u.places);
    lower_give_ints(l, 2, DT_INT64, &of_all, u.inverse);
    lower_give_ints(l, 3, DT_INT64, &of_unique, u.counts);
    return lower_gather_positions(l, data, axis, u.places, u.count, lower_out_name(l, 0), &l->out[0]);
}

/* ---- NonMaxSuppression ---- */

enum { MOST_COMPARISONS = 1 << 28 }; /* of boxes: some seconds */

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

/* Each box may be compared with all those that are kept. */
static odlc_status check_comparisons(const struct lower *l, const struct suppression *n)
{
    uint64_t count = sat_mul((uint64_t)n->n_boxes, (uint64_t)n->most);
    count = sat_mul(sat_mul(count, (uint64_t)n->batches), (uint64_t)n->classes);
    if (count > MOST_COMPARISONS)
        return lower_limit(l, "max_output_boxes_per_class", "fewer boxes, or a user-defined op in its place",
                           "it would take %llu comparisons of boxes, more than %d", (unsigned long long)count,
                           MOST_COMPARISONS);
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
    TRY(check_comparisons(l, n));
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
    lower_give_ints(l, 0, DT_INT64, &shape, rows);
    return ODLC_OK;
}
