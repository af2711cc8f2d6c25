/* SPDX-License-Identifier: Apache-2.0 */
/* Quantize, Dequantize and Convert. */
#include "backend/gpu/gpu_fixed.h"
#include "op/op.h"

static bool always(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return true;
}

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    const bool takes_fixed = gpu_is_fixed(gpu, x), gives_fixed = gpu_is_fixed(gpu, y);
    if (!(takes_fixed || gpu_is_real(x)) || !(gives_fixed || gpu_is_real(y)) || !(takes_fixed || gives_fixed) ||
        x->kind == TENSOR_STATIC)
        return "it converts between float32 or float16 and fixed point of 8 or 16 bits with one encoding alone, on "
               "devices with doubles";
    return gpu_refuse_sizes(g, n);
}

/* The operator is known by its operands: each of the three may have such of the others. */
static odlc_status prepare(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    struct gpu_operand x;
    TRY(gpu_input(m, 0, 0, &x));
    if (!dtype_is_fixed(x.dtype))
        return gpu_from_reals(m, &x, &y);
    if (!dtype_is_fixed(y.dtype))
        return gpu_to_reals(m, &x, &y);
    const struct gpu_operand reals = gpu_room(m, DT_FLOAT32, &x.shape);
    TRY(gpu_to_reals(m, &x, &reals));
    return gpu_from_reals(m, &reals, &y);
}

const struct gpu_op gpu_quantize = {.refuse = refuse, .prepare = prepare, .is_raw = always};
