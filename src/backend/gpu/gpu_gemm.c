/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_gemm.h"

#include <string.h>

#include "backend/gpu/gpu_walk.h"

/* What follows parts of sums. */
static const struct gpu_chain none = {.count = 0};

void gpu_gemm_options(struct gpu_making *m, const struct gpu_gemm *p, bool is_part)
{
    gpu_option_type(m, "X", &p->x);
    gpu_option_type(m, "Y", &p->y);
    gpu_option_type(m, "B", &p->bias);
    gpu_option_type(m, "O", &p->out);
    if (p->is_image)
        gpu_option(m, "-DGATHER");
    if (is_part)
        gpu_option(m, "-DPARTS");
    else if (p->bias.dtype != DT_NONE)
        gpu_option(m, "-DBIAS");
    gpu_chain_options(m, is_part ? &none : p->chain);
}

void gpu_gemm_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_gemm *p, bool is_part)
{
    int64_t steps[3][MAX_RANK];
    memcpy(steps, p->steps, sizeof(steps));
    const struct gpu_walk batches = gpu_walk_over(&p->batch, 3, steps);
    gpu_arg(m, call, &p->x);
    gpu_arg(m, call, &p->y);
    gpu_arg(m, call, &p->bias);
    gpu_arg(m, call, &p->out);
    gpu_arg_bytes(call, &p->shape, sizeof(p->shape));
    gpu_arg_bytes(call, &batches, sizeof(batches));
    if (p->is_image)
        gpu_arg_bytes(call, &p->window, sizeof(p->window));
    gpu_chain_args(m, call, is_part ? &none : p->chain);
}
