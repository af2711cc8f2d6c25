#include "backend/gpu/gpu_gemm.h"

#include <string.h>

#include "backend/gpu/gpu_context.h"
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
    gpu_chain_options(m, is_part ? &none : p->chain, true);
}

void gpu_gemm_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_gemm *p, bool is_part)
{
    int64_t steps[2][MAX_RANK];
    memcpy(steps, p->steps, sizeof(steps));
    const struct gpu_walk batches = gpu_walk_over(&p->batch, 2, steps);
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

static bool is_by_panels(const struct gpu_making *m)
{
    const enum gpu_products way = m->gpu->config->products;
    return way == GPU_PRODUCTS_BY_DEVICE ? !m->gpu->context->device.is_gpu : way == GPU_PRODUCTS_PANELS;
}

odlc_status gpu_gemm_right(struct gpu_making *m, uint32_t i, struct gpu_gemm *p)
{
    if (!is_by_panels(m) || !gpu_is_constant(m, 0, i))
        return gpu_input(m, 0, i, &p->y);
    p->y_constant = gpu_constant(m, 0, i).data;
    return ODLC_OK;
}

odlc_status gpu_gemm_add(struct gpu_making *m, const struct gpu_gemm *p)
{
    return is_by_panels(m) ? gpu_gemm_in_panels(m, p) : gpu_gemm_in_tiles(m, p);
}
