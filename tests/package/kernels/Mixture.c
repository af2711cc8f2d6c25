/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum Mode { MODE_SUM, MODE_PRODUCT, MODE_LARGEST };

/* What finalize reads of the params, so that each function of an op has something to do. */
struct mixing {
    double gain, shift, limit;
    const float *parts;
    enum Mode mode;
    bool absolute;
};

static double combine(enum Mode mode, double a, double b)
{
    return mode == MODE_SUM ? a + b : mode == MODE_PRODUCT ? a * b : fmax(a, b);
}

/* mix = gain * combine(parts[0] * a, parts[1] * b) + shift * bias, whose bias is one for each element of the last
 * dimension, or none; "absolute" takes its sign, a limit is its largest value. totals are the sums of its rows, where
 * somebody wants them. */
static Qnn_ErrorHandle_t mixture_execute(CustomOp *op)
{
    const struct mixing *m = op->data;
    const CustomOpTensor *x = customOpInput(op, 0);
    const float *a = x->data, *b = customOpInput(op, 1)->data, *bias = customOpInput(op, 2)->data;
    const uint32_t columns = x->currentDimensions[x->rank - 1];
    float *mix = customOpOutput(op, 0)->data, *totals = customOpOutput(op, 1)->data;
    for (uint64_t i = 0; i < customOpCount(x); i++) {
        const double value =
            m->gain * combine(m->mode, (double)m->parts[0] * (double)a[i], (double)m->parts[1] * (double)b[i]);
        const double sum = value + (bias ? m->shift * (double)bias[i % columns] : 0);
        mix[i] = (float)fmin(m->absolute ? fabs(sum) : sum, m->limit);
        if (totals)
            totals[i / columns] += mix[i];
    }
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t mixture_finalize(CustomOp *op)
{
    struct mixing *m = malloc(sizeof *m);
    CUSTOM_OP_ENSURE(m, QNN_COMMON_ERROR_MEM_ALLOC);
    m->gain = customOpScalar(op, "gain");
    m->shift = customOpScalar(op, "shift");
    m->limit = customOpParam(op, "limit") ? customOpScalar(op, "limit") : INFINITY;
    m->parts = customOpTensor(op, "parts")->data;
    m->mode = (enum Mode)customOpScalar(op, "mode");
    m->absolute = strcmp(customOpString(op, "sign"), "absolute") == 0;
    op->data = m;
    return QNN_SUCCESS;
}

static void mixture_free(CustomOp *op)
{
    free(op->data);
}
