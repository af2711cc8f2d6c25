/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_fixed.h"

void gpu_arg_fixed_type(struct gpu_call *call, const struct gpu_operand *fixed)
{
    const bool is_signed = dtype_info(fixed->dtype)->cls == CLASS_SFXP;
    gpu_arg_int(call, (dtype_size(fixed->dtype) > 1 ? 2 : 0) + (is_signed ? 0 : 1));
}

/* Kernels of kernels/fixed.cl convert between x and y, one of which is `fixed`. */
static odlc_status convert(struct gpu_making *m, const char *function, const struct gpu_operand *x,
                           const struct gpu_operand *y, const struct gpu_operand *fixed)
{
    const struct encoding *e = &fixed->quant->encodings[0];
    const enum gpu_math math = m->math;
    const text options = m->options;
    const size_t count = shape_count(&x->shape);
    struct gpu_call *call;
    m->options = (text){0};
    m->math = GPU_MATH_DOUBLE;
    gpu_option_type(m, fixed == x ? "O" : "X", fixed == x ? y : x);
    TRY(gpu_call_begin(m, "fixed", function, &call));
    gpu_arg(m, call, x);
    if (fixed == x)
        gpu_arg_fixed_type(call, fixed);
    gpu_arg(m, call, y);
    if (fixed == y)
        gpu_arg_fixed_type(call, fixed);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_number(m, call, e->scale);
    gpu_arg_int(call, e->offset);
    m->options = options;
    m->math = math;
    return gpu_call_end(m, call, 1, &count);
}

odlc_status gpu_to_reals(struct gpu_making *m, const struct gpu_operand *fixed, const struct gpu_operand *reals)
{
    return convert(m, "dequantize", fixed, reals, fixed);
}

odlc_status gpu_from_reals(struct gpu_making *m, const struct gpu_operand *reals, const struct gpu_operand *fixed)
{
    return convert(m, "quantize", reals, fixed, fixed);
}
