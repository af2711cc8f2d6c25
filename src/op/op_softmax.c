/* Softmax and LogSoftmax along one axis, in the shifted form that cannot overflow. */
#include <math.h>

#include "op/families.h"
#include "kernel/move.h"
#include "op/rules.h"

struct softmax {
    double beta;
    bool log;
    double *max, *sum; /* scratch, one per inner index */
};

/* One outer index: `along` rows of `inner` elements, normalised down the columns. */
static void normalize(const struct softmax *p, int64_t along, int64_t inner, const float *in, float *out)
{
    for (int64_t i = 0; i < inner; i++) {
        p->max[i] = -INFINITY;
        p->sum[i] = 0;
    }
    for (int64_t j = 0; j < along; j++)
        for (int64_t i = 0; i < inner; i++) {
            double x = p->beta * (double)in[j * inner + i];
            p->max[i] = x > p->max[i] || x != x ? x : p->max[i];
        }
    for (int64_t j = 0; j < along; j++)
        for (int64_t i = 0; i < inner; i++) {
            double shifted = p->beta * (double)in[j * inner + i] - p->max[i], e = exp(shifted);
            out[j * inner + i] = (float)(p->log ? shifted : e);
            p->sum[i] += e;
        }
    for (int64_t i = 0; i < inner; i++)
        p->sum[i] = p->log ? log(p->sum[i]) : 1 / p->sum[i];
    for (int64_t j = 0; j < along; j++)
        for (int64_t i = 0; i < inner; i++) {
            double o = (double)out[j * inner + i];
            out[j * inner + i] = (float)(p->log ? o - p->sum[i] : o * p->sum[i]);
        }
}

static odlc_status run(const struct kernel *k, bool is_log)
{
    const struct shape *shape = &k->in[0].shape;
    uint32_t axis;
    if (k->in[0].dtype != DT_FLOAT32 || !node_axis(k->node, (int64_t)shape->rank - 1, shape->rank, &axis))
        return ODLC_ERR_UNSUPPORTED;
    int64_t outer = (int64_t)shape_count_range(shape, 0, axis), along = shape->dims[axis];
    int64_t inner = (int64_t)shape_count_range(shape, axis + 1, shape->rank);
    struct softmax p = {.beta = node_float(k->node, PARAM_beta, 1), .log = is_log};
    p.max = arena_array(k->scratch, double, (size_t)inner);
    p.sum = arena_array(k->scratch, double, (size_t)inner);
    const float *in = k->in[0].data;
    float *out = k->out[0].data;
    for (int64_t o = 0; o < outer; o++)
        normalize(&p, along, inner, in + o * along * inner, out + o * along * inner);
    return ODLC_OK;
}

static odlc_status run_softmax(const struct kernel *k)
{
    return run(k, false);
}

static odlc_status run_log_softmax(const struct kernel *k)
{
    return run(k, true);
}

static odlc_status infer_softmax(const struct infer *c)
{
    const struct shape *shape = &infer_in(c, 0)->shape;
    uint32_t axis;
    if (!node_axis(c->node, (int64_t)shape->rank - 1, shape->rank, &axis))
        return infer_error(c, "axis is not one of %s", shape_text(c->diags->arena, shape));
    return infer_real(c);
}

/* The absent axis is the last one of the node, wherever that is stored. */
static bool permute_softmax(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    if (!node_param(n, PARAM_axis))
        node_set_int(n, PARAM_axis, (int64_t)perm->rank - 1);
    return permute_axis(g, n, perm, out);
}

#define BETA                                                                          \
    {                                                                                 \
        PARAM_NAMED(beta), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = 1.0 \
    }
static const struct param_def softmax_params[] = {{PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_OPTIONAL},
                                                  BETA};
static const struct param_def log_softmax_params[] = {
    {PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_REQUIRED}, BETA};

#define ROW(op_name, param_list, kernel_function)                                                               \
    {                                                                                                           \
        .id = OP_##op_name, .name = #op_name, .dlc_type = #op_name, .min_inputs = 1, .max_inputs = 1,           \
        .min_outputs = 1, .max_outputs = 1, .params = param_list, .n_params = COUNT_OF(param_list),             \
        .infer = infer_softmax, .permute = permute_softmax, .compute = COMPUTE_FLOAT, .kernel = kernel_function \
    }

const struct op op_rows_softmax[] = {
    ROW(LogSoftmax, log_softmax_params, run_log_softmax),
    ROW(Softmax, softmax_params, run_softmax),
};
const size_t op_rows_softmax_count = COUNT_OF(op_rows_softmax);
