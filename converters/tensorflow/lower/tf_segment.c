/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow reductions of the rows of a tensor that have one number in a list of ids: rows are written to the place of
 * their number, where they are put together. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "converters/lowering/scatter.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

enum method { SUM, MEAN, PROD, MAX, MIN };

struct segments {
    enum method method;
    tensor_id rows;     /* indices of axis 0 */
    const int64_t *ids; /* one per row; negative: the row is left out */
    uint32_t n_rows;
    int64_t count; /* of segments */
    bool unsorted; /* the ids */
};

static void read_method(const struct lower *l, struct segments *g)
{
    static const struct choice methods[] = {{"sum", SUM}, {"mean", MEAN}, {"prod", PROD}, {"max", MAX}, {"min", MIN}};
    for (size_t i = 0; i < COUNT_OF(methods); i++)
        if (strcmp(l->variant, methods[i].name) == 0)
            g->method = (enum method)methods[i].value;
}

static enum reduction reduction_of(enum method method)
{
    static const enum reduction reductions[] = {
        [SUM] = REDUCE_ADD, [MEAN] = REDUCE_ADD, [PROD] = REDUCE_MUL, [MAX] = REDUCE_MAX, [MIN] = REDUCE_MIN};
    return reductions[method];
}

/* [count, 1 …]: one number per segment, which broadcasts to rows. */
static tensor_id per_segment(struct emit *s, const struct segments *g, const double *values)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct type type = *build_type(s->l->b, g->rows);
    for (uint32_t i = 1; i < type.shape.rank; i++)
        type.shape.dims[i] = 1;
    type.shape.dims[0] = g->count;
    return emit_constant(s, type.dtype, &type.shape, values);
}

/* What the rows are put together with. The extreme of unsorted ones is never beyond the finite numbers. */
static double start_value(const struct segments *g, enum dtype dtype, bool has_rows)
{
    double sign = g->method == MAX ? -1 : 1;
    int64_t low, high;
    if (g->method != MAX && g->method != MIN)
        return g->method == PROD;
    if (!has_rows && !g->unsorted)
        return 0;
    if (dtype_is_float(dtype)) {
        double largest = dtype == DT_FLOAT16 ? 65504 : dtype == DT_FLOAT64 ? DBL_MAX : (double)FLT_MAX;
        return sign * (g->unsorted ? largest : (double)INFINITY);
    }
    integer_range(dtype, &low, &high);
    return (double)(g->method == MAX ? low : high);
}

/* Start values, and how many rows each segment has. */
static odlc_status start_values(const struct lower *l, const struct segments *g, double **start, double **numbers)
{
    enum dtype dtype = build_type(l->b, g->rows)->dtype;
    TRY(lower_table(l, (uint64_t)g->count, sizeof **start, start));
    TRY(lower_table(l, (uint64_t)g->count, sizeof **numbers, numbers));
    for (uint32_t i = 0; i < g->n_rows; i++)
        if (g->ids[i] >= 0)
            (*numbers)[g->ids[i]]++;
    for (int64_t i = 0; i < g->count; i++)
        (*start)[i] = start_value(g, dtype, (*numbers)[i] > 0);
    return ODLC_OK;
}

/* Leaves out the rows without a segment, and makes coordinates of the others' ids. */
static odlc_status places_of_rows(struct lower *l, struct segments *g, tensor_id *out)
{
    int64_t *kept, *ids, count = 0;
    TRY(lower_table(l, g->n_rows, sizeof *kept, &kept));
    TRY(lower_table(l, g->n_rows, sizeof *ids, &ids));
    for (uint32_t i = 0; i < g->n_rows; i++) {
        if (g->ids[i] >= g->count)
            return lower_invalid(l, "segment_ids", NULL, "the id %lld is not below the number of segments, %lld",
                                 (long long)g->ids[i], (long long)g->count);
        if (g->ids[i] < 0)
            continue;
        kept[count] = i;
        ids[count++] = g->ids[i];
    }
    if (count < g->n_rows)
        TRY(lower_gather_positions(l, g->rows, 0, kept, count, step_name(l, "kept"), &g->rows));
    *out = build_const_ints(l->b, step_name(l, "places"), DT_INT32, &SHAPE(count, 1), ids);
    return ODLC_OK;
}

static odlc_status give_segments(struct lower *l, struct segments *g)
{
    struct emit s = {.l = l};
    struct scatter written = {.reduction = reduction_of(g->method)};
    struct shape shape = build_type(l->b, g->rows)->shape;
    double *start, *numbers;
    tensor_id result;
    bool mean = g->method == MEAN;
    shape.dims[0] = g->count;
    TRY(lower_check_shape(l, "num_segments", &shape));
    TRY(places_of_rows(l, g, &written.indices));
    TRY(start_values(l, g, &start, &numbers));
    written.updates = g->rows;
    written.data = emit_broadcast(&s, per_segment(&s, g, start), &shape);
    TRY(s.status);
    TRY(lower_scatter_slices(l, written, mean ? step_name(l, "sum") : lower_out_name(l, 0), &result));
    for (int64_t i = 0; mean && i < g->count; i++)
        numbers[i] = fmax(numbers[i], 1);
    if (mean)
        return emit_end_binary(&s, OP_ElementWiseDivide, result, per_segment(&s, g, numbers));
    return emit_give(&s, 0, result);
}

/* ---- operators ---- */

/* Ascending ids, one per row. */
static odlc_status read_ascending(struct lower *l, struct segments *g)
{
    tensor_id ids;
    TRY(lower_need(l, 1, "segment_ids", &ids));
    TRY(lower_const_ints(l, 1, "segment_ids", &g->ids, &g->n_rows));
    const struct shape *rows = &build_type(l->b, g->rows)->shape;
    if (build_rank(l->b, ids) != 1 || rows->rank == 0 || rows->dims[0] != g->n_rows)
        return lower_invalid(l, "segment_ids", NULL, "%u ids for %s", g->n_rows, shape_text(l->diags->arena, rows));
    for (uint32_t k = 0; k < g->n_rows; k++)
        if (g->ids[k] < (k ? g->ids[k - 1] : 0))
            return lower_invalid(l, "segment_ids", NULL, "the ids do not ascend from 0 at element %u", k);
    g->count = g->n_rows ? min_i64(g->ids[g->n_rows - 1], INT64_MAX - 1) + 1 : 0;
    return ODLC_OK;
}

odlc_status tf_segment(struct lower *l)
{
    struct segments g = {.unsorted = false};
    read_method(l, &g);
    TRY(lower_need(l, 0, "data", &g.rows));
    TRY(read_ascending(l, &g));
    return give_segments(l, &g);
}

/* Ids that are computed: rows without a segment go to one more, which is cut off. */
static odlc_status give_by_computed_ids(struct lower *l, const struct segments *g, tensor_id ids)
{
    struct emit s = {.l = l};
    struct scatter written = {.updates = g->rows, .reduction = reduction_of(g->method)};
    struct type type = *build_type(l->b, g->rows);
    tensor_id result;
    tensor_id is_out = emit_binary(&s, OP_ElementWiseLess, ids, emit_scalar(&s, ids, 0));
    ids = emit_select(&s, is_out, emit_scalar(&s, ids, (double)g->count), ids);
    written.indices = emit_reshape(&s, emit_cast(&s, ids, DT_INT32), &SHAPE(type.shape.dims[0], 1));
    type.shape.dims[0] = g->count + 1;
    TRY(s.status);
    TRY(lower_check_shape(l, "num_segments", &type.shape));
    tensor_id start = emit_scalar(&s, g->rows, start_value(g, type.dtype, true));
    written.data = emit_broadcast(&s, start, &type.shape);
    TRY(s.status);
    TRY(lower_scatter_slices(l, written, step_name(l, "scattered"), &result));
    return lower_slice_axis(l, result, 0, 0, g->count, lower_out_name(l, 0), &l->out[0]);
}

/* The number of segments. */
static odlc_status read_count(const struct lower *l, int64_t *out)
{
    const int64_t *given;
    uint32_t count;
    TRY(lower_const_ints(l, 2, "num_segments", &given, &count));
    if (count != 1 || *given < 0 || *given > INT32_MAX)
        return lower_invalid(l, "num_segments", NULL, "num_segments is not a number of segments");
    *out = *given;
    return ODLC_OK;
}

/* UnsortedSegment…: ids in any order, for the first axes of the data together. */
odlc_status tf_unsorted_segment(struct lower *l)
{
    struct emit s = {.l = l};
    struct segments g = {.unsorted = true};
    tensor_id data, ids;
    read_method(l, &g);
    TRY(lower_need(l, 0, "data", &data));
    TRY(lower_need(l, 1, "segment_ids", &ids));
    TRY(read_count(l, &g.count));
    const struct shape shape = build_type(l->b, data)->shape, of_ids = build_type(l->b, ids)->shape;
    struct shape rows = SHAPE((int64_t)shape_count(&of_ids));
    for (uint32_t i = 0; i < of_ids.rank; i++)
        if (i >= shape.rank || shape.dims[i] != of_ids.dims[i])
            return lower_invalid(l, "segment_ids", NULL, "ids %s do not number the rows of %s",
                                 shape_text(l->diags->arena, &of_ids), shape_text(l->diags->arena, &shape));
    for (uint32_t i = of_ids.rank; i < shape.rank; i++)
        rows.dims[rows.rank++] = shape.dims[i];
    g.rows = emit_reshape(&s, data, &rows);
    TRY(s.status);
    if (!build_is_const(l->b, ids))
        return give_by_computed_ids(l, &g, ids);
    TRY(lower_const_ints(l, 1, "segment_ids", &g.ids, &g.n_rows));
    return give_segments(l, &g);
}
