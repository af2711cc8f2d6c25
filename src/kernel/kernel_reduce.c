/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along a set of axes, positions of extremes, and cumulative sums. */
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/axes.h"

/* ---- reductions: accumulated in double or int64_t ---- */

SPAN_FOLD(uint_most, uint64_t, uint64_t, a > acc ? a : acc)
SPAN_FOLD(uint_least, uint64_t, uint64_t, a < acc ? a : acc)

/* What a reduction does to elements. */
struct reduction {
    struct span_set spans;
    span_fn *uints; /* for uint64; NULL where the one for integers serves as well */
    double start;   /* the value of no elements; an infinity stands for the end of an integer type's range */
    bool mean;      /* the sum is divided by the number of elements */
};

/* The value of no elements, the next one of floats and of integers, the loop for uint64. */
#define REDUCTION(name, start, float_expr, int_expr, uint_span)                                                       \
    SPAN_FOLD(name##_floats, double, float, float_expr)                                                               \
    SPAN_FOLD(name##_doubles, double, double, float_expr)                                                             \
    SPAN_FOLD(name##_ints, int64_t, int64_t, int_expr)                                                                \
    odlc_status kernel_reduce_##name(const struct kernel *k)                                                          \
    {                                                                                                                 \
        return reduce(k, &(struct reduction){{name##_floats, name##_doubles, name##_ints}, uint_span, start, false}); \
    }

static int64_t start_of_ints(const struct reduction *r, enum dtype dtype)
{
    int64_t low, high;
    integer_range(dtype, &low, &high);
    return isinf(r->start) ? (r->start < 0 ? low : high) : (int64_t)r->start;
}

/* Buffer of `count` accumulators of the result's class: the result itself unless that is float. */
static void *accumulators(const struct kernel *k, const struct reduction *r, uint64_t count)
{
    bool is_int = k->out[0].dtype == DT_INT64, in_place = k->out[0].dtype != DT_FLOAT32;
    int64_t int_start = is_int ? start_of_ints(r, k->out[0].stored) : 0;
    void *data = in_place ? k->out[0].data : arena_calloc(k->scratch, count, sizeof(double));
    for (uint64_t i = 0; i < count; i++) {
        if (is_int)
            ((int64_t *)data)[i] = int_start;
        else
            ((double *)data)[i] = r->start;
    }
    return data;
}

/* Of no elements: a NaN, as 0 / 0 is; 0 for integers. */
static void divide(void *acc, const struct buffer *out, uint64_t count, uint64_t per_group)
{
    double *floats = acc;
    int64_t *ints = acc;
    for (uint64_t i = 0; i < count; i++) {
        if (out->dtype != DT_INT64)
            floats[i] /= (double)per_group;
        else if (out->stored == DT_UINT64)
            ints[i] = per_group ? (int64_t)((uint64_t)ints[i] / per_group) : 0;
        else
            ints[i] = per_group ? ints[i] / (int64_t)per_group : 0;
    }
}

static odlc_status reduce(const struct kernel *k, const struct reduction *r)
{
    const struct buffer *in = &k->in[0], *out = &k->out[0];
    uint64_t count = shape_count(&out->shape);
    uint32_t axes;
    if (in->dtype != out->dtype || !node_axes(k->node, in->shape.rank, &axes))
        return ODLC_ERR_UNSUPPORTED;
    enum dtype wide = out->dtype == DT_INT64 ? DT_INT64 : DT_FLOAT64;
    void *acc = accumulators(k, r, count);
    struct nd_loop w;
    nd_init(&w, &in->shape);
    nd_axes(&w, acc, wide, ~axes);
    nd_axes(&w, in->data, in->dtype, ~0u);
    nd_run(&w, in->stored == DT_UINT64 && r->uints ? r->uints : span_for(&r->spans, in->dtype), NULL);
    if (r->mean && count)
        divide(acc, out, count, shape_count(&in->shape) / count);
    if (acc != out->data)
        convert_elements(out->data, out->dtype, acc, wide, count);
    wrap_result(k);
    return ODLC_OK;
}

REDUCTION(max, -INFINITY, a > acc || a != a ? a : acc, a > acc ? a : acc, uint_most)
REDUCTION(min, INFINITY, a < acc || a != a ? a : acc, a < acc ? a : acc, uint_least)
REDUCTION(prod, 1, (acc * a), wrap_multiply(acc, a), NULL)
REDUCTION(sum, 0, acc + a, wrap_add(acc, a), NULL)
REDUCTION(sum_square, 0, acc + a * a, wrap_add(acc, wrap_multiply(a, a)), NULL)

odlc_status kernel_reduce_mean(const struct kernel *k)
{
    return reduce(k, &(struct reduction){{sum_floats, sum_doubles, sum_ints}, NULL, 0, true});
}

/* ---- one axis: a tensor is outer × along × inner elements ---- */

struct axis_loop {
    int64_t outer, along, inner;
};

static bool axis_loop(const struct kernel *k, struct axis_loop *out)
{
    const struct shape *shape = &k->in[0].shape;
    uint32_t axis;
    if (!node_axis(k->node, -1, shape->rank, &axis))
        return false;
    out->outer = (int64_t)shape_count_range(shape, 0, axis);
    out->along = shape->dims[axis];
    out->inner = (int64_t)shape_count_range(shape, axis + 1, shape->rank);
    return true;
}

/* The first of equal extremes counts. */
#define FIND_BEST(name, type, better)                                         \
    static void name(const struct axis_loop *l, const type *in, int64_t *out) \
    {                                                                         \
        for (int64_t o = 0; o < l->outer; o++) {                              \
            for (int64_t i = 0; i < l->inner; i++) {                          \
                const type *line = in + o * l->along * l->inner + i;          \
                int64_t best = 0;                                             \
                for (int64_t j = 1; j < l->along; j++)                        \
                    if (line[j * l->inner] better line[best * l->inner])      \
                        best = j;                                             \
                out[o * l->inner + i] = best;                                 \
            }                                                                 \
        }                                                                     \
    }

FIND_BEST(argmax_floats, double, >)
FIND_BEST(argmax_ints, int64_t, >)
FIND_BEST(argmax_uints, uint64_t, >)
FIND_BEST(argmin_floats, double, <)
FIND_BEST(argmin_ints, int64_t, <)
FIND_BEST(argmin_uints, uint64_t, <)

odlc_status kernel_argmax(const struct kernel *k)
{
    struct axis_loop l;
    if (!axis_loop(k, &l) || k->out[0].dtype != DT_INT64)
        return ODLC_ERR_UNSUPPORTED;
    if (k->in[0].dtype == DT_FLOAT64)
        argmax_floats(&l, k->in[0].data, k->out[0].data);
    else if (k->in[0].stored == DT_UINT64)
        argmax_uints(&l, k->in[0].data, k->out[0].data);
    else
        argmax_ints(&l, k->in[0].data, k->out[0].data);
    return ODLC_OK;
}

odlc_status kernel_argmin(const struct kernel *k)
{
    struct axis_loop l;
    if (!axis_loop(k, &l) || k->out[0].dtype != DT_INT64)
        return ODLC_ERR_UNSUPPORTED;
    if (k->in[0].dtype == DT_FLOAT64)
        argmin_floats(&l, k->in[0].data, k->out[0].data);
    else if (k->in[0].stored == DT_UINT64)
        argmin_uints(&l, k->in[0].data, k->out[0].data);
    else
        argmin_ints(&l, k->in[0].data, k->out[0].data);
    return ODLC_OK;
}

/* ---- CumulativeSum ---- */

#define RUNNING_SUM(name, type, add)                                                                     \
    static void name(const struct axis_loop *l, bool exclusive, bool reverse, const type *in, type *out) \
    {                                                                                                    \
        for (int64_t line = 0; line < l->outer * l->inner; line++) {                                     \
            int64_t base = line / l->inner * l->along * l->inner + line % l->inner;                      \
            type sum = 0;                                                                                \
            for (int64_t j = 0; j < l->along; j++) {                                                     \
                int64_t at = base + (reverse ? l->along - 1 - j : j) * l->inner;                         \
                type with = add(sum, in[at]);                                                            \
                out[at] = exclusive ? sum : with;                                                        \
                sum = with;                                                                              \
            }                                                                                            \
        }                                                                                                \
    }

static double float_add(double a, double b)
{
    return a + b;
}

RUNNING_SUM(running_floats, double, float_add)
RUNNING_SUM(running_ints, int64_t, wrap_add)

odlc_status kernel_cumulative_sum(const struct kernel *k)
{
    bool exclusive = node_int(k->node, PARAM_exclusive, 0) != 0, reverse = node_int(k->node, PARAM_reverse, 0) != 0;
    struct axis_loop l;
    if (!axis_loop(k, &l) || k->in[0].dtype != k->out[0].dtype)
        return ODLC_ERR_UNSUPPORTED;
    if (k->in[0].dtype == DT_FLOAT64)
        running_floats(&l, exclusive, reverse, k->in[0].data, k->out[0].data);
    else
        running_ints(&l, exclusive, reverse, k->in[0].data, k->out[0].data);
    wrap_result(k);
    return ODLC_OK;
}
