/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's arithmetic on quantized tensors: sums of products of bytes, which are exact in int32, and sums of two
 * tensors, each brought to the steps of the sum first. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/quantized_tensor.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/schema/tf_types.h"

static const enum dtype quint8[] = {DT_UINT8, DT_NONE};

static odlc_status need_sums(const struct lower *l, const char *attribute)
{
    int64_t code;
    TRY(lower_attr_int(l, attribute, TF_QINT32, &code));
    if (code != TF_QINT32)
        return lower_unsupported(l, attribute, NULL, "a result of %s, not of qint32", tf_dtype_name(code));
    return ODLC_OK;
}

/* Both operands, at inputs 0 and 1, with their ranges behind them. */
static odlc_status read_operands(const struct lower *l, const char *result, struct quantized q[2])
{
    TRY(need_sums(l, result));
    TRY(read_quantized(l, (struct quantized_places){0, 2, 3}, "the first operand", quint8, &q[0]));
    return read_quantized(l, (struct quantized_places){1, 4, 5}, "the second operand", quint8, &q[1]);
}

/* The operator of floats, on the integers less what stands for 0. */
static odlc_status give_products(struct lower *l, lower_fn *fn, const char *result)
{
    struct emit s = {.l = l};
    struct quantized q[2];
    tensor_id in[2], sum = NO_TENSOR;
    TRY(read_operands(l, result, q));
    for (uint32_t i = 0; i < 2; i++)
        in[i] = quantized_centered(&s, &q[i]);
    TRY(s.status);
    TRY(lower_step(l, fn, NULL, in, 2, &sum));
    tensor_id level = emit_binary(&s, OP_ElementWiseMultiply, quantized_level(&s, &q[0]), quantized_level(&s, &q[1]));
    return give_sums(&s, sum, level);
}

/* Filters with a sign are those of oneDNN, where 0 stands for 0. */
odlc_status tf_quantized_conv(struct lower *l)
{
    tensor_id filter;
    TRY(lower_need(l, 1, "filter", &filter));
    if (build_type(l->b, filter)->dtype == DT_INT8)
        return tf_quantized_fused(l);
    return give_products(l, tf_conv, "out_type");
}

odlc_status tf_quantized_matmul(struct lower *l)
{
    return give_products(l, tf_matmul, "Toutput");
}

static odlc_status multiply(struct lower *l)
{
    struct emit s = {.l = l};
    return emit_end_binary(&s, OP_ElementWiseMultiply, l->in[0], l->in[1]);
}

odlc_status tf_quantized_multiply(struct lower *l)
{
    return give_products(l, multiply, "Toutput");
}

/* ---- sums ---- */

/* The larger size of the two bounds. */
static tensor_id reach(struct emit *s, const struct quantized *q)
{
    return emit_binary(s, OP_ElementWiseMaximum, q->max, emit_unary(s, OP_ElementWiseNeg, q->min));
}

struct sum {
    struct quantized q[2];
    tensor_id size, scale; /* of the range that reaches farther, and steps of the sum for a real */
};

/* So many steps of the sum are as much as the range that reaches farther: there is room in int32 for more sums. */
static odlc_status read_sum(struct emit *s, const char *result, double places, struct sum *out)
{
    TRY(read_operands(s->l, result, out->q));
    out->size = emit_binary(s, OP_ElementWiseMaximum, reach(s, &out->q[0]), reach(s, &out->q[1]));
    out->scale = emit_binary(s, OP_ElementWiseDivide, emit_scalar(s, out->size, places), out->size);
    return s->status;
}

static odlc_status give_sum(struct emit *s, const struct sum *sum, const tensor_id x[2], double places)
{
    tensor_id both = emit_binary(s, OP_ElementWiseAdd, x[0], x[1]);
    return give_sums(s, both, emit_binary(s, OP_ElementWiseMultiply, sum->size, emit_scalar(s, sum->size, 1 / places)));
}

/* Reals in steps of the sum. */
static tensor_id steps_of(struct emit *s, const struct sum *sum, tensor_id reals)
{
    return emit_cast(s, emit_round_away(s, emit_binary(s, OP_ElementWiseMultiply, reals, sum->scale)), DT_INT32);
}

/* TensorFlow counts from the least integer on, 2³¹ steps below 0, in float32, which has every 128th number there: by so
 * much its integers may be beside the steps of the reals. */
static tensor_id beside(struct emit *s, const struct sum *sum, double places)
{
    const double half = 2147483648.0;
    float size;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    if (quantized_known_float(s->l->b, sum->size, &size)) {
        const float most = size * (float)(half / places), scale = (float)((2 * half - 1) / (double)(most + most));
        return emit_scalar(s, sum->size, (double)(roundf(-most * scale) + (float)half));
    }
    tensor_id most = emit_binary(s, OP_ElementWiseMultiply, sum->size, emit_scalar(s, sum->size, -half / places));
    tensor_id least = emit_binary(s, OP_ElementWiseMultiply, most, sum->scale);
    return emit_binary(s, OP_ElementWiseAdd, least, emit_scalar(s, least, half));
}

odlc_status tf_quantized_bias_add(struct lower *l)
{
    const double places = 16384;
    struct emit s = {.l = l};
    struct sum sum;
    tensor_id x[2];
    TRY(read_sum(&s, "out_type", places, &sum));
    tensor_id less = emit_cast(&s, beside(&s, &sum, places), DT_INT32);
    for (uint32_t i = 0; i < 2; i++)
        x[i] = emit_binary(&s, OP_ElementWiseSubtract, steps_of(&s, &sum, quantized_reals(&s, &sum.q[i])), less);
    return give_sum(&s, &sum, x, places);
}

/* ---- QuantizedAdd ---- */

/* Steps of the sum for an integer of an operand, computed in doubles in TensorFlow's order: halves decide. */
static double step_of(const struct quantized *q, float min, float max, float most, double integer)
{
    const double places = q->highest - q->lowest + 1, half = 2147483648.0;
    const double level = (double)(max - min) * (places / (places - 1)) / places;
    const double start = (double)(roundf(min / (float)level) * (float)level);
    const double scale = 2 * half / ((double)(most + most) * (2 * half / (2 * half - 1)));
    const float real = min == max ? min : (float)(start + integer * level);
    return round((double)real * scale) - round(-(double)most * scale) - half;
}

/* The steps for the integers 0 and 1, as int32. */
static void first_steps(struct emit *s, const struct sum *sum, const struct quantized *q, double places,
                        tensor_id step[2])
{
    float size, min, max;
    const struct build *b = s->l->b;
    if (s->status == ODLC_OK && quantized_known_float(b, sum->size, &size) && quantized_known_float(b, q->min, &min) &&
        quantized_known_float(b, q->max, &max)) {
        const float most = size * (float)(2147483648.0 / places);
        for (uint32_t i = 0; i < 2; i++)
            step[i] = emit_cast(s, emit_scalar(s, q->min, step_of(q, min, max, most, i)), DT_INT32);
        return;
    }
    struct quantized first = *q;
    first.x = emit_scalar(s, q->x, 0);
    const tensor_id real = quantized_reals(s, &first);
    step[0] = steps_of(s, sum, real);
    step[1] = steps_of(s, sum, emit_binary(s, OP_ElementWiseAdd, real, quantized_level(s, &first)));
}

/* Where there are several integers, 0 and 1 are turned into steps of the sum, and the others are as far from each other
 * as these. */
static tensor_id even_steps(struct emit *s, const struct sum *sum, const struct quantized *q, double places)
{
    tensor_id first[2];
    if (s->status != ODLC_OK || shape_count(&build_type(s->l->b, q->x)->shape) == 1)
        return steps_of(s, sum, quantized_reals(s, q));
    first_steps(s, sum, q, places, first);
    tensor_id step = emit_binary(s, OP_ElementWiseSubtract, first[1], first[0]);
    tensor_id x = emit_binary(s, OP_ElementWiseMultiply, emit_cast(s, q->x, DT_INT32), step);
    return emit_binary(s, OP_ElementWiseAdd, x, first[0]);
}

odlc_status tf_quantized_add(struct lower *l)
{
    const double places = 131072;
    struct emit s = {.l = l};
    struct sum sum;
    tensor_id x[2];
    TRY(read_sum(&s, "Toutput", places, &sum));
    for (uint32_t i = 0; i < 2; i++)
        x[i] = even_steps(&s, &sum, &sum.q[i], places);
    return give_sum(&s, &sum, x, places);
}
