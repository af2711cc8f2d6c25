/* ONNX normalisations. Those over channels are channels-last in the container. */
#include <float.h>
#include <string.h>

#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/batchnorm.h"
#include "converters/lowering/emit.h"

/* ---- shared ---- */

/* Input i in the dtype of x; newer versions of the operators let weights and statistics have their own. */
static odlc_status need_like(struct lower *l, uint32_t i, const char *what, tensor_id x, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    return build_cast(l->b, *out, build_type(l->b, x)->dtype, step_name(l, what), out);
}

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
    *per_element = !spatial && build_rank(l->b, n->x) > 2;
    return ODLC_OK;
}

static odlc_status read_batchnorm(struct lower *l, struct batchnorm *n, bool *per_element)
{
    static const char *const names[BN_STATISTICS] = {"scale", "B", "mean", "var"};
    TRY(lower_need(l, 0, "X", &n->x));
    for (uint32_t i = 0; i < BN_STATISTICS; i++) {
        TRY(need_like(l, i + 1, names[i], n->x, &n->like_x[i]));
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
    TRY(need_like(l, 1, "scale", x, &scale));
    TRY(need_like(l, 2, "B", x, &shift));
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

odlc_status lower_group_normalization(struct lower *l)
{
    tensor_id x, scale, shift;
    double epsilon;
    int64_t groups;
    TRY(lower_need(l, 0, "X", &x));
    TRY(need_like(l, 1, "scale", x, &scale));
    TRY(need_like(l, 2, "bias", x, &shift));
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
    build_op(l->b, OP_GroupNorm, fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, scale);
    build_in(l->b, shift);
    build_float(l->b, PARAM_epsilon, epsilon);
    build_int(l->b, PARAM_group, groups);
    return end_channels_last(l);
}

/* ---- over the last axes ---- */

struct over_axes {
    tensor_id x, scale, shift; /* NO_TENSOR where the node has none */
    enum dtype result;
    double epsilon;
    int64_t axes[MAX_RANK];
    uint32_t n_axes;
    struct shape weights; /* what the op's weights must look like */
};

/* The result of RMSNormalization is of the type of its scale (`of_scale`): the wider of both is computed in. */
static odlc_status settle_type(struct lower *l, bool of_scale, struct over_axes *n)
{
    tensor_id scale;
    TRY(lower_need(l, 0, "X", &n->x));
    TRY(lower_need(l, 1, "scale", &scale));
    enum dtype x = build_type(l->b, n->x)->dtype, other = build_type(l->b, scale)->dtype;
    n->result = of_scale ? other : x;
    if (n->result == x)
        return ODLC_OK;
    enum dtype wide = x == DT_FLOAT64 || other == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32;
    return build_cast(l->b, n->x, wide, step_name(l, "wide"), &n->x);
}

static odlc_status read_over_axes(struct lower *l, bool of_scale, struct over_axes *n)
{
    int64_t axis_attr;
    uint32_t first;
    *n = (struct over_axes){.shift = NO_TENSOR};
    TRY(settle_type(l, of_scale, n));
    TRY(need_like(l, 1, "scale", n->x, &n->scale));
    if (lower_in(l, 2) != NO_TENSOR)
        TRY(need_like(l, 2, "bias", n->x, &n->shift));
    TRY(lower_attr_float(l, "epsilon", (double)1e-5f, &n->epsilon));
    TRY(lower_attr_int(l, "axis", -1, &axis_attr));
    const struct shape *shape = &build_type(l->b, n->x)->shape;
    TRY(lower_axis(l, "axis", axis_attr, shape->rank, &first));
    for (uint32_t i = first; i < shape->rank; i++) {
        n->axes[n->n_axes++] = i;
        n->weights.dims[n->weights.rank++] = shape->dims[i];
    }
    return ODLC_OK;
}

static void start_over_axes(struct lower *l, const struct over_axes *n, const char *name)
{
    build_op(l->b, l->op, name);
    build_in(l->b, n->x);
    build_ints(l->b, PARAM_axes, n->axes, n->n_axes);
    build_float(l->b, PARAM_epsilon, n->epsilon);
}

/* The weights as the op takes them, where their shape only lacks or has axes of 1; false: they broadcast. */
static odlc_status fit_weights(struct lower *l, const struct over_axes *n, tensor_id *weights, bool *fits)
{
    if (*weights == NO_TENSOR)
        return ODLC_OK;
    struct shape shape = build_type(l->b, *weights)->shape, both;
    *fits = *fits && shape_broadcast(&shape, &n->weights, &both) && shape_count(&shape) == shape_count(&n->weights) &&
            shape_count(&both) == shape_count(&shape);
    return *fits ? build_reshape(l->b, *weights, &n->weights, step_name(l, "weights"), weights) : ODLC_OK;
}

/* The type that statistics are computed and given in. */
static odlc_status stash_type(const struct lower *l, enum dtype *out)
{
    int64_t code;
    const char *name;
    TRY(lower_attr_int(l, "stash_type", 1, &code));
    if (onnx_dtype(code, out, &name) != ODLC_OK || !dtype_is_float(*out))
        return lower_invalid(l, "stash_type", NULL, "%lld is not a floating-point type", (long long)code);
    return ODLC_OK;
}

/* Mean and inverse deviation, the optional outputs 1 and 2. */
static odlc_status layer_norm_statistics(struct lower *l, const struct over_axes *n)
{
    struct emit s = {.l = l};
    enum dtype stash;
    if (!lower_out_name(l, 1) && !lower_out_name(l, 2))
        return ODLC_OK;
    TRY(stash_type(l, &stash));
    tensor_id x = emit_cast(&s, n->x, stash), mean = emit_reduce(&s, OP_ReduceMean, x, n->axes, n->n_axes, true);
    tensor_id distance = emit_binary(&s, OP_ElementWiseSubtract, x, mean);
    tensor_id squares = emit_binary(&s, OP_ElementWiseMultiply, distance, distance);
    tensor_id variance = emit_reduce(&s, OP_ReduceMean, squares, n->axes, n->n_axes, true);
    tensor_id shifted = emit_binary(&s, OP_ElementWiseAdd, variance, emit_scalar(&s, variance, n->epsilon));
    tensor_id inverse = emit_unary(&s, OP_ElementWiseRsqrt, shifted);
    TRY(emit_give(&s, 1, mean));
    return emit_give(&s, 2, inverse);
}

odlc_status lower_layer_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    tensor_id y;
    bool fits = true;
    TRY(read_over_axes(l, false, &n));
    TRY(fit_weights(l, &n, &n.scale, &fits));
    TRY(fit_weights(l, &n, &n.shift, &fits));
    TRY(layer_norm_statistics(l, &n));
    start_over_axes(l, &n, step_name(l, "normal"));
    if (fits) {
        build_in(l->b, n.scale);
        if (n.shift != NO_TENSOR)
            build_in(l->b, n.shift);
    }
    TRY(build_end(l->b, step_name(l, "normal"), &y));
    if (!fits) {
        y = emit_binary(&s, OP_ElementWiseMultiply, y, n.scale);
        y = n.shift == NO_TENSOR ? y : emit_binary(&s, OP_ElementWiseAdd, y, n.shift);
    }
    return emit_give(&s, 0, emit_cast(&s, y, n.result));
}

/* By the steps of its definition, which become one op in containers of releases that have it. */
odlc_status lower_rms_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    enum dtype stash;
    TRY(read_over_axes(l, true, &n));
    TRY(stash_type(l, &stash));
    tensor_id x = emit_cast(&s, n.x, stash), squares = emit_binary(&s, OP_ElementWiseMultiply, x, x);
    tensor_id mean = emit_reduce(&s, OP_ReduceMean, squares, n.axes, n.n_axes, true);
    tensor_id shifted = emit_binary(&s, OP_ElementWiseAdd, mean, emit_scalar(&s, mean, n.epsilon));
    tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot, shifted);
    tensor_id y = emit_cast(&s, emit_binary(&s, OP_ElementWiseDivide, x, root), build_type(l->b, n.x)->dtype);
    y = emit_binary(&s, OP_ElementWiseMultiply, y, n.scale);
    return emit_give(&s, 0, emit_cast(&s, y, n.result));
}

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

/* ---- others ---- */

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
