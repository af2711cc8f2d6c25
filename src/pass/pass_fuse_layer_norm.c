/* SPDX-License-Identifier: Apache-2.0 */
/* (x - mean) / √(variance + ε) · gamma + beta: LayerNorm, whose weights differ along the axes of the mean, or
 * InstanceNorm, whose mean is over all axes but those of the batch and of the channels, along which the weights differ.
 *
 * The variance may be the mean of squares of x - mean, or of squared differences, or made of two moments; the whole one
 * product and one sum for each element of x: x · i + (beta - mean · i), i = gamma / √(variance + ε). */
#include <float.h>
#include <math.h>

#include "op/axes.h"
#include "op/params.h"
#include "pass/fusion.h"
#include "pass/norm_weights.h"

pass_fn pass_fuse_layer_norm;

#define CHANNELS_FIRST (1u << 1) /* the axis of channels, as a mask */

struct norm {
    tensor_id x, gamma, beta; /* NO_TENSOR: none */
    uint32_t axes;            /* of the mean, a mask */
    double epsilon;
};

static const struct node *node_of(const struct graph *g, const struct occurrence *o, char letter)
{
    const node_id id = o->nodes[letter - 'a'];
    return id == NO_NODE ? NULL : graph_node(g, id);
}

/* Means that are sums times a number: the number is one through the elements', and what comes without the axes of the
 * sum gets these back as ones. */
static bool is_mean(const struct graph *g, const struct occurrence *o, const struct norm *n)
{
    const struct shape *x = &graph_tensor(g, n->x)->type->shape, kept = reduced_shape(x, n->axes, true);
    const struct node *reshapes[] = {node_of(g, o, 'r'), node_of(g, o, 't')};
    const double factor = occurrence_number(o, 'n');
    double count = 1;
    for (uint32_t i = 0; i < x->rank; i++)
        count *= n->axes >> i & 1 ? (double)x->dims[i] : 1;
    for (uint32_t i = 0; i < COUNT_OF(reshapes); i++)
        if (reshapes[i] && !shape_equal(&node_output(g, reshapes[i], 0)->type->shape, &kept))
            return false;
    return isnan(factor) || fabs(factor * count - 1) <= 1e-6;
}

static bool read_norm(const struct graph *g, const struct occurrence *o, struct norm *out)
{
    *out = (struct norm){.x = occurrence_tensor(o, 'x'),
                         .gamma = occurrence_tensor(o, 'g'),
                         .beta = occurrence_tensor(o, 'b'),
                         .epsilon = occurrence_number(o, 'e')};
    const struct shape *shape = &graph_tensor(g, out->x)->type->shape;
    return fusion_keeps_type(g, o, 'x') && out->epsilon > 0 && out->epsilon <= FLT_MAX &&
           node_axes(node_of(g, o, 'm'), shape->rank, &out->axes) && is_mean(g, o, out);
}

static bool weights_fit(const struct graph *g, const struct norm *n, uint32_t axes)
{
    return (n->gamma == NO_TENSOR || norm_weight_fits(g, n->gamma, n->x, axes)) &&
           (n->beta == NO_TENSOR || norm_weight_fits(g, n->beta, n->x, axes));
}

/* The axis of channels where instances are normalized along the places of images: the second or the last one; 0 where
 * they are not. */
static uint32_t channels_of_instances(const struct graph *g, const struct norm *n)
{
    const uint32_t rank = graph_tensor(g, n->x)->type->shape.rank, all = (1u << rank) - 1, last = 1u << (rank - 1);
    if (rank <= 2 || n->gamma == NO_TENSOR)
        return 0;
    return n->axes == (all & ~1u & ~CHANNELS_FIRST) ? CHANNELS_FIRST : n->axes == (all & ~1u & ~last) ? last : 0;
}

static tensor_id fitted(struct graph *g, const struct norm *n, tensor_id weight, uint32_t axes)
{
    return weight == NO_TENSOR ? NO_TENSOR : norm_weight(g, weight, n->x, axes);
}

static void make_layer_norm(struct fusing *f, const struct occurrence *o, const struct norm *n)
{
    const tensor_id in[] = {n->x, fitted(f->g, n, n->gamma, n->axes), fitted(f->g, n, n->beta, n->axes)};
    const uint32_t count = n->beta != NO_TENSOR ? 3 : n->gamma != NO_TENSOR ? 2 : 1;
    struct node *fused = fusion_replace(f, o, OP_LayerNorm, in, count);
    norm_set_axes(f->g, fused, n->axes);
    node_set_float(fused, PARAM_epsilon, n->epsilon);
}

static void make_instance_norm(struct fusing *f, const struct occurrence *o, const struct norm *n, uint32_t channels)
{
    const tensor_id gamma = norm_weight(f->g, n->gamma, n->x, channels);
    const tensor_id beta =
        n->beta != NO_TENSOR ? norm_weight(f->g, n->beta, n->x, channels) : norm_no_bias(f->g, gamma);
    const tensor_id in[] = {n->x, gamma, beta};
    struct node *fused = channels == CHANNELS_FIRST ? fusion_replace_channels_last(f, o, OP_InstanceNorm, in, 3)
                                                    : fusion_replace(f, o, OP_InstanceNorm, in, 3);
    node_set_float(fused, PARAM_epsilon, n->epsilon);
    node_set_int(fused, PARAM_mode, 0);
    node_set_int(fused, PARAM_normalize_variance, 1);
    node_set_int(fused, PARAM_region, 0);
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    struct norm n;
    if (!read_norm(f->g, o, &n))
        return false;
    const uint32_t channels = channels_of_instances(f->g, &n);
    if (weights_fit(f->g, &n, n.axes))
        make_layer_norm(f, o, &n);
    else if (channels && weights_fit(f->g, &n, channels))
        make_instance_norm(f, o, &n, channels);
    else
        return false;
    return true;
}

#define MEAN_OF(values) "m:ReduceMean[keep_dims=1](" values ")"
#define CENTERED "k = " MEAN_OF("x") "; d = x - k; "
#define SQUARES CENTERED "v = " MEAN_OF("d ^ 2") "; "
#define DIFFERENCES CENTERED "v = " MEAN_OF("ElementWiseSquaredDifference(x, k)") "; "
/* Sums times a number, and the variance as the mean of squares less the mean's square, which is no negative number. */
#define SUM_OF(values) "#n * m:ReduceSum[keep_dims=0](" values ")"
#define MOMENTS                                                                     \
    "k = " SUM_OF("x") "; w = ElementWiseMaximum(" SUM_OF("x ^ 2") " - k ^ 2, 0); " \
                                                                   "v = t:Reshape(w); d = x - r:Reshape(k); "
/* The same of means, with that bound or without. */
#define LESS_SQUARE MEAN_OF("x ^ 2") " - k ^ 2"
#define BOUNDED CENTERED "v = ElementWiseMaximum(" LESS_SQUARE ", 0); "
/* With both weights, and without any. */
#define RAW_FORMS                                                                                       \
    CENTERED "@g * d / (" LESS_SQUARE " + #e) ^ 0.5 + @b", CENTERED "d / (" LESS_SQUARE " + #e) ^ 0.5", \
        BOUNDED "@g * d / (v + #e) ^ 0.5 + @b", BOUNDED "d / (v + #e) ^ 0.5"
/* With both weights, with either, and without any; a form with weights before those that are parts of it. */
#define FORMS(variance)                                                                                              \
    variance "@g * d / (v + #e) ^ 0.5 + @b", variance "@g * d / (v + #e) ^ 0.5", variance "d / (v + #e) ^ 0.5 + @b", \
        variance "d / (v + #e) ^ 0.5", variance "i = @g / (v + #e) ^ 0.5; x * i - k * i + @b",                       \
        variance "i = @g / (v + #e) ^ 0.5; x * i - k * i", variance "i = (v + #e) ^ -0.5; x * i - k * i + @b",       \
        variance "i = (v + #e) ^ -0.5; x * i - k * i"

odlc_status pass_fuse_layer_norm(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {FORMS(SQUARES),
                                           FORMS(DIFFERENCES),
                                           RAW_FORMS,
                                           MOMENTS "@g * d / (v + #e) ^ 0.5 + @b",
                                           MOMENTS "@g * d / (v + #e) ^ 0.5",
                                           MOMENTS "d / (v + #e) ^ 0.5"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
