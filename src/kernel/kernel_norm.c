/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations. Channels are the last axis.
 *
 * All but Batchnorm and Lrn are one computation: subtract the mean over some axes, divide by the deviation over the
 * same axes, multiply and add weights that vary along other axes. They differ in the axes and in what counts as
 * deviation. */
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/axes.h"

/* ---- the common computation ---- */

#define ALL_AXES (~0u)

struct norm {
    struct shape space;   /* the input, its axes grouped as needed */
    uint32_t axes;        /* statistics are taken over these */
    uint32_t weight_axes; /* gamma and beta vary along these */
    bool center, scale;   /* subtract the mean; divide by the deviation */
    bool floor_sum;       /* divide by sqrt(max(sum of squares, epsilon)), not by sqrt(mean of squares + epsilon) */
    double epsilon;
    const struct buffer *gamma, *beta; /* NULL: 1 and 0 */
};

static void add_span(const struct span *s, const void *user)
{
    (void)user;
    double *sum = s->data[0];
    const float *x = s->data[1];
    for (int64_t i = 0; i < s->count; i++)
        sum[i * s->step[0]] += (double)x[i * s->step[1]];
}

static void add_squares_span(const struct span *s, const void *user)
{
    (void)user;
    double *sum = s->data[0];
    const float *x = s->data[1];
    const double *mean = s->data[2];
    for (int64_t i = 0; i < s->count; i++) {
        double d = (double)x[i * s->step[1]] - mean[i * s->step[2]];
        sum[i * s->step[0]] += d * d;
    }
}

static void apply_span(const struct span *s, const void *user)
{
    (void)user;
    float *out = s->data[0];
    const float *x = s->data[1], *gamma = s->data[4], *beta = s->data[5];
    const double *mean = s->data[2], *factor = s->data[3];
    for (int64_t i = 0; i < s->count; i++) {
        double normal = ((double)x[i * s->step[1]] - mean[i * s->step[2]]) * factor[i * s->step[3]];
        out[i] = (float)(normal * (double)gamma[i * s->step[4]] + (double)beta[i * s->step[5]]);
    }
}

/* From sums of squares to factors, in place. */
static void invert_deviations(const struct norm *n, double *sums, uint64_t groups, double per_group)
{
    for (uint64_t i = 0; i < groups; i++) {
        if (!n->scale)
            sums[i] = 1;
        else if (n->floor_sum)
            sums[i] = 1 / sqrt(fmax(sums[i], n->epsilon));
        else
            sums[i] = 1 / sqrt(sums[i] / per_group + n->epsilon);
    }
}

struct statistics {
    uint64_t groups;
    double per_group; /* elements */
    double *mean, *factor;
};

static void take_statistics(const struct kernel *k, const struct norm *n, struct statistics *t)
{
    const struct buffer *x = &k->in[0];
    struct shape kept = reduced_shape(&n->space, n->axes, false);
    t->groups = shape_count(&kept);
    uint64_t per_group = t->groups ? shape_count(&n->space) / t->groups : 0;
    t->per_group = (double)per_group;
    t->mean = arena_array(k->scratch, double, t->groups);
    t->factor = arena_array(k->scratch, double, t->groups);
    struct nd_loop w;
    if (n->center) {
        nd_init(&w, &n->space);
        nd_axes(&w, t->mean, DT_FLOAT64, ~n->axes);
        nd_axes(&w, x->data, DT_FLOAT32, ALL_AXES);
        nd_run(&w, add_span, NULL);
        for (uint64_t i = 0; i < t->groups; i++)
            t->mean[i] /= t->per_group;
    }
    nd_init(&w, &n->space);
    nd_axes(&w, t->factor, DT_FLOAT64, ~n->axes);
    nd_axes(&w, x->data, DT_FLOAT32, ALL_AXES);
    nd_axes(&w, t->mean, DT_FLOAT64, ~n->axes);
    nd_run(&w, add_squares_span, NULL);
    invert_deviations(n, t->factor, t->groups, t->per_group);
}

static odlc_status run_norm(const struct kernel *k, const struct norm *n)
{
    for (uint32_t i = 0; i < k->n_in; i++)
        if (k->in[i].data && k->in[i].dtype != DT_FLOAT32)
            return ODLC_ERR_UNSUPPORTED;
    float one = 1, zero = 0;
    struct statistics t;
    take_statistics(k, n, &t);
    struct nd_loop w;
    nd_init(&w, &n->space);
    nd_axes(&w, k->out[0].data, DT_FLOAT32, ALL_AXES);
    nd_axes(&w, k->in[0].data, DT_FLOAT32, ALL_AXES);
    nd_axes(&w, t.mean, DT_FLOAT64, ~n->axes);
    nd_axes(&w, t.factor, DT_FLOAT64, ~n->axes);
    nd_axes(&w, n->gamma ? n->gamma->data : &one, DT_FLOAT32, n->gamma ? n->weight_axes : 0);
    nd_axes(&w, n->beta ? n->beta->data : &zero, DT_FLOAT32, n->beta ? n->weight_axes : 0);
    nd_run(&w, apply_span, NULL);
    return ODLC_OK;
}

static const struct buffer *operand(const struct kernel *k, uint32_t i)
{
    return i < k->n_in && k->in[i].data ? &k->in[i] : NULL;
}

/* ---- the ops ---- */

static odlc_status run_over_axes(const struct kernel *k, bool center)
{
    struct norm n = {.space = k->in[0].shape,
                     .center = center,
                     .scale = true,
                     .epsilon = node_float(k->node, PARAM_epsilon, 0),
                     .gamma = operand(k, 1),
                     .beta = operand(k, 2)};
    if (!node_axes(k->node, n.space.rank, &n.axes))
        return ODLC_ERR_UNSUPPORTED;
    n.weight_axes = n.axes;
    return run_norm(k, &n);
}

odlc_status kernel_layer_norm(const struct kernel *k)
{
    return run_over_axes(k, true);
}

odlc_status kernel_rms_norm(const struct kernel *k)
{
    return run_over_axes(k, false);
}

/* [batch, places, channels] */
static struct shape places_by_channel(const struct shape *shape)
{
    int64_t places = (int64_t)shape_count_range(shape, 1, shape->rank - 1);
    return SHAPE(shape->dims[0], places, shape->dims[shape->rank - 1]);
}

odlc_status kernel_instance_norm(const struct kernel *k)
{
    static const uint32_t axes_of_region[] = {1u << 1, 1u << 2, 1u << 1 | 1u << 2};
    int64_t region = node_int(k->node, PARAM_region, 0);
    struct norm n = {.space = places_by_channel(&k->in[0].shape),
                     .weight_axes = 1u << 2,
                     .center = node_int(k->node, PARAM_mode, 0) == 0,
                     .scale = node_int(k->node, PARAM_normalize_variance, 1) != 0,
                     .epsilon = node_float(k->node, PARAM_epsilon, 0),
                     .gamma = operand(k, 1),
                     .beta = operand(k, 2)};
    if (region < 0 || region >= (int64_t)COUNT_OF(axes_of_region))
        return ODLC_ERR_UNSUPPORTED;
    n.axes = axes_of_region[region];
    return run_norm(k, &n);
}

odlc_status kernel_group_norm(const struct kernel *k)
{
    struct shape flat = places_by_channel(&k->in[0].shape);
    int64_t groups = node_int(k->node, PARAM_group, 0);
    if (groups <= 0 || flat.dims[2] % groups != 0)
        return ODLC_ERR_UNSUPPORTED;
    struct norm n = {.space = SHAPE(flat.dims[0], flat.dims[1], groups, flat.dims[2] / groups),
                     .axes = 1u << 1 | 1u << 3,
                     .weight_axes = 1u << 2 | 1u << 3,
                     .center = true,
                     .scale = true,
                     .epsilon = node_float(k->node, PARAM_epsilon, 0),
                     .gamma = operand(k, 1),
                     .beta = operand(k, 2)};
    return run_norm(k, &n);
}

odlc_status kernel_l2_norm(const struct kernel *k)
{
    struct norm n = {
        .space = k->in[0].shape, .scale = true, .floor_sum = true, .epsilon = node_float(k->node, PARAM_epsilon, 0)};
    if (!node_axes_or_axis(k->node, n.space.rank, &n.axes))
        return ODLC_ERR_UNSUPPORTED;
    return run_norm(k, &n);
}

static void multiply_add_span(const struct span *s, const void *user)
{
    (void)user;
    float *out = s->data[0];
    const float *x = s->data[1], *weight = s->data[2], *bias = s->data[3];
    for (int64_t i = 0; i < s->count; i++)
        out[i] = (float)((double)x[i * s->step[1]] * (double)weight[i * s->step[2]] + (double)bias[i * s->step[3]]);
}

odlc_status kernel_batchnorm(const struct kernel *k)
{
    float zero = 0;
    const struct buffer none = {.dtype = DT_FLOAT32, .data = &zero};
    const struct buffer *x = &k->in[0], *weight = &k->in[1], *bias = operand(k, 2) ? operand(k, 2) : &none;
    if (x->dtype != DT_FLOAT32 || weight->dtype != DT_FLOAT32 || bias->dtype != DT_FLOAT32)
        return ODLC_ERR_UNSUPPORTED;
    struct nd_loop w;
    nd_init(&w, &x->shape);
    nd_broadcast(&w, &k->out[0]);
    nd_broadcast(&w, x);
    nd_broadcast(&w, weight);
    nd_broadcast(&w, bias);
    nd_run(&w, multiply_add_span, NULL);
    return ODLC_OK;
}

/* Across channels only: what alpha is divided by within a channel is not known. */
odlc_status kernel_lrn(const struct kernel *k)
{
    const struct shape *shape = &k->in[0].shape;
    int64_t channels = shape->dims[shape->rank - 1], radius = node_int(k->node, PARAM_radius, 0);
    double alpha = node_float(k->node, PARAM_alpha, 1), beta = node_float(k->node, PARAM_beta, 0.5);
    double bias = node_float(k->node, PARAM_bias, 1);
    if (k->in[0].dtype != DT_FLOAT32 || radius < 0 || node_int(k->node, PARAM_region, 0) != 0)
        return ODLC_ERR_UNSUPPORTED;
    uint64_t places = shape_count_range(shape, 0, shape->rank - 1);
    /* squares[c]: the sum of squares of the channels before c */
    double *squares = arena_array(k->scratch, double, (size_t)channels + 1);
    const float *x = k->in[0].data;
    float *out = k->out[0].data;
    for (uint64_t p = 0; p < places; p++, x += channels, out += channels) {
        for (int64_t c = 0; c < channels; c++)
            squares[c + 1] = squares[c] + (double)x[c] * (double)x[c];
        for (int64_t c = 0; c < channels; c++) {
            int64_t first = c > radius ? c - radius : 0;
            int64_t end = radius < channels - 1 - c ? c + radius + 1 : channels;
            out[c] = (float)((double)x[c] / pow(bias + alpha * (squares[end] - squares[first]), beta));
        }
    }
    return ODLC_OK;
}
