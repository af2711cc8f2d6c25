/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a product is computed. */
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_gemm.h"

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
