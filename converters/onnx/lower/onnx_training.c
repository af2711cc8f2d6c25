/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX steps of optimizers: Adagrad, Adam, Momentum. Their formulas are applied to each of the tensors. */
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

enum { MOST_STATES = 4 };

/* The inputs are rate, count, then all tensors, all gradients and so on: `states` kinds of them. */
struct optimizer {
    tensor_id rate, count;
    uint32_t states, tensors;
    double norm_coefficient;
};

static odlc_status read_optimizer(struct lower *l, uint32_t states, struct optimizer *o)
{
    *o = (struct optimizer){.states = states, .tensors = l->n_in > 2 ? (l->n_in - 2) / states : 0};
    TRY(lower_need(l, 0, "R", &o->rate));
    TRY(lower_need(l, 1, "T", &o->count));
    if (o->tensors == 0 || l->n_in != 2 + o->tensors * states || l->n_out > o->tensors * (states - 1))
        return lower_invalid(l, NULL, NULL, "%u inputs and %u outputs do not make %u for each tensor", l->n_in,
                             l->n_out, states);
    return lower_attr_float(l, "norm_coefficient", 0, &o->norm_coefficient);
}

/* The states of tensor i, all of its shape and dtype. */
static odlc_status states_of(struct lower *l, const struct optimizer *o, uint32_t i, tensor_id *out)
{
    for (uint32_t k = 0; k < o->states; k++) {
        TRY(lower_need(l, 2 + k * o->tensors + i, "inputs", &out[k]));
        const struct type *first = build_type(l->b, out[0]), *type = build_type(l->b, out[k]);
        if (!dtype_is_float(type->dtype) || type->dtype != first->dtype || !shape_equal(&type->shape, &first->shape))
            return lower_invalid(l, NULL, NULL, "the inputs of tensor %u differ in type or shape", i);
    }
    return ODLC_OK;
}

/* x · factor */
static tensor_id times(struct emit *s, tensor_id x, double factor)
{
    return emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, factor));
}

/* A scalar input in the dtype of x and without axes. */
static tensor_id scalar_like(struct emit *s, tensor_id scalar, tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape none = {.rank = 0};
    scalar = emit_reshape(s, scalar, &none);
    return emit_cast(s, scalar, build_type(s->l->b, x)->dtype);
}

/* The gradient with that of the norm. */
static tensor_id regularized(struct emit *s, const struct optimizer *o, tensor_id x, tensor_id gradient)
{
    return o->norm_coefficient == 0 ? gradient
                                    : emit_binary(s, OP_ElementWiseAdd, times(s, x, o->norm_coefficient), gradient);
}

odlc_status lower_adagrad(struct lower *l)
{
    struct emit s = {.l = l};
    struct optimizer o;
    double decay, epsilon;
    tensor_id in[MOST_STATES];
    TRY(read_optimizer(l, 3, &o));
    TRY(lower_attr_float(l, "decay_factor", 0, &decay));
    TRY(lower_attr_float(l, "epsilon", (double)1e-6f, &epsilon));
    for (uint32_t i = 0; i < o.tensors; i++) {
        TRY(states_of(l, &o, i, in));
        tensor_id count = times(&s, scalar_like(&s, o.count, in[0]), decay);
        tensor_id slowed = emit_binary(&s, OP_ElementWiseAdd, count, emit_scalar(&s, in[0], 1));
        tensor_id rate = emit_binary(&s, OP_ElementWiseDivide, scalar_like(&s, o.rate, in[0]), slowed);
        tensor_id gradient = regularized(&s, &o, in[0], in[1]);
        tensor_id squares =
            emit_binary(&s, OP_ElementWiseAdd, in[2], emit_binary(&s, OP_ElementWiseMultiply, gradient, gradient));
        tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot, squares);
        tensor_id adaptive = emit_binary(&s, OP_ElementWiseAdd, root, emit_scalar(&s, in[0], epsilon));
        tensor_id step =
            emit_binary(&s, OP_ElementWiseDivide, emit_binary(&s, OP_ElementWiseMultiply, gradient, rate), adaptive);
        TRY(emit_give(&s, i, emit_binary(&s, OP_ElementWiseSubtract, in[0], step)));
        TRY(emit_give(&s, o.tensors + i, squares));
    }
    return ODLC_OK;
}

struct adam {
    double alpha, beta, epsilon, norm_coefficient_post;
};

/* count > 0 ? rate · √(1 − βᵗ) / (1 − αᵗ) : rate */
static tensor_id adam_rate(struct emit *s, const struct adam *a, tensor_id rate, tensor_id count)
{
    tensor_id one = emit_scalar(s, rate, 1), zero = emit_scalar(s, rate, 0);
    tensor_id beta = emit_binary(s, OP_ElementWisePower, emit_scalar(s, rate, a->beta), count);
    tensor_id alpha = emit_binary(s, OP_ElementWisePower, emit_scalar(s, rate, a->alpha), count);
    tensor_id root = emit_unary(s, OP_ElementWiseSquareRoot, emit_binary(s, OP_ElementWiseSubtract, one, beta));
    tensor_id divisor = emit_binary(s, OP_ElementWiseSubtract, one, alpha);
    tensor_id adjusted =
        emit_binary(s, OP_ElementWiseDivide, emit_binary(s, OP_ElementWiseMultiply, rate, root), divisor);
    return emit_select(s, emit_binary(s, OP_ElementWiseGreater, count, zero), adjusted, rate);
}

/* old · weight + next · (1 − weight) */
static tensor_id running_mean(struct emit *s, double weight, tensor_id old, tensor_id next)
{
    tensor_id kept = times(s, old, weight);
    return emit_binary(s, OP_ElementWiseAdd, kept, times(s, next, 1 - weight));
}

odlc_status lower_adam(struct lower *l)
{
    struct emit s = {.l = l};
    struct optimizer o;
    struct adam a;
    tensor_id in[MOST_STATES];
    TRY(read_optimizer(l, 4, &o));
    TRY(lower_attr_float(l, "alpha", (double)0.9f, &a.alpha));
    TRY(lower_attr_float(l, "beta", (double)0.999f, &a.beta));
    TRY(lower_attr_float(l, "epsilon", (double)1e-6f, &a.epsilon));
    TRY(lower_attr_float(l, "norm_coefficient_post", 0, &a.norm_coefficient_post));
    for (uint32_t i = 0; i < o.tensors; i++) {
        TRY(states_of(l, &o, i, in));
        tensor_id rate = scalar_like(&s, o.rate, in[0]), count = scalar_like(&s, o.count, in[0]);
        tensor_id gradient = regularized(&s, &o, in[0], in[1]);
        tensor_id mean = running_mean(&s, a.alpha, in[2], gradient);
        tensor_id squares =
            running_mean(&s, a.beta, in[3], emit_binary(&s, OP_ElementWiseMultiply, gradient, gradient));
        tensor_id root = emit_unary(&s, OP_ElementWiseSquareRoot, squares);
        root = emit_binary(&s, OP_ElementWiseAdd, root, emit_scalar(&s, in[0], a.epsilon));
        rate = adam_rate(&s, &a, rate, count);
        tensor_id step =
            emit_binary(&s, OP_ElementWiseDivide, emit_binary(&s, OP_ElementWiseMultiply, mean, rate), root);
        tensor_id x = emit_binary(&s, OP_ElementWiseSubtract, in[0], step);
        if (a.norm_coefficient_post != 0)
            x = times(&s, x, 1 - a.norm_coefficient_post);
        TRY(emit_give(&s, i, x));
        TRY(emit_give(&s, o.tensors + i, mean));
        TRY(emit_give(&s, 2 * o.tensors + i, squares));
    }
    return ODLC_OK;
}

odlc_status lower_momentum(struct lower *l)
{
    struct emit s = {.l = l};
    struct optimizer o;
    double alpha, beta;
    const char *mode;
    tensor_id in[MOST_STATES];
    TRY(read_optimizer(l, 3, &o));
    TRY(lower_attr_float(l, "alpha", 0, &alpha));
    TRY(lower_attr_float(l, "beta", 0, &beta));
    TRY(lower_attr_string(l, "mode", "", &mode));
    bool nesterov = strcmp(mode, "nesterov") == 0;
    if (!nesterov && strcmp(mode, "standard") != 0)
        return lower_invalid(l, "mode", "it is standard or nesterov", "mode \"%s\" is not known", mode);
    for (uint32_t i = 0; i < o.tensors; i++) {
        TRY(states_of(l, &o, i, in));
        tensor_id rate = scalar_like(&s, o.rate, in[0]), count = scalar_like(&s, o.count, in[0]);
        tensor_id gradient = regularized(&s, &o, in[0], in[1]);
        tensor_id one = emit_scalar(&s, in[0], 1), zero = emit_scalar(&s, in[0], 0);
        tensor_id later = emit_binary(&s, OP_ElementWiseGreater, count, zero);
        tensor_id share = emit_select(&s, later, emit_scalar(&s, in[0], beta), one);
        tensor_id kept = times(&s, in[2], alpha);
        tensor_id momentum =
            emit_binary(&s, OP_ElementWiseAdd, kept, emit_binary(&s, OP_ElementWiseMultiply, gradient, share));
        tensor_id way = nesterov ? emit_binary(&s, OP_ElementWiseAdd, gradient, times(&s, momentum, alpha)) : momentum;
        TRY(emit_give(
            &s, i, emit_binary(&s, OP_ElementWiseSubtract, in[0], emit_binary(&s, OP_ElementWiseMultiply, way, rate))));
        TRY(emit_give(&s, o.tensors + i, momentum));
    }
    return ODLC_OK;
}
