#include "backend/gpu/gpu_product.h"

#include <string.h>

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_walk.h"

struct gpu_window gpu_window_of(const struct window *w, int64_t channels, int64_t depth)
{
    struct gpu_window out = {.pixel = (cl_int)channels, .depth = (cl_int)depth, .image = (cl_int)channels};
    for (int i = 0; i < WINDOW_AXES; i++) {
        const struct window_axis *a = &w->axis[i];
        out.in[i] = (cl_int)a->in, out.out[i] = (cl_int)a->out;
        out.filter[i] = (cl_int)a->filter, out.stride[i] = (cl_int)a->stride;
        out.pad[i] = (cl_int)a->pad_before, out.dilation[i] = (cl_int)a->dilation;
        out.image *= (cl_int)a->in;
    }
    return out;
}

void gpu_product_options(struct gpu_making *m, const struct gpu_product *p, bool is_part)
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
    if (!is_part)
        gpu_chain_options(m, p->chain, true);
}

void gpu_product_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_product *p, bool is_part)
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
    if (!is_part)
        gpu_chain_args(m, call, p->chain);
}

static bool is_by_panels(const struct gpu_making *m)
{
    const enum gpu_products way = m->gpu->config->products;
    return way == GPU_PRODUCTS_BY_DEVICE ? !m->gpu->context->device.is_gpu : way == GPU_PRODUCTS_PANELS;
}

odlc_status gpu_product_right(struct gpu_making *m, uint32_t i, struct gpu_product *p)
{
    if (!is_by_panels(m) || !gpu_is_constant(m, 0, i))
        return gpu_input(m, 0, i, &p->y);
    p->y_constant = gpu_constant(m, 0, i).data;
    return ODLC_OK;
}

odlc_status gpu_product_add(struct gpu_making *m, const struct gpu_product *p)
{
    return is_by_panels(m) ? gpu_product_in_panels(m, p) : gpu_product_in_tiles(m, p);
}
