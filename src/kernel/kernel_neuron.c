/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions. */
#include <float.h>
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/params.h"

struct neuron {
    double alpha, beta, threshold, min, max;
};

static double softplus(double x, const struct neuron *p)
{
    double scaled = p->beta * x;
    if (p->threshold > 0 && scaled > p->threshold)
        return x;
    return (fmax(scaled, 0) + log1p(exp(-fabs(scaled)))) / p->beta;
}

static double clamp(double x, double min, double max)
{
    double at_least = x < min ? min : x; /* a NaN stays one */
    return at_least > max ? max : at_least;
}

/* x·Φ(x); erfc keeps the precision of the negative tail, and the limit there is 0. */
static double gelu(double x)
{
    return x < -40 ? 0 : 0.5 * x * erfc(-x * M_SQRT1_2);
}

#define SPAN_NEURON(name, type, expr)                        \
    static void name(const struct span *s, const void *user) \
    {                                                        \
        const struct neuron *p = user;                       \
        (void)p;                                             \
        type *out = s->data[0];                              \
        const type *in = s->data[1];                         \
        for (int64_t i = 0; i < s->count; i++) {             \
            const double a = in[i];                          \
            out[i] = (type)(expr);                           \
        }                                                    \
    }

/* The largest float as a bound stands for none: it must not turn an infinity into a number. */
static double open_bound(double bound)
{
    return fabs(bound) >= FLT_MAX ? copysign(INFINITY, bound) : bound;
}

static odlc_status run_neuron(const struct kernel *k, const struct span_set *set)
{
    span_fn *fn = span_for(set, k->in[0].dtype);
    if (!fn)
        return ODLC_ERR_UNSUPPORTED;
    const struct neuron p = {.alpha = node_float(k->node, PARAM_alpha, 1),
                             .beta = node_float(k->node, PARAM_beta, 1),
                             .threshold = node_float(k->node, PARAM_threshold, -1),
                             .min = open_bound(node_float(k->node, PARAM_min_value, 0)),
                             .max = open_bound(node_float(k->node, PARAM_max_value, INFINITY))};
    struct nd_loop w;
    nd_init(&w, &k->out[0].shape);
    nd_broadcast(&w, &k->out[0]);
    nd_broadcast(&w, &k->in[0]);
    nd_run(&w, fn, &p);
    return ODLC_OK;
}

/* The value at a with params p. */
#define NEURON(name, expr)                                                             \
    SPAN_NEURON(name##_floats, float, expr)                                            \
    SPAN_NEURON(name##_doubles, double, expr)                                          \
    odlc_status kernel_##name(const struct kernel *k)                                  \
    {                                                                                  \
        return run_neuron(k, &(struct span_set){name##_floats, name##_doubles, NULL}); \
    }

NEURON(elu, a > 0 ? a : p->alpha * expm1(a))
NEURON(gelu, gelu(a))
NEURON(hard_sigmoid, clamp(p->alpha *a + p->beta, 0, 1))
NEURON(hard_swish, a *clamp(a + 3, 0, 6) / 6)
NEURON(sigmoid, 1 / (1 + exp(-a)))
NEURON(softplus, softplus(a, p))
NEURON(tanh, tanh(a))
NEURON(relu1, clamp(a, -1, 1))
NEURON(relu6, clamp(a, 0, 6))

SPAN_NEURON(relu_floats, float, clamp(a, p->min, p->max))
SPAN_NEURON(relu_doubles, double, clamp(a, p->min, p->max))

/* The nearest integer inside the bound; one that no int64 reaches stands for none. */
static int64_t int_bound(double bound)
{
    if (bound >= 0x1p63)
        return INT64_MAX;
    return bound > -0x1p63 ? (int64_t)bound : INT64_MIN;
}

static void relu_ints(const struct span *s, const void *user)
{
    const struct neuron *p = user;
    int64_t least = int_bound(ceil(p->min)), most = int_bound(floor(p->max));
    int64_t *out = s->data[0];
    const int64_t *in = s->data[1];
    for (int64_t i = 0; i < s->count; i++)
        out[i] = min_i64(max_i64(in[i], least), most);
}

odlc_status kernel_relu(const struct kernel *k)
{
    return run_neuron(k, &(struct span_set){relu_floats, relu_doubles, relu_ints});
}
