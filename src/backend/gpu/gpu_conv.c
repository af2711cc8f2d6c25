/* Convolutions. */
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_window.h"
#include "op/conv_geometry.h"
#include "op/op.h"

static const char *read_conv(struct conv *c, const struct node *n, const struct gpu_operand *x,
                             const struct gpu_operand *w, const struct gpu_operand *bias, const struct shape *out)
{
    conv_read_fn *const read = n->op->id == OP_DepthWiseConv2d    ? conv_read_depthwise
                               : n->op->layer == LAYER_TRANSPOSED ? conv_read_transpose
                                                                  : conv_read;
    const char *wrong = read(c, n, &x->shape, &w->shape, bias->dtype ? &bias->shape : NULL);
    return wrong ? wrong : window_take(&c->window, out);
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_operand x, weights, bias;
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    struct conv c;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_input(m, 0, 1, &weights));
    TRY(gpu_input(m, 0, 2, &bias));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    const char *wrong = read_conv(&c, n, &x, &weights, &bias, &out.shape);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    const struct gpu_window window = gpu_window_of(&c.window);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "Y", &weights);
    gpu_option_type(m, "B", &bias);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain, true);
    TRY(gpu_call_begin(m, "conv", n->op->layer == LAYER_TRANSPOSED ? "convolve_back" : "convolve", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &weights);
    gpu_arg(m, call, &bias);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, c.in_depth);
    gpu_arg_int(call, c.out_depth);
    gpu_arg_int(call, c.group * c.out_depth);
    gpu_arg_int(call, bias.dtype != DT_NONE);
    gpu_arg_bytes(call, &window, sizeof(window));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_convolution = {
    .refuse = gpu_refuse_types, .prepare = prepare, .fuses = true, .is_product = true};
