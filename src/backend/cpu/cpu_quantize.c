/* SPDX-License-Identifier: Apache-2.0 */
/* Quantize, Dequantize and Convert: from float32 to fixed point and back, and between encodings. */
#include "backend/cpu/cpu_step.h"
#include "backend/cpu/cpu_fixed.h"
#include "op/op.h"

static bool is_float(const struct tensor *t)
{
    return t && t->type->dtype == DT_FLOAT32;
}

static bool is_fixed(const struct tensor *t)
{
    return t && fixed_is_taken(t->type->dtype, t->quant);
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    if (!(is_float(x) && is_fixed(y)) && !(is_fixed(x) && is_float(y)) && !(is_fixed(x) && is_fixed(y)))
        return "it converts between float32 and fixed-point tensors of 8 or 16 bits with one encoding alone";
    return x->kind == TENSOR_STATIC ? "the operand is constant" : NULL;
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    (void)scope;
    if (in[0].dtype == DT_FLOAT32) {
        fixed_narrow(in[0].data, &out[0]);
        return ODLC_OK;
    }
    float *reals = out[0].dtype == DT_FLOAT32 ? out[0].data : cpu_sums(step);
    fixed_widen(&in[0], reals);
    if (out[0].dtype != DT_FLOAT32)
        fixed_narrow(reals, &out[0]);
    return ODLC_OK;
}

static bool is_always(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return true;
}

/* Between two fixed-point tensors reals are in the place of sums, which have their size. */
static odlc_status prepare(struct cpu_making *m)
{
    const struct tensor *x = node_input(m->scope->graph, making_node(m), 0);
    const struct tensor *y = node_output(m->scope->graph, making_node(m), 0);
    if (is_fixed(x) && is_fixed(y))
        making_need_sums(m, shape_count(&x->type->shape));
    m->step->loop = run;
    return ODLC_OK;
}

const struct cpu_op cpu_quantize = {.refuse = refuse, .is_fixed = is_always, .prepare_fixed = prepare};
