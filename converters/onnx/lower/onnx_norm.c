/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX normalisations. Those over channels are channels-last in the container. */
#include <float.h>
#include <string.h>

#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/norm.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/batchnorm.h"
#include "converters/lowering/emit.h"

/* ---- shared ---- */

/* Ends a channels-last node and brings its result into the model's order. */
static odlc_status end_channels_last(struct lower *l)
{
    bool same_order = build_rank(l->b, l->b->inputs.data[0]) < 3;
    tensor_id out;
    TRY(build_end(l->b, same_order ? lower_out_name(l, 0) : step_name(l, "nhwc"), &out));
    return build_to_channels_first(l->b, out, lower_out_name(l, 0), &l->out[0]);
}

static odlc_status refuse_other_outputs(struct lower *l, const char *why)
{
    for (uint32_t i = 1; i < l->n_out; i++)
        if (lower_out_name(l, i))
            return lower_unsupported(l, NULL, "export the model for inference", "output %u (%s) is %s", i,
                                     lower_out_name(l, i), why);
    return ODLC_OK;
}

/* ---- BatchNormalization ---- */

/* Statistics of channels where those of elements are asked for, as MXNet writes its layers: there is one thing to do.
 */
static bool has_channels_alone(const struct lower *l, const struct batchnorm *n)
{
    const struct shape channels = SHAPE(build_type(l->b, n->x)->shape.dims[1]);
    for (uint32_t i = 0; i < BN_STATISTICS; i++)
        if (!shape_equal(&build_type(l->b, n->given[i])->shape, &channels))
            return false;
    diag_warn(l->diags, AT(.node = fw_node_label(l->node), .attribute = "spatial"), "statistics-of-channels",
              "%s: spatial is 0, but there is one mean for each channel, by which it is normalized", l->node->op->type);
    return true;
}

/* Versions before 9 have modes that later ones lack: statistics of each element of a sample instead of each channel. */
static odlc_status read_legacy_mode(struct lower *l, const struct batchnorm *n, bool *per_element)
{
    static const char hint[] = "export the model for inference";
    int64_t is_test, spatial = 1;
    TRY(lower_attr_int(l, "is_test", l->version < 7 ? 0 : 1, &is_test));
    if (l->version < 9)
        TRY(lower_attr_int(l, "spatial", 1, &spatial));
    if (!is_test)
        return lower_unsupported(l, "is_test", hint, "it computes its statistics from the batch");
    *per_element = !spatial && build_rank(l->b, n->x) > 2 && !has_channels_alone(l, n);
    return ODLC_OK;
}

static odlc_status read_batchnorm(struct lower *l, struct batchnorm *n, bool *per_element)
{
    static const char *const names[BN_STATISTICS] = {"scale", "B", "mean", "var"};
    TRY(lower_need(l, 0, "X", &n->x));
    for (uint32_t i = 0; i < BN_STATISTICS; i++) {
        TRY(norm_need_like(l, i + 1, names[i], n->x, &n->like_x[i]));
        n->given[i] = l->in[i + 1];
    }
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &n->epsilon));
    const struct shape *in = &build_type(l->b, n->x)->shape;
    if (in->rank < 1)
        return lower_unsupported(l, NULL, NULL, "an input of rank %u has no channels", in->rank);
    TRY(read_legacy_mode(l, n, per_element));
    struct shape shape = SHAPE(in->rank == 1 ? 1 : in->dims[1]);
    for (uint32_t i = 2; *per_element && i < in->rank; i++)
        shape.dims[shape.rank++] = in->dims[i];
    for (uint32_t i = 0; i < BN_STATISTICS; i++)
        if (!shape_equal(&build_type(l->b, n->given[i])->shape, &shape))
            return lower_invalid(l, NULL, NULL, "input %u has the shape %s instead of %s", i + 1,
                                 shape_text(l->diags->arena, &build_type(l->b, n->given[i])->shape),
                                 shape_text(l->diags->arena, &shape));
    return ODLC_OK;
}

/* A value per channel in the dtype and among the axes of x. */
static tensor_id among_channels(struct emit *s, tensor_id value, tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, x);
    struct shape shape = {.rank = type.shape.rank};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 1 ? type.shape.dims[i] : 1;
    return emit_cast(s, emit_reshape(s, value, &shape), type.dtype);
}

/* Output i: the statistic that the model has so far, moved towards that of the batch. */
static odlc_status give_running(struct emit *s, uint32_t i, tensor_id so_far, tensor_id of_batch, double momentum)
{
    TRY(s->status);
    if (!lower_out_name(s->l, i))
        return ODLC_OK;
    const struct type type = *build_type(s->l->b, so_far);
    tensor_id batch = emit_reshape(s, of_batch, &type.shape);
    TRY(s->status);
    tensor_id old = emit_cast(s, so_far, build_type(s->l->b, batch)->dtype);
    old = emit_binary(s, OP_ElementWiseMultiply, old, emit_scalar(s, batch, momentum));
    batch = emit_binary(s, OP_ElementWiseMultiply, batch, emit_scalar(s, batch, 1 - momentum));
    return emit_give(s, i, emit_cast(s, emit_binary(s, OP_ElementWiseAdd, old, batch), type.dtype));
}

/* Statistics of the batch, in float at least. */
static odlc_status train(struct lower *l, const struct batchnorm *n)
{
    struct emit s = {.l = l};
    const struct type type = *build_type(l->b, n->x);
    int64_t axes[MAX_RANK];
    uint32_t n_axes = 0;
    double momentum;
    TRY(lower_attr_float(l, "momentum", (double)0.9f, &momentum));
    for (uint32_t i = 0; i < type.shape.rank; i++)
        if (i != 1)
            axes[n_axes++] = i;
    tensor_id x = emit_cast(&s, n->x, type.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32);
    tensor_id mean = emit_reduce(&s, OP_ReduceMean, x, axes, n_axes, true),
              distance = emit_binary(&s, OP_ElementWiseSubtract, x, mean);
    tensor_id squares = emit_binary(&s, OP_ElementWiseMultiply, distance, distance);
    tensor_id variance = emit_reduce(&s, OP_ReduceMean, squares, axes, n_axes, true);
    tensor_id raised = emit_binary(&s, OP_ElementWiseAdd, variance, emit_scalar(&s, x, n->epsilon));
    tensor_id deviation = emit_unary(&s, OP_ElementWiseSquareRoot, raised);
    tensor_id weight = emit_binary(&s, OP_ElementWiseDivide, among_channels(&s, l->in[1], x), deviation);
    tensor_id scaled = emit_binary(&s, OP_ElementWiseMultiply, distance, weight);
    tensor_id y = emit_binary(&s, OP_ElementWiseAdd, scaled, among_channels(&s, l->in[2], x));
    TRY(emit_give(&s, 0, emit_cast(&s, y, type.dtype)));
    TRY(give_running(&s, 1, l->in[3], mean, momentum));
    return give_running(&s, 2, l->in[4], variance, momentum);
}

odlc_status lower_batch_normalization(struct lower *l)
{
    struct batchnorm n;
    tensor_id x, weight, bias;
    int64_t training;
    bool per_element;
    TRY(read_batchnorm(l, &n, &per_element));
    TRY(lower_attr_int(l, "training_mode", 0, &training));
    if (training)
        return train(l, &n);
    TRY(refuse_other_outputs(l, "a statistic of training"));
    if (per_element || build_rank(l->b, n.x) == 1) { /* that is one channel */
        struct emit s = {.l = l};
        TRY(batchnorm_weights(l, &n, &weight, &bias));
        return emit_end_binary(&s, OP_ElementWiseAdd, emit_binary(&s, OP_ElementWiseMultiply, n.x, weight), bias);
    }
    TRY(build_to_channels_last(l->b, n.x, &x));
    TRY(batchnorm_start(l, &n, x, fw_node_label(l->node)));
    return end_channels_last(l);
}

/* ---- over positions and groups of channels ---- */

odlc_status lower_instance_normalization(struct lower *l)
{
    tensor_id x, scale, shift;
    double epsilon;
    TRY(lower_need(l, 0, "input", &x));
    TRY(norm_need_like(l, 1, "scale", x, &scale));
    TRY(norm_need_like(l, 2, "B", x, &shift));
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &epsilon));
    if (build_rank(l->b, x) < 3)
        return lower_unsupported(l, NULL, NULL, "an input of rank %u has no positions", build_rank(l->b, x));
    TRY(build_to_channels_last(l->b, x, &x));
    build_op(l->b, OP_InstanceNorm, fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, scale);
    build_in(l->b, shift);
    build_float(l->b, PARAM_epsilon, epsilon);
    return end_channels_last(l);
}

/* Before opset 21 the weights are per group: each is repeated for the channels of its group. */
static odlc_status weights_per_channel(struct lower *l, const char *what, int64_t groups, int64_t channels,
                                       tensor_id *weights)
{
    if (l->version >= 21 || channels == groups)
        return ODLC_OK;
    struct shape column = SHAPE(groups, 1), flat = SHAPE(channels);
    const int64_t multiples[] = {1, channels / groups};
    tensor_id tall;
    TRY(build_reshape(l->b, *weights, &column, step_name(l, what), &tall));
    build_op(l->b, OP_Tile, step_name(l, what));
    build_in(l->b, tall);
    build_ints(l->b, PARAM_multiples, multiples, 2);
    TRY(build_end(l->b, step_name(l, what), &tall));
    return build_reshape(l->b, tall, &flat, step_name(l, what), weights);
}

struct group_norm {
    tensor_id x, scale, shift; /* x: channels last */
    double epsilon;
    int64_t groups;
};

static void start_group_norm(struct lower *l, const struct group_norm *n, const char *name)
{
    build_op(l->b, OP_GroupNorm, name);
    build_in(l->b, n->x);
    build_in(l->b, n->scale);
    build_in(l->b, n->shift);
    build_float(l->b, PARAM_epsilon, n->epsilon);
    build_int(l->b, PARAM_group, n->groups);
}

odlc_status lower_group_normalization(struct lower *l)
{
    tensor_id x, scale, shift;
    double epsilon;
    int64_t groups;
    TRY(lower_need(l, 0, "X", &x));
    TRY(norm_need_like(l, 1, "scale", x, &scale));
    TRY(norm_need_like(l, 2, "bias", x, &shift));
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &epsilon));
    TRY(lower_attr_int(l, "num_groups", 0, &groups));
    const struct shape *shape = &build_type(l->b, x)->shape;
    if (shape->rank < 2)
        return lower_unsupported(l, NULL, NULL, "an input of rank %u has no channels", shape->rank);
    int64_t channels = shape->dims[1];
    if (groups <= 0 || channels % groups != 0)
        return lower_invalid(l, "num_groups", NULL, "%lld channels do not divide into %lld groups", (long long)channels,
                             (long long)groups);
    TRY(weights_per_channel(l, "scale", groups, channels, &scale));
    TRY(weights_per_channel(l, "bias", groups, channels, &shift));
    TRY(build_to_channels_last(l->b, x, &x));
    start_group_norm(l, &(struct group_norm){x, scale, shift, epsilon, groups}, fw_node_label(l->node));
    return end_channels_last(l);
}

/* ---- ONNX Runtime's GroupNorm, alone or of a residual sum ---- */

/* X + skip + bias; a skip that is not of the form of X has one value a sample and channel. */
static odlc_status image_sum(struct emit *s, bool last, tensor_id x, tensor_id *out)
{
    struct lower *l = s->l;
    const struct shape in = build_type(l->b, x)->shape;
    int64_t channels = in.dims[last ? 3 : 1];
    struct shape flat = SHAPE(in.dims[0], channels);
    struct shape each = last ? SHAPE(in.dims[0], 1, 1, channels) : SHAPE(in.dims[0], channels, 1, 1);
    struct shape line = last ? SHAPE(channels) : SHAPE(channels, 1, 1);
    tensor_id skip, bias;
    TRY(lower_need(l, 3, "skip", &skip));
    const struct shape *more = &build_type(l->b, skip)->shape;
    if (!shape_equal(more, &in) && !shape_equal(more, &flat) && !shape_equal(more, &each))
        return lower_invalid(l, NULL, NULL, "skip %s cannot be added to %s", shape_text(l->diags->arena, more),
                             shape_text(l->diags->arena, &in));
    *out = emit_binary(s, OP_ElementWiseAdd, x, shape_equal(more, &flat) ? emit_reshape(s, skip, &each) : skip);
    if (lower_in(l, 4) == NO_TENSOR)
        return s->status;
    TRY(contrib_line(l, 4, "bias", channels, &bias));
    *out = emit_binary(s, OP_ElementWiseAdd, *out, emit_reshape(s, bias, &line));
    return s->status;
}

/* Reads gamma, beta and the attributes; `last`: the channels of the image are its last axis. */
static odlc_status read_image_norm(struct lower *l, struct group_norm *n, bool *last, bool *swish)
{
    int64_t activation;
    TRY(lower_need(l, 0, "X", &n->x));
    TRY(contrib_flag(l, "channels_last", true, last));
    TRY(lower_attr_int(l, "activation", -1, &activation));
    TRY(lower_attr_int(l, "groups", 0, &n->groups));
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &n->epsilon));
    const struct shape *shape = &build_type(l->b, n->x)->shape;
    *swish = activation == 1;
    if (activation != 0 && activation != 1)
        return lower_invalid(l, "activation", "0 is none, 1 is SiLU", "it is neither 0 nor 1");
    if (shape->rank != 4)
        return lower_invalid(l, NULL, NULL, "the image %s does not have four axes", shape_text(l->diags->arena, shape));
    int64_t channels = shape->dims[*last ? 3 : 1];
    if (n->groups <= 0 || channels % n->groups != 0)
        return lower_invalid(l, "groups", NULL, "%lld channels do not divide into %lld groups", (long long)channels,
                             (long long)n->groups);
    TRY(contrib_line(l, 1, "gamma", channels, &n->scale));
    TRY(contrib_line(l, 2, "beta", channels, &n->shift));
    TRY(norm_need_like(l, 1, "gamma", n->x, &n->scale));
    return norm_need_like(l, 2, "beta", n->x, &n->shift);
}

static odlc_status image_norm(struct lower *l, bool skips)
{
    struct emit s = {.l = l};
    struct group_norm n;
    bool last, swish;
    TRY(read_image_norm(l, &n, &last, &swish));
    if (skips)
        TRY(image_sum(&s, last, n.x, &n.x));
    tensor_id sum = n.x, y;
    if (!last)
        TRY(build_to_channels_last(l->b, n.x, &n.x));
    start_group_norm(l, &n, step_name(l, "normal"));
    TRY(build_end(l->b, step_name(l, "normal"), &y));
    if (!last)
        TRY(build_to_channels_first(l->b, y, step_name(l, "nchw"), &y));
    if (swish)
        y = emit_binary(&s, OP_ElementWiseMultiply, y, emit_unary(&s, OP_Sigmoid, y));
    TRY(emit_give(&s, 0, y));
    return skips ? emit_give(&s, 1, sum) : ODLC_OK;
}

odlc_status lower_group_norm(struct lower *l)
{
    return image_norm(l, false);
}

odlc_status lower_skip_group_norm(struct lower *l)
{
    return image_norm(l, true);
}

/* ---- others ---- */

/* p = 2: x / √Σx², where a sum of 0 gives 0. p = 1: x / Σ|x|. */
odlc_status lower_lp_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    int64_t axis_attr, p;
    uint32_t axis;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_int(l, "axis", -1, &axis_attr));
    TRY(lower_attr_int(l, "p", 2, &p));
    TRY(lower_axis(l, "axis", axis_attr, build_rank(l->b, x), &axis));
    if (p != 1 && p != 2)
        return lower_invalid(l, "p", "p is 1 or 2", "p = %lld is not known", (long long)p);
    if (p == 2) {
        build_op(l->b, OP_L2Norm, fw_node_label(l->node));
        build_in(l->b, x);
        build_int(l->b, PARAM_axis, axis);
        build_float(l->b, PARAM_epsilon, FLT_MIN); /* a bound of the sum that only 0 is below */
        return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
    }
    const int64_t axes[] = {axis};
    tensor_id sum = emit_reduce(&s, OP_ReduceSum, emit_unary(&s, OP_ElementWiseAbs, x), axes, 1, true);
    tensor_id divisor = emit_binary(&s, OP_ElementWiseMaximum, sum, emit_scalar(&s, x, FLT_MIN));
    return emit_end_binary(&s, OP_ElementWiseDivide, x, divisor);
}

struct lrn {
    tensor_id x;
    double alpha, beta, bias; /* alpha: for each of the squares */
};

enum { LARGEST_WINDOW = 1024 };

/* x / (bias + alpha · Σ squares)^beta. An even window has one channel more after its own than before: the sum is of
 * shifted slices. */
static odlc_status lrn_of_even_size(struct lower *l, const struct lrn *n, int64_t size)
{
    struct emit s = {.l = l};
    struct type type = *build_type(l->b, n->x);
    int64_t channels = type.shape.dims[1];
    int64_t before = min_i64(size / 2 - 1, channels - 1), after = min_i64(size / 2, channels - 1);
    if (before + after >= LARGEST_WINDOW)
        return lower_unsupported(l, "size", NULL, "a window of %lld channels, one node each, is beyond %d",
                                 (long long)(before + after + 1), LARGEST_WINDOW);
    tensor_id parts[3], sum = NO_TENSOR;
    uint32_t count = 0;
    type.shape.dims[1] = before;
    if (before)
        parts[count++] = lower_splat(l, step_name(l, "before"), type.dtype, &type.shape, 0);
    parts[count++] = emit_binary(&s, OP_ElementWiseMultiply, n->x, n->x);
    type.shape.dims[1] = after;
    if (after)
        parts[count++] = lower_splat(l, step_name(l, "after"), type.dtype, &type.shape, 0);
    tensor_id squares = emit_concat(&s, parts, count, 1);
    for (int64_t i = 0; i <= before + after; i++) {
        tensor_id slice = emit_slice(&s, squares, 1, i, i + channels);
        sum = i ? emit_binary(&s, OP_ElementWiseAdd, sum, slice) : slice;
    }
    tensor_id scaled = emit_binary(&s, OP_ElementWiseMultiply, sum, emit_scalar(&s, n->x, n->alpha));
    tensor_id base = emit_binary(&s, OP_ElementWiseAdd, scaled, emit_scalar(&s, n->x, n->bias));
    return emit_end_binary(&s, OP_ElementWiseDivide, n->x,
                           emit_binary(&s, OP_ElementWisePower, base, emit_scalar(&s, n->x, n->beta)));
}

/* The operator divides alpha by the size of the window, the op does not; its window has radius channels to either
 * side. */
odlc_status lower_lrn(struct lower *l)
{
    struct lrn n;
    tensor_id x;
    int64_t size;
    TRY(lower_need(l, 0, "X", &n.x));
    TRY(lower_attr_float(l, "alpha", (double)1e-4f, &n.alpha));
    TRY(lower_attr_float(l, "beta", 0.75, &n.beta));
    TRY(lower_attr_float(l, "bias", 1, &n.bias));
    TRY(lower_attr_int(l, "size", 0, &size));
    if (build_rank(l->b, n.x) < 2)
        return lower_invalid(l, NULL, NULL, "an input of rank %u has no channels", build_rank(l->b, n.x));
    if (size < 1 || size > INT32_MAX)
        return lower_invalid(l, "size", NULL, "size %lld is not a number of channels", (long long)size);
    n.alpha /= (double)size;
    if (size % 2 == 0)
        return lrn_of_even_size(l, &n, size);
    TRY(build_to_channels_last(l->b, n.x, &x));
    build_op(l->b, OP_Lrn, fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, PARAM_alpha, n.alpha);
    build_float(l->b, PARAM_beta, n.beta);
    build_float(l->b, PARAM_bias, n.bias);
    build_int(l->b, PARAM_radius, (size - 1) / 2);
    return end_channels_last(l);
}

/* (x − mean) / (deviation + 1e-9) */
odlc_status lower_mean_variance_normalization(struct lower *l)
{
    static const int64_t default_axes[] = {0, 2, 3};
    struct emit s = {.l = l};
    tensor_id x;
    const int64_t *axes;
    uint32_t count, normal[MAX_RANK];
    int64_t wide[MAX_RANK];
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_ints(l, "axes", &axes, &count));
    if (!axes) {
        axes = default_axes;
        count = COUNT_OF(default_axes);
    }
    if (count == 0 || count > build_rank(l->b, x))
        return lower_invalid(l, "axes", NULL, "%u axes for an input of rank %u", count, build_rank(l->b, x));
    TRY(lower_axes(l, "axes", axes, count, build_rank(l->b, x), normal));
    for (uint32_t i = 0; i < count; i++)
        wide[i] = normal[i];
    tensor_id distance =
        emit_binary(&s, OP_ElementWiseSubtract, x, emit_reduce(&s, OP_ReduceMean, x, wide, count, true));
    tensor_id squares = emit_binary(&s, OP_ElementWiseMultiply, distance, distance);
    tensor_id variance = emit_reduce(&s, OP_ReduceMean, squares, wide, count, true);
    tensor_id deviation = emit_unary(&s, OP_ElementWiseSquareRoot, variance);
    tensor_id divisor = emit_binary(&s, OP_ElementWiseAdd, deviation, emit_scalar(&s, x, 1e-9));
    return emit_end_binary(&s, OP_ElementWiseDivide, distance, divisor);
}
