/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's biases and normalizations. */
#include <string.h>

#include "converters/lowering/batchnorm.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/windows.h"

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
    build_op(l->b, OP_ElementWiseAdd, fw_node_label(l->node));
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

struct fused_norm {
    struct batchnorm n;
    bool channels_first;
    bool training;  /* statistics are those of x; mean and variance in n are what the model had before, if anything */
    double average; /* the weight of the statistics of x in those that are given on */
};

static odlc_status read_fused(struct lower *l, struct fused_norm *f)
{
    static const char *const names[BN_STATISTICS] = {"scale", "offset", "mean", "variance"};
    TRY(lower_need(l, 0, "x", &f->n.x));
    TRY(tf_channels_first(l, &f->channels_first));
    TRY(lower_attr_bool(l, "is_training", true, &f->training));
    TRY(lower_attr_float(l, "epsilon", (double)1e-4f, &f->n.epsilon));
    TRY(lower_attr_float(l, "exponential_avg_factor", 1, &f->average));
    const struct shape *in = &build_type(l->b, f->n.x)->shape;
    if (in->rank != 4 && in->rank != 5)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 or 5 axes", shape_text(l->diags->arena, in));
    uint32_t needed = f->training && f->average == 1 ? BN_MEAN : BN_STATISTICS;
    for (uint32_t i = 0; i < needed; i++)
        TRY(read_statistic(l, i + 1, names[i], in->dims[f->channels_first ? 1 : in->rank - 1], &f->n, i));
    return ODLC_OK;
}

/* Graphs that were exported in training mode have many such nodes: the first is told. */
static void warn_of_training(const struct lower *l)
{
    static const char code[] = "batch-statistics";
    for (size_t i = 0; i < l->diags->list.count; i++)
        if (strcmp(l->diags->list.data[i].code, code) == 0)
            return;
    diag_warn(l->diags,
              AT(.file = l->path, .node = l->node->name, .attribute = "is_training",
                 .hint = "export the model for inference if it has statistics of its own"),
              code, "the node normalizes by the mean and variance of its input, as in training; others may, too");
}

/* Statistics over all positions of all images: those of one image that has the rows of all. */
static odlc_status normalize_by_own(struct lower *l, const struct fused_norm *f, tensor_id image, const char *name,
                                    tensor_id *y)
{
    const struct shape shape = build_type(l->b, image)->shape;
    uint32_t last = shape.rank - 1;
    struct shape one =
        SHAPE(1, (int64_t)shape_count_range(&shape, 0, last - 1), shape.dims[last - 1], shape.dims[last]);
    bool same = shape_equal(&one, &shape);
    warn_of_training(l);
    TRY(build_reshape(l->b, image, &one, step_name(l, "rows"), &image));
    build_op(l->b, OP_InstanceNorm, fw_node_label(l->node));
    build_in(l->b, image);
    build_in(l->b, f->n.like_x[BN_SCALE]);
    build_in(l->b, f->n.like_x[BN_SHIFT]);
    build_float(l->b, PARAM_epsilon, f->n.epsilon);
    TRY(build_end(l->b, same ? name : step_name(l, "normal"), y));
    return same ? ODLC_OK : build_reshape(l->b, *y, &shape, name, y);
}

static odlc_status normalize(struct lower *l, const struct fused_norm *f, tensor_id image, const char *name,
                             tensor_id *y)
{
    if (f->training)
        return normalize_by_own(l, f, image, name, y);
    TRY(batchnorm_start(l, &f->n, image, fw_node_label(l->node)));
    return build_end(l->b, name, y);
}

/* ---- the statistics that are given on ---- */

/* Output i, a statistic of x: where the model averages it, moved from what it had before. */
static odlc_status give_average(struct emit *s, const struct fused_norm *f, uint32_t i, tensor_id own)
{
    TRY(s->status);
    if (f->average != 1) {
        tensor_id before = f->n.given[i == 1 ? BN_MEAN : BN_VARIANCE];
        tensor_id old = emit_binary(s, OP_ElementWiseMultiply, before, emit_scalar(s, own, 1 - f->average));
        own = emit_binary(s, OP_ElementWiseMultiply, own, emit_scalar(s, own, f->average));
        own = emit_binary(s, OP_ElementWiseAdd, old, own);
    }
    return emit_give(s, i, own);
}

/* Mean and variance of x, the latter as an estimate from a sample. */
static odlc_status give_own_statistics(struct lower *l, const struct fused_norm *f, tensor_id image)
{
    struct emit s = {.l = l};
    const struct shape shape = build_type(l->b, image)->shape;
    int64_t axes[] = {0, 1, 2, 3}, count = (int64_t)shape_count_range(&shape, 0, shape.rank - 1);
    double sample = (double)count / (double)max_i64(count - 1, 1);
    tensor_id x = emit_cast(&s, image, build_type(l->b, f->n.given[BN_SCALE])->dtype);
    tensor_id mean = emit_reduce(&s, OP_ReduceMean, x, axes, shape.rank - 1, false);
    tensor_id distance = emit_binary(&s, OP_ElementWiseSubtract, x, mean);
    tensor_id squares = emit_binary(&s, OP_ElementWiseMultiply, distance, distance);
    tensor_id variance = emit_reduce(&s, OP_ReduceMean, squares, axes, shape.rank - 1, false);
    variance = emit_binary(&s, OP_ElementWiseMultiply, variance, emit_scalar(&s, x, sample));
    TRY(give_average(&s, f, 1, mean));
    return l->n_out > 2 ? give_average(&s, f, 2, variance) : s.status;
}

/* Outputs 1 and 2 are the statistics; what comes after them serves the computation of gradients. */
static odlc_status give_statistics(struct lower *l, const struct fused_norm *f, tensor_id image)
{
    bool wanted = false;
    for (uint32_t i = 1; i < l->n_out; i++) {
        if (!lower_out_name(l, i))
            continue;
        if (i > 2)
            return lower_unsupported(l, NULL, "export the model for inference", "output %u (%s) is there for training",
                                     i, lower_out_name(l, i));
        if (!f->training)
            l->out[i] = f->n.given[i == 1 ? BN_MEAN : BN_VARIANCE];
        wanted = true;
    }
    return wanted && f->training ? give_own_statistics(l, f, image) : ODLC_OK;
}

odlc_status tf_fused_batch_norm(struct lower *l)
{
    struct fused_norm f;
    tensor_id image, y;
    TRY(read_fused(l, &f));
    TRY(tf_image(l, f.channels_first, f.n.x, &image));
    TRY(give_statistics(l, &f, image));
    TRY(normalize(l, &f, image, f.channels_first ? step_name(l, "nhwc") : lower_out_name(l, 0), &y));
    return tf_give_image(l, f.channels_first, y);
}

/* _FusedBatchNormEx: then a side input is added, and an activation applied. */
odlc_status tf_fused_batch_norm_ex(struct lower *l)
{
    static const struct choice activations[] = {{"Identity", false}, {"Relu", true}};
    struct emit s = {.l = l};
    struct fused_norm f;
    tensor_id image, side, y;
    int64_t sides;
    int relu;
    TRY(lower_attr_int(l, "num_side_inputs", 0, &sides));
    TRY(lower_choose(l, "activation_mode", "Identity", activations, COUNT_OF(activations), &relu));
    TRY(read_fused(l, &f));
    TRY(tf_image(l, f.channels_first, f.n.x, &image));
    TRY(give_statistics(l, &f, image));
    TRY(normalize(l, &f, image, step_name(l, "normal"), &y));
    if (sides && !relu)
        return lower_unsupported(l, "num_side_inputs", NULL, "a side input without an activation is not supported");
    if (sides) {
        TRY(lower_need(l, 5, "side_input", &side));
        TRY(tf_image(l, f.channels_first, side, &side));
        y = emit_binary(&s, OP_ElementWiseAdd, y, side);
    }
    y = relu ? emit_unary(&s, OP_Relu, y) : y;
    TRY(s.status);
    return tf_give_image(l, f.channels_first, y);
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
    TRY(batchnorm_start(l, &n, n.x, fw_node_label(l->node)));
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
    build_op(l->b, OP_Lrn, fw_node_label(l->node));
    build_in(l->b, x);
    build_float(l->b, PARAM_alpha, alpha);
    build_float(l->b, PARAM_beta, beta);
    build_float(l->b, PARAM_bias, bias);
    build_int(l->b, PARAM_radius, radius);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}
