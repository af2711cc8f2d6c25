/* TensorFlow's biases and normalizations. */
#include <string.h>

#include "converters/lowering/batchnorm.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/steps.h"
#include "converters/tensorflow/rows.h"
#include "converters/tensorflow/windows.h"

/* BiasAdd: a value for each channel, which are the last axis, or the second one by data_format. */
odlc_status tf_bias_add(struct lower *l)
{
    tensor_id x, bias;
    bool first;
    TRY(lower_need(l, 0, "value", &x));
    TRY(lower_need(l, 1, "bias", &bias));
    TRY(tf_channels_first(l, &first));
    const struct shape *in = &build_type(l->b, x)->shape;
    if (in->rank < (first ? 3 : 2))
        return lower_invalid(l, NULL, NULL, "a value of rank %u has no channels", in->rank);
    struct shape shape = SHAPE(in->dims[first ? 1 : in->rank - 1]);
    if (!shape_equal(&build_type(l->b, bias)->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the bias %s does not have %lld elements",
                             shape_text(l->diags->arena, &build_type(l->b, bias)->shape), (long long)shape.dims[0]);
    TRY(tf_image(l, first, x, &x));
    build_op(l->b, "ElementWiseAdd", fw_node_label(l->node));
    build_in(l->b, x);
    build_in(l->b, bias);
    return tf_end_image(l, first);
}

/* ---- batch normalization ---- */

static odlc_status read_statistic(struct lower *l, uint32_t i, const char *name, int64_t channels, struct batchnorm *n,
                                  uint32_t which)
{
    struct shape shape = SHAPE(channels);
    TRY(lower_need(l, i, name, &n->given[which]));
    if (!shape_equal(&build_type(l->b, n->given[which])->shape, &shape))
        return lower_invalid(l, NULL, NULL, "%s has the shape %s instead of %s", name,
                             shape_text(l->diags->arena, &build_type(l->b, n->given[which])->shape),
                             shape_text(l->diags->arena, &shape));
    return build_cast(l->b, n->given[which], build_type(l->b, n->x)->dtype, step_name(l, name), &n->like_x[which]);
}

static odlc_status start_batchnorm(struct lower *l, const struct batchnorm *n, tensor_id image, const char *name)
{
    tensor_id weight, bias;
    TRY(batchnorm_weights(l, n, &weight, &bias));
    build_op(l->b, "Batchnorm", name);
    build_in(l->b, image);
    build_in(l->b, weight);
    build_in(l->b, bias);
    return ODLC_OK;
}

/* Outputs 1 and 2 are the statistics that were used; what comes after them serves training. */
static odlc_status give_statistics(struct lower *l, const struct batchnorm *n)
{
    for (uint32_t i = 1; i < l->n_out; i++) {
        if (!lower_out_name(l, i))
            continue;
        if (i > 2)
            return lower_unsupported(l, NULL, "export the model for inference", "output %u (%s) is there for training",
                                     i, lower_out_name(l, i));
        l->out[i] = n->given[i == 1 ? BN_MEAN : BN_VARIANCE];
    }
    return ODLC_OK;
}

/* In training mode the statistics are those of x itself: what is left to normalize is its distance from the mean, whose
 * mean is zero. */
static odlc_status compute_statistics(struct lower *l, struct batchnorm *n, bool first)
{
    struct steps s = {.l = l};
    const struct type type = *build_type(l->b, n->x);
    uint32_t rank = type.shape.rank, channels = first ? 1 : rank - 1, count = 0;
    int64_t axes[MAX_RANK];
    struct shape shape = SHAPE(type.shape.dims[channels]);
    for (uint32_t i = 1; i < l->n_out; i++)
        if (lower_out_name(l, i))
            return lower_unsupported(l, "is_training", "export the model for inference",
                                     "output %u (%s) is there for training", i, lower_out_name(l, i));
    for (uint32_t i = 0; i < rank; i++)
        if (i != channels)
            axes[count++] = i;
    diag_warn(l->diags,
              AT(.file = l->path, .node = l->node->name, .attribute = "is_training",
                 .hint = "export the model for inference if it has statistics of its own"),
              "batch-statistics", "the node normalizes by the mean and variance of its input, as in training");
    tensor_id mean = step_reduce(&s, "ReduceMean", n->x, axes, count, true);
    n->x = step_binary(&s, "ElementWiseSubtract", n->x, mean);
    tensor_id square = step_binary(&s, "ElementWiseMultiply", n->x, n->x);
    tensor_id variance = step_reduce(&s, "ReduceMean", square, axes, count, false);
    TRY(s.status);
    n->given[BN_VARIANCE] = n->like_x[BN_VARIANCE] = variance;
    n->given[BN_MEAN] = n->like_x[BN_MEAN] = lower_splat(l, step_name(l, "mean"), type.dtype, &shape, 0);
    return ODLC_OK;
}

static odlc_status read_batchnorm(struct lower *l, struct batchnorm *n, bool *first)
{
    static const char *const names[BN_STATISTICS] = {"scale", "offset", "mean", "variance"};
    bool training;
    TRY(lower_need(l, 0, "x", &n->x));
    TRY(tf_channels_first(l, first));
    TRY(lower_attr_bool(l, "is_training", true, &training));
    TRY(lower_attr_float(l, "epsilon", (double)1e-4f, &n->epsilon));
    const struct shape *in = &build_type(l->b, n->x)->shape;
    if (in->rank != 4 && in->rank != 5)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 or 5 axes", shape_text(l->diags->arena, in));
    int64_t channels = in->dims[*first ? 1 : in->rank - 1];
    for (uint32_t i = 0; i < (training ? BN_MEAN : BN_STATISTICS); i++)
        TRY(read_statistic(l, i + 1, names[i], channels, n, i));
    return training ? compute_statistics(l, n, *first) : give_statistics(l, n);
}

odlc_status tf_fused_batch_norm(struct lower *l)
{
    struct batchnorm n;
    tensor_id image;
    bool first;
    TRY(read_batchnorm(l, &n, &first));
    TRY(tf_image(l, first, n.x, &image));
    TRY(start_batchnorm(l, &n, image, fw_node_label(l->node)));
    return tf_end_image(l, first);
}

/* _FusedBatchNormEx: then a side input is added, and an activation applied. */
odlc_status tf_fused_batch_norm_ex(struct lower *l)
{
    static const struct choice activations[] = {{"Identity", false}, {"Relu", true}};
    struct steps s = {.l = l};
    struct batchnorm n;
    tensor_id image, side, y;
    int64_t sides;
    bool first;
    int relu;
    TRY(lower_attr_int(l, "num_side_inputs", 0, &sides));
    TRY(lower_choose(l, "activation_mode", "Identity", activations, COUNT_OF(activations), &relu));
    TRY(read_batchnorm(l, &n, &first));
    TRY(tf_image(l, first, n.x, &image));
    const char *name = step_name(l, "Batchnorm");
    TRY(start_batchnorm(l, &n, image, name));
    TRY(build_end(l->b, name, &y));
    if (sides && !relu)
        return lower_unsupported(l, "num_side_inputs", NULL, "a side input without an activation is not supported");
    if (sides) {
        TRY(lower_need(l, 5, "side_input", &side));
        TRY(tf_image(l, first, side, &side));
        y = step_binary(&s, "ElementWiseAdd", y, side);
    }
    y = relu ? step_unary(&s, "Relu", y) : y;
    TRY(s.status);
    return tf_give_image(l, first, y);
}

/* The older form: mean, variance, offset, scale, which may be left out of the product. */
odlc_status tf_batch_norm_global(struct lower *l)
{
    struct batchnorm n;
    bool scaled;
    TRY(lower_need(l, 0, "t", &n.x));
    TRY(lower_attr_float(l, "variance_epsilon", 0, &n.epsilon));
    TRY(lower_attr_bool(l, "scale_after_normalization", false, &scaled));
    const struct shape *in = &build_type(l->b, n.x)->shape;
    if (in->rank != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes", shape_text(l->diags->arena, in));
    TRY(read_statistic(l, 1, "m", in->dims[3], &n, BN_MEAN));
    TRY(read_statistic(l, 2, "v", in->dims[3], &n, BN_VARIANCE));
    TRY(read_statistic(l, 3, "beta", in->dims[3], &n, BN_SHIFT));
    if (scaled) {
        TRY(read_statistic(l, 4, "gamma", in->dims[3], &n, BN_SCALE));
    } else {
        struct shape shape = SHAPE(in->dims[3]);
        n.given[BN_SCALE] = n.like_x[BN_SCALE] =
            lower_splat(l, step_name(l, "scale"), build_type(l->b, n.x)->dtype, &shape, 1);
    }
    TRY(start_batchnorm(l, &n, n.x, fw_node_label(l->node)));
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- across channels ---- */

odlc_status tf_lrn(struct lower *l)
{
    tensor_id x;
    int64_t radius;
    double alpha, beta, bias;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_int(l, "depth_radius", 5, &radius));
    TRY(lower_attr_float(l, "bias", 1, &bias));
    TRY(lower_attr_float(l, "alpha", 1, &alpha));
    TRY(lower_attr_float(l, "beta", 0.5, &beta));
    if (build_rank(l->b, x) != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes",
                             shape_text(l->diags->arena, &build_type(l->b, x)->shape));
    if (radius < 0 || radius > INT32_MAX)
        return lower_invalid(l, "depth_radius", NULL, "depth_radius is %lld", (long long)radius);
    build_op(l->b, "Lrn", fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, "alpha", alpha);
    build_float(l->b, "beta", beta);
    build_float(l->b, "bias", bias);
    build_int(l->b, "radius", radius);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}
