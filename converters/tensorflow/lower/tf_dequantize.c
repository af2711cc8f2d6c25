/* SPDX-License-Identifier: Apache-2.0 */
/* Dequantize. Integers that are known are what tools that shrink a model's file put in the place of its weights: they
 * stay the integers that they are in the file, with what is to be done on them. Others are made reals step by step. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/computed_ranges.h"
#include "converters/tensorflow/lower/quantized_ranges.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

struct dequantize {
    tensor_id x;
    struct quantized_ranges r;
};

static odlc_status read_dequantize(const struct lower *l, struct dequantize *q)
{
    enum dtype result;
    TRY(lower_need(l, 0, "input", &q->x));
    TRY(lower_tf_dtype(l, "dtype", DT_FLOAT32, &result));
    const enum dtype integer = build_type(l->b, q->x)->dtype;
    const enum dtype_class kind = dtype_info(integer)->cls;
    if (kind != CLASS_INT && kind != CLASS_UINT)
        return lower_invalid(l, NULL, NULL, "the input is of type %s, not of integers", dtype_info(integer)->name);
    if (result != DT_FLOAT32)
        return lower_unsupported(l, "dtype", NULL, "a result of type %s, not float32, is not supported",
                                 dtype_info(result)->name);
    return read_quantized_ranges(l, q->x, integer, &q->r);
}

/* real = (integer - zero) * scale, computed in floats as TensorFlow does. */
struct grid {
    double *scale, *zero;
    bool empty; /* one of the ranges is: all its integers stand for `min` */
};

/* The range reaches from the lowest integer to the highest one; MIN_FIRST moves it so that 0 is one of its numbers. */
static void spread(const struct dequantize *q, float min, float max, double *scale, double *zero)
{
    const float step = (max - min) / (float)(q->r.highest - q->r.lowest);
    const double places = (double)min / (double)step;
    *scale = (double)step;
    *zero = q->r.lowest - (q->r.mode == MIN_FIRST ? (double)roundf((float)places) : places);
}

/* 0 stays 0, and the side that reaches farther gives the scale. */
static float step_around_zero(const struct dequantize *q, float min, float max)
{
    const float above = max / (float)q->r.highest;
    const float below = q->r.lowest < 0 ? min / (float)(q->r.lowest + q->r.narrow) : above;
    return below > above ? below : above;
}

static void make_grid(const struct lower *l, const struct dequantize *q, struct grid *g)
{
    *g = (struct grid){arena_array(l->arena, double, q->r.count), arena_array(l->arena, double, q->r.count), false};
    for (uint32_t i = 0; i < q->r.count; i++) {
        const float min = (float)q->r.min[i], max = (float)q->r.max[i];
        if (q->r.mode == SCALED)
            g->scale[i] = (double)step_around_zero(q, min, max);
        else if (min < max)
            spread(q, min, max, &g->scale[i], &g->zero[i]);
        g->empty |= q->r.mode != SCALED && g->scale[i] == 0;
    }
}

/* The integers as they are in the file, and what is to be done on them. */
static void give_view(struct lower *l, const struct dequantize *q, const struct grid *g)
{
    struct view view = *graph_tensor(l->b->graph, q->x)->view;
    view.scale = g->scale;
    view.zero = g->zero;
    view.scale_axis = q->r.per_axis ? view.perm.axis[q->r.axis] : SCALE_WHOLE;
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
}

/* The reals, for what no view can say. */
static odlc_status give_reals(struct lower *l, const struct dequantize *q, const struct grid *g)
{
    const struct shape shape = build_type(l->b, q->x)->shape;
    const uint64_t count = shape_count(&shape);
    const uint64_t inner = q->r.per_axis ? shape_count_range(&shape, q->r.axis + 1, shape.rank) : count;
    const double *x = view_load(l->arena, graph_tensor(l->b->graph, q->x)->view, DT_FLOAT64);
    float *reals;
    TRY(lower_table(l, count, sizeof *reals, &reals));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t k = i / inner % q->r.count;
        reals[i] = (float)((x[i] - g->zero[k]) * g->scale[k]);
        if (q->r.mode != SCALED && g->scale[k] == 0)
            reals[i] = (float)q->r.min[k];
    }
    struct view view = view_of(reals, DT_FLOAT32, &shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), DT_FLOAT32, &view);
    return ODLC_OK;
}

/* ---- integers that are computed ---- */

/* (integer - start) * scale + min, where the start is the lowest integer, or that of 0 with a min of 0. */
static odlc_status compute_reals(struct lower *l, const struct dequantize *q, const struct grid *g)
{
    struct emit s = {.l = l};
    tensor_id x = emit_cast(&s, q->x, DT_FLOAT32), scale = per_quantized_range(&s, &q->r, q->x, g->scale);
    if (q->r.mode == MIN_COMBINED) {
        if (q->r.lowest < 0)
            x = emit_binary(&s, OP_ElementWiseSubtract, x, emit_scalar(&s, x, q->r.lowest));
        x = emit_binary(&s, OP_ElementWiseMultiply, x, scale);
        return emit_end_binary(&s, OP_ElementWiseAdd, x, per_quantized_range(&s, &q->r, q->x, q->r.min));
    }
    if (q->r.mode == MIN_FIRST)
        x = emit_binary(&s, OP_ElementWiseSubtract, x, per_quantized_range(&s, &q->r, q->x, g->zero));
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, scale);
}

odlc_status tf_dequantize(struct lower *l)
{
    struct dequantize q;
    struct grid g;
    if (has_computed_range(l))
        return dequantize_by_computed(l);
    TRY(read_dequantize(l, &q));
    make_grid(l, &q, &g);
    const struct tensor *x = graph_tensor(l->b->graph, q.x);
    if (x->kind != TENSOR_STATIC && g.empty)
        return lower_unsupported(l, NULL, NULL, "a range that has one number alone is not supported");
    if (x->kind != TENSOR_STATIC)
        return compute_reals(l, &q, &g);
    if (g.empty || x->view->splat || x->view->scale || x->view->dtype != x->type->dtype)
        return give_reals(l, &q, &g);
    give_view(l, &q, &g);
    return ODLC_OK;
}
