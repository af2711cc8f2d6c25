/* Dequantize, of integers that are known: what tools that shrink a model's file put in the place of its weights. They
 * stay the integers that they are in the file, with what is to be done on them. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

enum mode { MIN_COMBINED, MIN_FIRST, SCALED };

struct dequantize {
    tensor_id x;
    int mode;
    bool narrow, per_axis;
    uint32_t axis, count; /* of ranges: one, or one per index of the axis */
    const double *min, *max;
    double lowest, highest; /* of the integers */
};

static odlc_status read_ranges(const struct lower *l, struct dequantize *q)
{
    static const char *const names[] = {"min_range", "max_range"};
    const double **const bounds[] = {&q->min, &q->max};
    const int64_t wanted = q->per_axis ? build_type(l->b, q->x)->shape.dims[q->axis] : 1;
    for (uint32_t i = 0; i < 2; i++) {
        tensor_id bound;
        TRY(lower_need(l, i + 1, names[i], &bound));
        TRY(lower_const_floats(l, i + 1, names[i], bounds[i], &q->count));
        if (q->count != wanted)
            return lower_invalid(l, names[i], NULL, "%s has %u elements instead of %lld", names[i], q->count,
                                 (long long)wanted);
    }
    return ODLC_OK;
}

static odlc_status read_dequantize(const struct lower *l, struct dequantize *q)
{
    static const struct choice modes[] = {{"MIN_COMBINED", MIN_COMBINED}, {"MIN_FIRST", MIN_FIRST}, {"SCALED", SCALED}};
    int64_t axis, lowest, highest;
    enum dtype result;
    TRY(lower_need(l, 0, "input", &q->x));
    TRY(lower_need_const(l, 0, "input", "tensors of quint8, qint8 and their kin are not computed"));
    TRY(lower_choose(l, "mode", "MIN_COMBINED", modes, COUNT_OF(modes), &q->mode));
    TRY(lower_attr_bool(l, "narrow_range", false, &q->narrow));
    TRY(lower_attr_int(l, "axis", -1, &axis));
    TRY(lower_tf_dtype(l, "dtype", DT_FLOAT32, &result));
    const enum dtype_class kind = dtype_info(build_type(l->b, q->x)->dtype)->cls;
    if (kind != CLASS_INT && kind != CLASS_UINT)
        return lower_invalid(l, NULL, NULL, "the input is of type %s, not of integers",
                             dtype_info(build_type(l->b, q->x)->dtype)->name);
    if (result != DT_FLOAT32)
        return lower_unsupported(l, "dtype", NULL, "a result of type %s, not float32, is not supported",
                                 dtype_info(result)->name);
    integer_range(build_type(l->b, q->x)->dtype, &lowest, &highest);
    q->lowest = (double)lowest;
    q->highest = (double)highest;
    q->per_axis = axis != -1;
    if (q->per_axis && q->mode == MIN_FIRST) /* TensorFlow does not compute it either */
        return lower_unsupported(l, "axis", NULL,
                                 "mode MIN_FIRST with one range per index of an axis is not supported");
    if (q->per_axis)
        TRY(lower_axis(l, "axis", axis, build_rank(l->b, q->x), &q->axis));
    return read_ranges(l, q);
}

/* real = (integer - zero) * scale, computed in floats as TensorFlow does. */
struct grid {
    double *scale, *zero;
    bool empty; /* one of the ranges is: all its integers stand for `min` */
};

/* The range reaches from the lowest integer to the highest one; MIN_FIRST moves it so that 0 is one of its numbers. */
static void spread(const struct dequantize *q, float min, float max, double *scale, double *zero)
{
    const float step = (max - min) / (float)(q->highest - q->lowest);
    const double places = (double)min / (double)step;
    *scale = (double)step;
    *zero = q->lowest - (q->mode == MIN_FIRST ? (double)roundf((float)places) : places);
}

/* 0 stays 0, and the side that reaches farther gives the scale. */
static float step_around_zero(const struct dequantize *q, float min, float max)
{
    const float above = max / (float)q->highest;
    const float below = q->lowest < 0 ? min / (float)(q->lowest + q->narrow) : above;
    return below > above ? below : above;
}

static odlc_status make_grid(const struct lower *l, const struct dequantize *q, struct grid *g)
{
    *g = (struct grid){arena_array(l->arena, double, q->count), arena_array(l->arena, double, q->count), false};
    for (uint32_t i = 0; i < q->count; i++) {
        const float min = (float)q->min[i], max = (float)q->max[i];
        if (!isfinite(min) || !isfinite(max) || !isfinite(max - min) || min > max)
            return lower_invalid(l, NULL, NULL, "the range from %g to %g is none", q->min[i], q->max[i]);
        if (q->mode == SCALED)
            g->scale[i] = (double)step_around_zero(q, min, max);
        else if (min < max)
            spread(q, min, max, &g->scale[i], &g->zero[i]);
        g->empty |= q->mode != SCALED && g->scale[i] == 0;
    }
    return ODLC_OK;
}

/* The integers as they are in the file, and what is to be done on them. */
static void give_view(struct lower *l, const struct dequantize *q, const struct grid *g)
{
    struct view view = *graph_tensor(l->b->graph, q->x)->view;
    view.scale = g->scale;
    view.zero = g->zero;
    view.scale_axis = q->per_axis ? view.perm.axis[q->axis] : SCALE_WHOLE;
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
}

/* The reals, for what no view can say. */
static odlc_status give_reals(struct lower *l, const struct dequantize *q, const struct grid *g)
{
    const struct shape shape = build_type(l->b, q->x)->shape;
    const uint64_t count = shape_count(&shape);
    const uint64_t inner = q->per_axis ? shape_count_range(&shape, q->axis + 1, shape.rank) : count;
    const double *x = view_load(l->arena, graph_tensor(l->b->graph, q->x)->view, DT_FLOAT64);
    float *reals;
    TRY(lower_table(l, count, sizeof *reals, &reals));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t k = i / inner % q->count;
        reals[i] = (float)((x[i] - g->zero[k]) * g->scale[k]);
        if (q->mode != SCALED && g->scale[k] == 0)
            reals[i] = (float)q->min[k];
    }
    struct view view = view_of(reals, DT_FLOAT32, &shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
    return ODLC_OK;
}

odlc_status tf_dequantize(struct lower *l)
{
    struct dequantize q = {.count = 1};
    struct grid g;
    TRY(read_dequantize(l, &q));
    TRY(make_grid(l, &q, &g));
    const struct tensor *x = graph_tensor(l->b->graph, q.x);
    if (g.empty || x->view->splat || x->view->scale || x->view->dtype != x->type->dtype)
        return give_reals(l, &q, &g);
    give_view(l, &q, &g);
    return ODLC_OK;
}
