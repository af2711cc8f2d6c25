/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a product is computed. */
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_gemm.h"
#include "backend/gpu/gpu_tune.h"

/* Ways of the kind that devices of this kind go, and of the other one, that are tried. */
enum { LIKELY = 6, UNLIKELY = 2 };

struct ways {
    const struct gpu_gemm *product;
    struct gpu_gemm_way list[LIKELY + UNLIKELY];
};

static odlc_status make(struct gpu_making *m, const void *object, uint32_t i)
{
    const struct ways *w = object;
    const struct gpu_gemm_way *way = &w->list[i];
    return way->tile ? gpu_gemm_in_tiles(m, w->product, way) : gpu_gemm_in_panels(m, w->product, way);
}

static const char *name_of(struct arena *arena, const struct gpu_gemm_way *w)
{
    if (!w->tile)
        return arena_printf(arena, "panels of %dx%d", w->panel.rows, w->panel.columns);
    return arena_printf(arena, "tiles of %dx%dx%d by %dx%d and %d in %lld", w->tile->rows, w->tile->columns,
                        w->tile->depth, w->tile->r, w->tile->c, w->tile->slices, (long long)w->parts);
}

static bool is_by_panels(const struct gpu_making *m)
{
    const enum gpu_products way = m->gpu->config->products;
    return way == GPU_PRODUCTS_BY_DEVICE ? !m->gpu->context->device.is_gpu : way == GPU_PRODUCTS_PANELS;
}

/* Those of the usual kind, then, where nobody says which kind it is to be, some of the other one. */
static size_t list_ways(const struct gpu_making *m, const struct gpu_gemm *p, struct gpu_gemm_way *list)
{
    const bool by_panels = is_by_panels(m);
    size_t count = (by_panels ? gpu_gemm_panels : gpu_gemm_tiles)(m, p, list, LIKELY);
    if (count == 0 || (m->gpu->context->tuning && m->gpu->config->products == GPU_PRODUCTS_BY_DEVICE))
        count += (by_panels ? gpu_gemm_tiles : gpu_gemm_panels)(m, p, list + count, UNLIKELY);
    return count;
}

/* All that the time depends on. */
static const char *case_of(const struct gpu_making *m, const struct gpu_gemm *p)
{
    const struct gpu_gemm_shape *s = &p->shape;
    return arena_printf(m->scope->scratch,
                        "%dx%dx%d, %llu of them, steps %d %d %d %d %d, types %d %d %d, math %d, window %d of %d, "
                        "%s, %u behind",
                        s->rows, s->columns, s->depth, (unsigned long long)shape_count(&p->batch), s->x_row, s->x_step,
                        s->y_column, s->y_step, s->out_row, (int)p->x.dtype, (int)p->bias.dtype, (int)p->out.dtype,
                        (int)m->math, p->is_image ? s->depth / s->tap_depth : 0, p->is_image ? p->window.stride[2] : 0,
                        gpu_is_constant(m, 0, p->y_input) ? "constant" : "computed", p->chain->count);
}

odlc_status gpu_gemm_add(struct gpu_making *m, const struct gpu_gemm *p)
{
    struct ways ways = {.product = p};
    struct gpu_candidates c = {.kernel = "product", .first = m->step->calls.count, .make = make, .object = &ways};
    c.count = (uint32_t)list_ways(m, p, ways.list);
    if (c.count == 0)
        return diag_error(m->scope->diags, ODLC_ERR_UNSUPPORTED, AT(.node = gpu_node(m, 0)->name), "gpu-device",
                          "device %s has too small work-groups for products of matrices", m->gpu->context->device.name);
    for (uint32_t i = 0; i < c.count; i++)
        c.names[i] = name_of(m->scope->scratch, &ways.list[i]);
    c.where = case_of(m, p);
    return make(m, &ways, gpu_tune(m, &c));
}
