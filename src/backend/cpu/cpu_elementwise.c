/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions of one and two float32 tensors: loops that the compiler vectorizes. */
#include <float.h>
#include <math.h>

#include "backend/cpu/cpu_bytes.h"
#include "backend/cpu/cpu_quick.h"
#include "backend/cpu/cpu_series.h"
#include "backend/cpu/cpu_table.h"
#include "backend/cpu/cpu_walk.h"
#include "op/op.h"
#include "op/params.h"

/* ---- two operands ---- */

/* What is rounded more than once is computed in double, as in the reference. */
LOOP_BINARY(add, float, float, a + b)
LOOP_BINARY(subtract, float, float, a - b)
LOOP_BINARY(multiply, float, float, (a * b))
LOOP_BINARY(divide, float, float, a / b)
LOOP_BINARY(maximum, float, float, a > b || a != a ? a : b)
LOOP_BINARY(minimum, float, float, a < b || a != a ? a : b)
LOOP_BINARY(squared_difference, float, float, (float)(((double)a - b) * ((double)a - b)))
LOOP_BINARY(prelu, float, float, a < 0 ? a * b : a)

LOOP_BINARY(power, float, float, (float)pow((double)a, (double)b))

/* Squares are what networks ask for most. */
static CLONED void square(const struct span *s, const void *user)
{
    float *restrict out = s->data[0];
    const float *restrict x = s->data[1];
    (void)user;
    for (int64_t i = 0; i < s->count; i++)
        out[i] = (float)((double)x[i] * (double)x[i]);
}

static void power_of_span(const struct span *s, const void *user)
{
    const float *exponent = s->data[2];
    (s->step[1] == 1 && s->step[2] == 0 && *exponent == 2 ? square : power)(s, user);
}

static span_fn *binary_loop(enum op_id id)
{
    switch (id) {
    case OP_ElementWiseAdd:
        return add;
    case OP_ElementWiseSubtract:
        return subtract;
    case OP_ElementWiseMultiply:
        return multiply;
    case OP_ElementWiseDivide:
        return divide;
    case OP_ElementWiseMaximum:
        return maximum;
    case OP_ElementWiseMinimum:
        return minimum;
    case OP_ElementWiseSquaredDifference:
        return squared_difference;
    case OP_ElementWisePower:
        return power_of_span;
    default:
        return prelu;
    }
}

static odlc_status prepare_binary(struct cpu_making *m)
{
    return cpu_walk(m, binary_loop(making_node(m)->op->id), NULL);
}

/* Of Int_32 elements, which wrap. */
LOOP_BINARY(add_ints, uint32_t, uint32_t, a + b)
LOOP_BINARY(subtract_ints, uint32_t, uint32_t, a - b)
LOOP_BINARY(multiply_ints, uint32_t, uint32_t, (a * b))

static span_fn *int_loop(enum op_id id)
{
    switch (id) {
    case OP_ElementWiseAdd:
        return add_ints;
    case OP_ElementWiseSubtract:
        return subtract_ints;
    case OP_ElementWiseMultiply:
        return multiply_ints;
    default:
        return NULL;
    }
}

static bool is_of_ints(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!node_input(g, n, i) || node_input(g, n, i)->type->dtype != DT_INT32)
            return false;
    return node_output(g, n, 0)->type->dtype == DT_INT32 && int_loop(n->op->id);
}

static const char *refuse_binary(const struct graph *g, const struct node *n)
{
    return is_of_ints(g, n) ? NULL : cpu_refuse_types(g, n);
}

static bool is_of_integers(const struct graph *g, const struct node *n)
{
    return is_of_ints(g, n) || bytes_is(g, n);
}

static odlc_status prepare_integers(struct cpu_making *m)
{
    if (bytes_is(m->scope->graph, making_node(m)))
        return bytes_prepare(m);
    return cpu_walk_plain(m, int_loop(making_node(m)->op->id), NULL);
}

const struct cpu_op cpu_binary = {
    .refuse = refuse_binary, .prepare = prepare_binary, .is_fixed = is_of_integers, .prepare_fixed = prepare_integers};

/* ---- Batchnorm ---- */

static CLONED void multiply_add(const struct span *s, const void *user)
{
    float *restrict out = s->data[0];
    const float *restrict x = s->data[1], *restrict weight = s->data[2], *restrict bias = s->data[3];
    const int64_t x_step = s->step[1], step = s->step[2];
    (void)user;
    if (x_step == 1 && step == 1 && s->step[3] == 1)
        for (int64_t i = 0; i < s->count; i++)
            out[i] = (float)((double)x[i] * (double)weight[i] + (double)bias[i]);
    else
        for (int64_t i = 0; i < s->count; i++)
            out[i] = (float)((double)x[i * x_step] * (double)weight[i * step] + (double)bias[i * s->step[3]]);
}

static odlc_status prepare_batchnorm(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    const bool has_bias = n->n_inputs > 2 && n->inputs[2] != NO_TENSOR;
    return cpu_walk(m, has_bias ? multiply_add : multiply, NULL);
}

const struct cpu_op cpu_batchnorm = {.refuse = cpu_refuse_types, .prepare = prepare_batchnorm};

/* ---- one operand ---- */

struct neuron {
    double alpha, beta;
    float min, max;
};

#define LOOP_UNARY(name, expr)                                      \
    static CLONED void name(const struct span *s, const void *user) \
    {                                                               \
        const struct neuron p = *(const struct neuron *)user;       \
        float *restrict out = s->data[0];                           \
        const float *restrict x = s->data[1];                       \
        (void)p;                                                    \
        for (int64_t i = 0; i < s->count; i++) {                    \
            const float a = x[i];                                   \
            out[i] = (expr);                                        \
        }                                                           \
    }

/* A NaN stays one. */
static inline float clamp(float x, float min, float max)
{
    const float least = x < min ? min : x;
    return least > max ? max : least;
}

static inline double clamp_wide(double x, double min, double max)
{
    const double least = x < min ? min : x;
    return least > max ? max : least;
}

LOOP_UNARY(clip, clamp(a, p.min, p.max))
LOOP_UNARY(hard_sigmoid, clamp((float)(p.alpha *a + p.beta), 0, 1))
LOOP_UNARY(hard_swish, (float)(a *clamp_wide((double)a + 3, 0, 6) / 6))
LOOP_UNARY(absolute, fabsf(a))
LOOP_UNARY(negate, -a)
LOOP_UNARY(square_root, sqrtf(a))
LOOP_UNARY(reciprocal, 1 / a)
LOOP_UNARY(reciprocal_root, (float)(1 / sqrt(a)))
LOOP_UNARY(exponential, (float)series_exp(a))
LOOP_UNARY(sigmoid, (float)series_sigmoid(a))
LOOP_UNARY(hyperbolic_tangent, (float)series_tanh(a))
LOOP_UNARY(elu, a < 0 ? (float)(p.alpha * series_expm1(a)) : a)
LOOP_UNARY(gelu, (float)series_gelu(a))

LOOP_UNARY(sigmoid_quickly, quick_sigmoid(a))
LOOP_UNARY(hyperbolic_tangent_quickly, quick_tanh(a))

/* `quick`: whether float32 is enough. */
static span_fn *unary_loop(enum op_id id, bool quick)
{
    switch (id) {
    case OP_HardSigmoid:
        return hard_sigmoid;
    case OP_HardSwish:
        return hard_swish;
    case OP_ElementWiseAbs:
        return absolute;
    case OP_ElementWiseNeg:
        return negate;
    case OP_ElementWiseSquareRoot:
        return square_root;
    case OP_ElementWiseReciprocal:
        return reciprocal;
    case OP_ElementWiseRsqrt:
        return reciprocal_root;
    case OP_ElementWiseExp:
        return exponential;
    case OP_Sigmoid:
        return quick ? sigmoid_quickly : sigmoid;
    case OP_Tanh:
        return quick ? hyperbolic_tangent_quickly : hyperbolic_tangent;
    case OP_Elu:
        return elu;
    case OP_Gelu:
        return gelu; /* models divide it by its argument, for the error function */
    default:
        return clip;
    }
}

/* The largest float as a bound stands for none. */
static float bound(double value)
{
    return (float)(fabs(value) >= FLT_MAX ? copysign(INFINITY, value) : value);
}

static struct neuron neuron_of(const struct node *n)
{
    struct neuron p = {.alpha = node_float(n, PARAM_alpha, 1), .beta = node_float(n, PARAM_beta, 1)};
    switch (n->op->id) {
    case OP_Relu1:
        p.min = -1;
        p.max = 1;
        break;
    case OP_Relu6:
        p.max = 6;
        break;
    default:
        p.min = bound(node_float(n, PARAM_min_value, 0));
        p.max = bound(node_float(n, PARAM_max_value, INFINITY));
    }
    return p;
}

static odlc_status prepare_unary(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    struct neuron *p = arena_new(m->scope->arena, struct neuron);
    *p = neuron_of(n);
    return cpu_walk(m, unary_loop(n->op->id, cpu_gives_floats(m->scope->graph, n)), p);
}

static odlc_status prepare_table(struct cpu_making *m)
{
    const struct neuron p = neuron_of(making_node(m));
    return table_prepare(m, unary_loop(making_node(m)->op->id, false), &p);
}

const struct cpu_op cpu_unary = {
    .refuse = cpu_refuse_types, .prepare = prepare_unary, .is_fixed = table_is, .prepare_fixed = prepare_table};
