/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: of each channel by itself, or as products of matrices. */
#include "backend/gpu/gpu_gemm.h"
#include "backend/gpu/gpu_product.h"
#include "op/conv_geometry.h"
#include "op/op.h"

static const char *read_node(const struct graph *g, const struct node *n, struct conv *out)
{
    conv_read_fn *const read = n->op->id == OP_DepthWiseConv2d    ? conv_read_depthwise
                               : n->op->layer == LAYER_TRANSPOSED ? conv_read_transpose
                                                                  : conv_read;
    const struct tensor *bias = node_input(g, n, 2);
    const char *wrong = read(out, n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape,
                             bias ? &bias->type->shape : NULL);
    return wrong ? wrong : window_take(&out->window, &node_output(g, n, 0)->type->shape);
}

/* ---- each channel by itself ---- */

enum { STRIP = 2 /* results that share weights */, MAX_TAPS = 49 /* in a kernel without loops over them */ };

static bool is_depthwise(const struct conv *c)
{
    const struct window_axis *a = c->window.axis;
    return c->group > 1 && c->in_depth == 1 && a[1].filter * a[2].filter <= MAX_TAPS;
}

static odlc_status prepare_depthwise(struct gpu_making *m, const struct conv *c, const struct gpu_gemm *p)
{
    const struct gpu_window *w = &p->window;
    const int64_t all = c->group * c->out_depth;
    const int run = c->out_depth == 1 && all % 4 == 0 ? 4 : 1;
    struct gpu_call *call;
    gpu_option_type(m, "X", &p->x);
    gpu_option_type(m, "Y", &p->y);
    gpu_option_type(m, "B", &p->bias);
    gpu_option_type(m, "O", &p->out);
    gpu_option(m, "-DRUN=%d -DPIXELS=%d -DFILTER_Y=%d -DFILTER_X=%d%s", run, STRIP, w->filter[1], w->filter[2],
               p->bias.dtype == DT_NONE ? "" : " -DBIAS");
    gpu_chain_options(m, p->chain);
    TRY(gpu_call_begin(m, "depthwise", "depthwise", &call));
    gpu_arg(m, call, &p->x);
    gpu_arg(m, call, &p->y);
    gpu_arg(m, call, &p->bias);
    gpu_arg(m, call, &p->out);
    gpu_arg_bytes(call, w, sizeof(*w));
    gpu_arg_int(call, c->window.batch);
    gpu_arg_int(call, all);
    gpu_arg_int(call, c->out_depth);
    gpu_chain_args(m, call, p->chain);
    const int64_t strips = ceil_div(w->out[2], STRIP);
    return gpu_call_end(
        m, call, 2, (const size_t[]){(size_t)(all / run), (size_t)(strips * c->window.batch * w->out[0] * w->out[1])});
}

/* ---- transposed ---- */

static odlc_status prepare_transposed(struct gpu_making *m, const struct conv *c, const struct gpu_gemm *p)
{
    const size_t count = shape_count(&p->out.shape);
    struct gpu_call *call;
    gpu_option_type(m, "X", &p->x);
    gpu_option_type(m, "Y", &p->y);
    gpu_option_type(m, "B", &p->bias);
    gpu_option_type(m, "O", &p->out);
    gpu_chain_options(m, p->chain);
    TRY(gpu_call_begin(m, "conv", "convolve_back", &call));
    gpu_arg(m, call, &p->x);
    gpu_arg(m, call, &p->y);
    gpu_arg(m, call, &p->bias);
    gpu_arg(m, call, &p->out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, c->in_depth);
    gpu_arg_int(call, c->out_depth);
    gpu_arg_int(call, c->group * c->out_depth);
    gpu_arg_int(call, p->bias.dtype != DT_NONE);
    gpu_arg_bytes(call, &p->window, sizeof(p->window));
    gpu_chain_args(m, call, p->chain);
    return gpu_call_end(m, call, 1, &count);
}

/* ---- products ---- */

/* Whether the window is one pixel that goes from each pixel to the next. */
static bool is_pointwise(const struct conv *c)
{
    for (int i = 0; i < WINDOW_AXES; i++) {
        const struct window_axis *a = &c->window.axis[i];
        if (a->filter != 1 || a->stride != 1 || a->pad_before != 0 || a->out != a->in)
            return false;
    }
    return true;
}

static struct gpu_gemm_shape shape_of(const struct conv *c)
{
    const struct window_axis *a = c->window.axis;
    const int64_t rows = c->window.batch * a[0].out * a[1].out * a[2].out, columns = c->group * c->out_depth;
    return (struct gpu_gemm_shape){
        .rows = (cl_int)rows,
        .columns = (cl_int)c->out_depth,
        .depth = (cl_int)(window_taps(&c->window) * c->in_depth),
        .x_row = (cl_int)(c->group * c->in_depth),
        .x_step = 1,
        .y_column = 1,
        .y_step = (cl_int)columns,
        .out_row = (cl_int)columns,
        .out_size = (cl_int)(rows * columns),
        .bias_batch = (cl_int)c->out_depth,
        .bias_period = (cl_int)columns,
        .parts = 1,
        .part_depth = (cl_int)(window_taps(&c->window) * c->in_depth),
        .images = (cl_int)c->window.batch,
        .tap_depth = (cl_int)c->in_depth,
    };
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    struct gpu_chain chain = {.count = 0};
    struct conv c;
    const char *wrong = read_node(m->scope->graph, n, &c);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    struct gpu_gemm p = {.chain = &chain, .out = gpu_output(m, 0)};
    TRY(gpu_input(m, 0, 0, &p.x));
    TRY(gpu_input(m, 0, 2, &p.bias));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    p.window = gpu_window_of(&c.window);
    const bool is_transposed = n->op->layer == LAYER_TRANSPOSED;
    if (is_transposed || is_depthwise(&c)) {
        TRY(gpu_input(m, 0, 1, &p.y));
        return is_transposed ? prepare_transposed(m, &c, &p) : prepare_depthwise(m, &c, &p);
    }
    p.y_input = 1;
    p.shape = shape_of(&c);
    p.batch = (struct shape){.rank = 1, .dims = {c.group}};
    p.steps[0][0] = c.in_depth;
    p.steps[1][0] = p.steps[2][0] = c.out_depth;
    p.is_image = !is_pointwise(&c);
    return gpu_gemm_add(m, &p);
}

const struct gpu_op gpu_convolution = {
    .refuse = gpu_refuse_product, .prepare = prepare, .fuses = true, .is_product = true};
