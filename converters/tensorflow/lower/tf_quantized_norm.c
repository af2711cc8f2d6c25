/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's normalizations of quantized tensors. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/schema/tf_types.h"

static const enum dtype quint8[] = {DT_UINT8, DT_NONE};

static tensor_id times(struct emit *s, tensor_id x, tensor_id y)
{
    return emit_binary(s, OP_ElementWiseMultiply, x, y);
}

static tensor_id plus(struct emit *s, tensor_id x, double number)
{
    return emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, x, number));
}

/* ---- QuantizedInstanceNorm ---- */

static odlc_status need_images(const struct lower *l, tensor_id x)
{
    const struct shape *shape = &build_type(l->b, x)->shape;
    if (shape->rank != 4 || shape_count(shape) == 0)
        return lower_invalid(l, NULL, NULL, "the input %s is no tensor of images", shape_text(l->diags->arena, shape));
    return ODLC_OK;
}

/* (x - mean) / sqrt(variance + epsilon), each by image and channel. */
static tensor_id normalized(struct emit *s, const struct quantized *q, double epsilon)
{
    static const int64_t spatial[] = {1, 2};
    tensor_id level = quantized_level(s, q), x = emit_cast(s, q->x, DT_FLOAT32);
    x = emit_binary(s, OP_ElementWiseSubtract, x, emit_reduce(s, OP_ReduceMean, x, spatial, 2, true));
    x = times(s, level, x);
    tensor_id variance = emit_reduce(s, OP_ReduceMean, times(s, x, x), spatial, 2, true);
    return times(s, x, emit_unary(s, OP_ElementWiseRsqrt, plus(s, variance, epsilon)));
}

/* The range of the result: the given one, or that of the numbers; its ends stay apart. */
static odlc_status result_range(struct emit *s, tensor_id y, struct quantized *out)
{
    static const int64_t all[] = {0, 1, 2, 3};
    const struct lower *l = s->l;
    bool given;
    double min, max, apart;
    TRY(lower_attr_bool(l, "output_range_given", false, &given));
    TRY(lower_attr_float(l, "given_y_min", 0, &min));
    TRY(lower_attr_float(l, "given_y_max", 0, &max));
    TRY(lower_attr_float(l, "min_separation", (double)0.001f, &apart));
    if (given && !(min < max))
        return lower_invalid(l, "given_y_min", NULL, "the range from %g to %g is none", min, max);
    out->min = given ? emit_scalar(s, y, min) : emit_reduce(s, OP_ReduceMin, y, all, 4, false);
    out->max = given ? emit_scalar(s, y, max) : emit_reduce(s, OP_ReduceMax, y, all, 4, false);
    tensor_id width = emit_binary(s, OP_ElementWiseSubtract, out->max, out->min);
    tensor_id narrow = emit_binary(s, OP_ElementWiseLess, width, emit_scalar(s, width, apart));
    out->max = emit_select(s, narrow, plus(s, out->min, apart), out->max);
    return s->status;
}

odlc_status tf_quantized_instance_norm(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    double epsilon;
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "x", quint8, &q));
    TRY(need_images(l, q.x));
    TRY(lower_attr_float(l, "variance_epsilon", (double)1e-5f, &epsilon));
    tensor_id y = normalized(&s, &q, epsilon);
    TRY(result_range(&s, y, &q));
    return give_quantized(&s, quantized_integers(&s, &q, y), q.min, q.max);
}

/* ---- QuantizedBatchNormWithGlobalNormalization ---- */

/* Sums have 2048 steps for a real, from -2²⁰ on. */
enum { SUM_STEPS = 2048, SUM_RANGE = 1 << 20 };

/* The nearest step, halves towards zero: TensorFlow multiplies by a number just below 2048. */
static tensor_id steps_of(struct emit *s, tensor_id reals)
{
    tensor_id x = times(s, reals, emit_scalar(s, reals, SUM_STEPS));
    tensor_id size = emit_unary(s, OP_ElementWiseCeil, plus(s, emit_unary(s, OP_ElementWiseAbs, x), -0.5));
    return emit_cast(s, times(s, size, emit_unary(s, OP_ElementWiseSign, x)), DT_INT32);
}

static odlc_status read_line(struct emit *s, uint32_t i, const char *what, tensor_id *reals)
{
    struct quantized q;
    TRY(read_quantized(s->l, (struct quantized_places){i, i + 1, i + 2}, what, quint8, &q));
    const struct shape *shape = &build_type(s->l->b, q.x)->shape;
    if (shape->rank != 1)
        return lower_invalid(s->l, NULL, NULL, "%s %s is no vector", what, shape_text(s->l->diags->arena, shape));
    *reals = quantized_reals(s, &q);
    return s->status;
}

/* What the input is multiplied by, and what is added then. */
static odlc_status read_weights(struct emit *s, tensor_id *factor, tensor_id *shift)
{
    enum { MEAN = 3, VARIANCE = 6, BETA = 9, GAMMA = 12 };
    const struct lower *l = s->l;
    tensor_id mean, variance, beta, gamma;
    double epsilon;
    bool scaled;
    TRY(lower_attr_float(l, "variance_epsilon", 0, &epsilon));
    TRY(lower_attr_bool(l, "scale_after_normalization", false, &scaled));
    TRY(read_line(s, MEAN, "m", &mean));
    TRY(read_line(s, VARIANCE, "v", &variance));
    TRY(read_line(s, BETA, "beta", &beta));
    TRY(read_line(s, GAMMA, "gamma", &gamma));
    tensor_id root = emit_unary(s, OP_ElementWiseSquareRoot, plus(s, variance, epsilon));
    *factor = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, root, 1), root);
    if (scaled)
        *factor = times(s, *factor, gamma);
    *shift = emit_binary(s, OP_ElementWiseSubtract, beta, times(s, mean, *factor));
    return s->status;
}

odlc_status tf_quantized_batch_norm(struct lower *l)
{
    struct emit s = {.l = l};
    struct quantized q;
    int64_t code;
    tensor_id factor, shift, x;
    TRY(lower_attr_int(l, "out_type", TF_QINT32, &code));
    if (code != TF_QINT32)
        return lower_unsupported(l, "out_type", NULL, "a result of %s, not of qint32", tf_dtype_name(code));
    TRY(read_quantized(l, (struct quantized_places){0, 1, 2}, "t", quint8, &q));
    TRY(need_images(l, q.x));
    TRY(read_weights(&s, &factor, &shift));
    x = times(&s, steps_of(&s, quantized_reals(&s, &q)), steps_of(&s, factor));
    x = emit_binary(&s, OP_ElementWiseDivide, x, emit_scalar(&s, x, SUM_STEPS));
    x = emit_binary(&s, OP_ElementWiseAdd, x, steps_of(&s, shift));
    tensor_id min = emit_scalar(&s, q.min, -SUM_RANGE);
    return give_quantized(&s, x, min, emit_scalar(&s, q.max, SUM_RANGE));
}
