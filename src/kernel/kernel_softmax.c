/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and LogSoftmax along one axis, in the shifted form that cannot overflow. */
#include <math.h>

#include "kernel/kernels.h"
#include "op/axes.h"

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

odlc_status kernel_softmax(const struct kernel *k)
{
    return run(k, false);
}

odlc_status kernel_log_softmax(const struct kernel *k)
{
    return run(k, true);
}
