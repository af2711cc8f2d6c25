/* SPDX-License-Identifier: Apache-2.0 */
/* Lrn. */
#include "backend/gpu/gpu_step.h"
#include "op/op.h"
#include "op/params.h"

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    if (node_int(n, PARAM_region, 0) != 0 || node_int(n, PARAM_radius, 0) < 0)
        return "it normalizes across channels alone";
    return gpu_refuse_types(gpu, g, n);
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_operand x;
    struct gpu_call *call;
    if (m->math == GPU_MATH_REAL)
        m->math = GPU_MATH_FLOAT;
    TRY(gpu_input(m, 0, 0, &x));
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    const int64_t channels = x.shape.dims[x.shape.rank - 1];
    TRY(gpu_call_begin(m, "lrn", "lrn", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, channels);
    gpu_arg_int(call, min_i64(node_int(n, PARAM_radius, 0), channels));
    gpu_arg_number(m, call, node_float(n, PARAM_alpha, 1));
    gpu_arg_number(m, call, node_float(n, PARAM_beta, 0.5));
    gpu_arg_number(m, call, node_float(n, PARAM_bias, 1));
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_lrn = {.refuse = refuse, .prepare = prepare};
