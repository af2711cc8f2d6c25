/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized layers with what follows them in one operator, as graphs that were tuned for Intel's processors have them:
 * a bias, Relu, and the way to bytes of a range that is known from calibration. There, 0 stands for 0: the bound that
 * is farther from 0 gives the step. */
#include <math.h>
#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"
#include "converters/tensorflow/schema/tf_types.h"

struct operand {
    tensor_id x;         /* int32 */
    tensor_id level;     /* reals from one integer to the next; one, or one per channel of the filter */
    tensor_id symmetric; /* the same, where as many integers are below 0 as above: of the result's range */
};

struct fused {
    struct operand in[2];
    tensor_id bias;          /* or NO_TENSOR */
    tensor_id summand;       /* or NO_TENSOR: in steps of the result, which is bytes */
    tensor_id level;         /* of the sums */
    tensor_id min, max;      /* of the bytes of the result */
    double most;             /* the greatest of these */
    bool relu, bytes, reals; /* whether there is a Relu; whether sums become bytes, or reals */
    enum dtype to;
};

static bool says(const struct lower *l, const char *word)
{
    return l->variant && strstr(l->variant, word);
}

static double most_of(enum dtype integer)
{
    int64_t lowest, highest;
    integer_range(integer, &lowest, &highest);
    return (double)highest;
}

/* Unsigned integers have no room below 0. */
static odlc_status check_unsigned(const struct lower *l, uint32_t i)
{
    uint64_t count;
    const double *min = build_const_as_floats(l->b, l->in[i], &count);
    if (!min || count != 1 || min[0] < 0)
        return lower_unsupported(l, NULL, NULL, "quint8 of a range whose least number is %s",
                                 min ? "below 0" : "computed");
    return ODLC_OK;
}

/* Operand i, whose range is in inputs `range` and `range` + 1; one range, or one per channel of a filter. */
static odlc_status read_operand(struct emit *s, uint32_t i, uint32_t range, struct operand *out)
{
    struct lower *l = s->l;
    tensor_id x, min, max;
    TRY(lower_need(l, i, "an operand", &x));
    TRY(lower_need(l, range, "the least of a range", &min));
    TRY(lower_need(l, range + 1, "the greatest of a range", &max));
    const enum dtype integer = build_type(l->b, x)->dtype;
    if (integer != (i == 0 ? DT_UINT8 : DT_INT8))
        return lower_unsupported(l, NULL, NULL, "%s is of %s", i ? "the filter" : "the input",
                                 dtype_info(integer)->name);
    if (i == 0)
        TRY(check_unsigned(l, range));
    const uint64_t ranges = shape_count(&build_type(l->b, min)->shape);
    const struct shape along = {.rank = i == 1 && ranges > 1, .dims = {(int64_t)ranges}};
    min = emit_reshape(s, min, &along);
    max = emit_reshape(s, max, &along);
    const double steps = integer == DT_INT8 ? 254 : 255;
    out->level =
        emit_binary(s, OP_ElementWiseDivide, quantized_reach(s, min, max), emit_scalar(s, min, most_of(integer)));
    tensor_id width = emit_binary(s, OP_ElementWiseSubtract, max, min);
    out->symmetric = emit_binary(s, OP_ElementWiseDivide, width, emit_scalar(s, width, steps));
    out->x = emit_cast(s, x, DT_INT32);
    return s->status;
}

static odlc_status read_result(const struct lower *l, struct fused *f)
{
    int64_t code;
    TRY(lower_attr_int(l, says(l, "matmul") ? "Toutput" : "out_type", TF_QINT32, &code));
    f->reals = tf_dtype(code) == DT_FLOAT32;
    f->to = tf_stored_dtype(code);
    f->bytes = f->to == DT_INT8 || f->to == DT_UINT8;
    if (f->bytes != says(l, "bytes") || f->reals != says(l, "reals") || (!f->bytes && !f->reals && f->to != DT_INT32))
        return lower_unsupported(l, NULL, NULL, "a result of %s", tf_dtype_name(code));
    return ODLC_OK;
}

/* Bytes that are added to those of the result, and whose 0 stands for 0, too. */
static odlc_status read_summand(struct emit *s, uint32_t at, struct fused *f)
{
    struct lower *l = s->l;
    tensor_id min, max;
    TRY(lower_need(l, at, "summand", &f->summand));
    const enum dtype dtype = build_type(l->b, f->summand)->dtype;
    if (dtype != DT_UINT8 && dtype != DT_INT8)
        return lower_unsupported(l, NULL, NULL, "the summand is of %s", dtype_info(dtype)->name);
    TRY(read_bound(l, at + 1, "min_summand", &min));
    TRY(read_bound(l, at + 2, "max_summand", &max));
    tensor_id level =
        emit_binary(s, OP_ElementWiseDivide, quantized_reach(s, min, max), quantized_reach(s, f->min, f->max));
    level = emit_binary(s, OP_ElementWiseMultiply, level, emit_scalar(s, level, most_of(f->to) / most_of(dtype)));
    f->summand = emit_binary(s, OP_ElementWiseMultiply, emit_cast(s, f->summand, DT_FLOAT32), level);
    f->most = fmin(f->most, most_of(dtype)); /* the sum takes its place */
    return s->status;
}

static odlc_status read_fused(struct emit *s, struct fused *f)
{
    struct lower *l = s->l;
    const uint32_t has_bias = says(l, "bias"), range = 2 + has_bias;
    *f = (struct fused){.bias = NO_TENSOR, .summand = NO_TENSOR, .relu = says(l, "relu")};
    TRY(read_result(l, f));
    for (uint32_t i = 0; i < 2; i++)
        TRY(read_operand(s, i, range + 2 * i, &f->in[i]));
    if (!f->bytes && !f->reals && build_rank(l->b, f->in[1].level) > 0)
        return lower_unsupported(l, NULL, NULL, "sums of a filter with a range per channel, in qint32");
    f->level = emit_binary(s, OP_ElementWiseMultiply, f->in[0].level, f->in[1].level);
    if (has_bias)
        TRY(lower_need(l, 2, "bias", &f->bias));
    if (f->bytes) {
        TRY(read_bound(l, range + 4, "min_freezed_output", &f->min));
        TRY(read_bound(l, range + 5, "max_freezed_output", &f->max));
        f->most = most_of(f->to);
    }
    return says(l, "sum") ? read_summand(s, range + 6, f) : s->status;
}

static odlc_status products(struct lower *l, const struct fused *f, tensor_id *sum)
{
    const tensor_id in[] = {f->in[0].x, f->in[1].x};
    if (says(l, "matmul"))
        return lower_step(l, tf_matmul, NULL, in, 2, sum);
    return lower_step(l, tf_conv, says(l, "depthwise") ? "depthwise" : NULL, in, 2, sum);
}

/* A bias of integers is one of sums; one of floats is as many steps, and nothing is rounded before the result. */
static tensor_id biased(struct emit *s, const struct fused *f, tensor_id sum)
{
    if (f->bias == NO_TENSOR)
        return sum;
    if (build_type(s->l->b, f->bias)->dtype == DT_INT32)
        return emit_binary(s, OP_ElementWiseAdd, sum, f->bias);
    tensor_id steps = emit_binary(s, OP_ElementWiseDivide, emit_cast(s, f->bias, DT_FLOAT32), f->level);
    return emit_binary(s, OP_ElementWiseAdd, emit_cast(s, sum, DT_FLOAT32), steps);
}

static odlc_status give_bytes(struct emit *s, const struct fused *f, tensor_id x)
{
    int64_t lowest, highest;
    integer_range(f->to, &lowest, &highest);
    tensor_id size = quantized_reach(s, f->min, f->max);
    tensor_id scale = emit_binary(s, OP_ElementWiseMultiply, f->level, emit_scalar(s, f->level, (double)highest));
    x = emit_cast(s, x, DT_FLOAT32);
    x = emit_binary(s, OP_ElementWiseMultiply, x, emit_binary(s, OP_ElementWiseDivide, scale, size));
    if (f->summand != NO_TENSOR)
        x = emit_binary(s, OP_ElementWiseAdd, x, f->summand);
    x = emit_clamp(s, emit_unary(s, OP_ElementWiseRound, x), f->relu ? 0 : (double)lowest, f->most);
    return give_quantized(s, emit_cast(s, x, f->to), f->min, f->max);
}

odlc_status tf_quantized_fused(struct lower *l)
{
    struct emit s = {.l = l};
    struct fused f;
    tensor_id x = NO_TENSOR;
    TRY(read_fused(&s, &f));
    TRY(products(l, &f, &x));
    x = biased(&s, &f, x);
    TRY(s.status);
    if (f.bytes)
        return give_bytes(&s, &f, x);
    if (f.reals)
        return emit_end_binary(&s, OP_ElementWiseMultiply, emit_cast(&s, x, DT_FLOAT32), f.level);
    if (build_type(l->b, x)->dtype == DT_FLOAT32)
        x = emit_cast(&s, emit_unary(&s, OP_ElementWiseRound, x), DT_INT32);
    if (f.relu)
        x = emit_binary(&s, OP_ElementWiseMaximum, x, emit_scalar(&s, x, 0));
    return give_sums(&s, x, emit_binary(&s, OP_ElementWiseMultiply, f.in[0].symmetric, f.in[1].symmetric));
}
