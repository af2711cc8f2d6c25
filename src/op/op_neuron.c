/* Activation functions: ops of one operand that the container calls Neuron. */
#include <float.h>
#include <math.h>

#include "op/families.h"
#include "op/rules.h"
#include "kernel/nd_iterate.h"

/* ---- functions ---- */

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

/* X(name, operation or -1, params, value at a with params p). */
#define NEURONS(X)                                                             \
    X(Elu, 0, alpha_params, a > 0 ? a : p->alpha * expm1(a))                   \
    X(Gelu, 1, bound_params, gelu(a))                                          \
    X(HardSigmoid, 2, hard_sigmoid_params, clamp(p->alpha *a + p->beta, 0, 1)) \
    X(HardSwish, 3, bound_params, a *clamp(a + 3, 0, 6) / 6)                   \
    X(Sigmoid, 6, bound_params, 1 / (1 + exp(-a)))                             \
    X(ElementWiseSoftplus, 7, softplus_params, softplus(a, p))                 \
    X(Tanh, 8, bound_params, tanh(a))                                          \
    X(Relu1, -1, bound_params, clamp(a, -1, 1))                                \
    X(Relu6, -1, bound_params, clamp(a, 0, 6))

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

#define DEFINE_NEURON(name, code, params, expr)                                        \
    SPAN_NEURON(name##_floats, float, expr)                                            \
    SPAN_NEURON(name##_doubles, double, expr)                                          \
    static odlc_status run_##name(const struct kernel *k)                              \
    {                                                                                  \
        return run_neuron(k, &(struct span_set){name##_floats, name##_doubles, NULL}); \
    }

NEURONS(DEFINE_NEURON)

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

static odlc_status run_relu(const struct kernel *k)
{
    return run_neuron(k, &(struct span_set){relu_floats, relu_doubles, relu_ints});
}

/* ---- rows ---- */

#define BOUNDS(bound_presence)                                                  \
    {PARAM_NAMED(min_value), .dtype = DT_FLOAT32, .presence = bound_presence},  \
    {                                                                           \
        PARAM_NAMED(max_value), .dtype = DT_FLOAT32, .presence = bound_presence \
    }
#define FLOAT_DEFAULT(param, value)                                                      \
    {                                                                                    \
        PARAM_NAMED(param), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = value \
    }

/* Files carry min_value and max_value also where they say nothing new (Relu in files of 2.20). */
static const struct param_def bound_params[] = {BOUNDS(PARAM_OPTIONAL)};
static const struct param_def min_max_params[] = {BOUNDS(PARAM_REQUIRED)};
static const struct param_def alpha_params[] = {FLOAT_DEFAULT(alpha, 1.0), BOUNDS(PARAM_OPTIONAL)};
static const struct param_def hard_sigmoid_params[] = {FLOAT_DEFAULT(alpha, 0.2), FLOAT_DEFAULT(beta, 0.5),
                                                       BOUNDS(PARAM_OPTIONAL)};
static const struct param_def softplus_params[] = {FLOAT_DEFAULT(beta, 1.0), FLOAT_DEFAULT(threshold, -1.0),
                                                   BOUNDS(PARAM_OPTIONAL)};

#define NEURON_ROW_OF(op_name, code, param_list, types, run)                                                      \
    {                                                                                                             \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Neuron", .selector = "neuron_type", .operation = code, \
        .has_operation = (code) >= 0, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
        .params = param_list, .n_params = COUNT_OF(param_list), .infer = types, .permute = permute_any,           \
        .compute = COMPUTE_EITHER, .kernel = run                                                                  \
    }
#define NEURON_ROW(name, code, params, expr) NEURON_ROW_OF(name, code, params, infer_real, run_##name),

const struct op op_rows_neuron[] = {
    NEURONS(NEURON_ROW) NEURON_ROW_OF(Relu, 4, bound_params, infer_numeric, run_relu),
    NEURON_ROW_OF(ReluMinMax, 5, min_max_params, infer_numeric, run_relu),
};
const size_t op_rows_neuron_count = COUNT_OF(op_rows_neuron);
