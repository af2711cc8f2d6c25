/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that find something: the boxes that stay (NonMaxSuppression), the elements that are not zero (NonZero).
 *
 * The output has a row for all that there could be. Nobody says what stands in the rows behind those that were found;
 * here they repeat the last one. So they are positions like all others: what is read at them is there, no largest or
 * smallest element of the rows changes, and what is written at them was written before. Where nothing was found,
 * NonMaxSuppression, whose count says so, gives zeros, and NonZero, which has no count, -1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernels.h"
#include "op/params.h"

static void fill_rows(int64_t *rows, int64_t found, int64_t room, size_t columns, int64_t if_none)
{
    for (int64_t i = found; i < room; i++)
        for (size_t k = 0; k < columns; k++)
            rows[(size_t)i * columns + k] = found ? rows[(size_t)(found - 1) * columns + k] : if_none;
}

/* ---- NonMaxSuppression ---- */

struct suppression {
    const float *boxes, *scores;
    int64_t batches, classes, n_boxes, most; /* most: that a class keeps */
    float iou_threshold, score_threshold;
    int64_t *rows, found, room;
};

/* Lower and upper end along two axes, whichever corners the box is given by. */
static void corners(const float *box, float out[4])
{
    for (int i = 0; i < 2; i++) {
        out[i] = box[i] < box[i + 2] ? box[i] : box[i + 2];
        out[i + 2] = box[i] < box[i + 2] ? box[i + 2] : box[i];
    }
}

/* In float, as the frameworks do it: what meets the threshold exactly does so here. A box with a NaN overlaps none. */
static bool overlaps(const float *one, const float *other, float threshold)
{
    float a[4], b[4], size[2];
    corners(one, a);
    corners(other, b);
    for (int i = 0; i < 2; i++)
        size[i] = (a[i + 2] < b[i + 2] ? a[i + 2] : b[i + 2]) - (a[i] > b[i] ? a[i] : b[i]);
    if (!(size[0] > 0 && size[1] > 0))
        return false;
    float shared = size[0] * size[1];
    float a_area = (a[2] - a[0]) * (a[3] - a[1]), b_area = (b[2] - b[0]) * (b[3] - b[1]);
    float both = a_area + b_area - shared;
    return both > 0 && shared / both > threshold;
}

struct candidate {
    float score;
    int64_t box;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* A score must be above the threshold; -infinity is none. A NaN is no score. */
static bool is_candidate(const struct suppression *s, float score)
{
    return score > s->score_threshold || (s->score_threshold == -INFINITY && score == -INFINITY);
}

/* Appends the boxes that stay of one class of a batch element, best first. */
static odlc_status suppress(struct suppression *s, int64_t batch, int64_t class, struct candidate *by_score)
{
    const float *boxes = s->boxes + batch * s->n_boxes * 4;
    const float *scores = s->scores + (batch * s->classes + class) * s->n_boxes;
    const int64_t before = s->found;
    int64_t candidates = 0;
    for (int64_t i = 0; i < s->n_boxes; i++)
        if (is_candidate(s, scores[i]))
            by_score[candidates++] = (struct candidate){scores[i], i};
    qsort(by_score, (size_t)candidates, sizeof *by_score, compare_candidates);
    for (int64_t c = 0; c < candidates && s->found - before < s->most; c++) {
        bool free = true;
        for (int64_t k = before; k < s->found && free; k++)
            free = !overlaps(boxes + 4 * by_score[c].box, boxes + 4 * s->rows[3 * k + 2], s->iou_threshold);
        if (!free)
            continue;
        if (s->found == s->room)
            return ODLC_ERR_INVALID;
        memcpy(s->rows + 3 * s->found++, (int64_t[]){batch, class, by_score[c].box}, 3 * sizeof *s->rows);
    }
    return ODLC_OK;
}

odlc_status kernel_non_max_suppression(const struct kernel *k)
{
    const struct shape *scores = &k->in[1].shape, *rows = &k->out[0].shape;
    int64_t limit = node_int(k->node, PARAM_max_boxes_selected, 0);
    struct suppression s = {.boxes = k->in[0].data,
                            .scores = k->in[1].data,
                            .batches = scores->dims[0],
                            .classes = scores->dims[1],
                            .n_boxes = scores->dims[2],
                            .most = limit ? limit : INT64_MAX,
                            .iou_threshold = (float)node_float(k->node, PARAM_iou_threshold, 0),
                            .score_threshold = (float)node_float(k->node, PARAM_score_threshold, 0),
                            .rows = k->out[0].data,
                            .room = rows->dims[0]};
    if (!s.rows)
        s.rows = arena_array(k->scratch, int64_t, shape_count(rows));
    struct candidate *by_score = arena_array(k->scratch, struct candidate, (size_t)s.n_boxes);
    for (int64_t batch = 0; batch < s.batches; batch++)
        for (int64_t class = 0; class < s.classes; class ++)
            TRY(suppress(&s, batch, class, by_score));
    fill_rows(s.rows, s.found, s.room, 3, 0);
    if (k->n_out > 1 && k->out[1].data)
        *(int64_t *)k->out[1].data = s.found;
    return ODLC_OK;
}

/* ---- NonZero ---- */

/* A NaN is not zero. */
static bool is_zero(const struct buffer *in, uint64_t i)
{
    return in->dtype == DT_FLOAT64 ? ((const double *)in->data)[i] == 0 : ((const int64_t *)in->data)[i] == 0;
}

odlc_status kernel_non_zero(const struct kernel *k)
{
    const struct shape *shape = &k->in[0].shape;
    int64_t *rows = k->out[0].data, found = 0, room = k->out[0].shape.dims[0];
    for (uint64_t i = 0, count = shape_count(shape); i < count; i++) {
        uint64_t at = i;
        if (is_zero(&k->in[0], i))
            continue;
        if (found == room)
            return ODLC_ERR_INVALID;
        for (uint32_t d = shape->rank; d-- > 0; at /= (uint64_t)shape->dims[d])
            rows[found * shape->rank + d] = (int64_t)(at % (uint64_t)shape->dims[d]);
        found++;
    }
    fill_rows(rows, found, room, shape->rank, -1);
    return ODLC_OK;
}
