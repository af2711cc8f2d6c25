/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, whose images stay channels-last; weights are packed as the library likes them. */
#include "backend/cpu/cpu_conv_fixed.h"
#include "backend/cpu/cpu_conv_sides.h"
#include "backend/cpu/cpu_depthwise_fixed.h"
#include "backend/cpu/cpu_fixed_product.h"
#include "backend/cpu/cpu_follow.h"
#include "backend/cpu/cpu_ints.h"
#include "op/op.h"

/* Positions of the result that no tap reaches are computed wrongly by oneDNN 2.6. */
static bool has_gaps(const struct conv *c)
{
    for (int i = 0; i < WINDOW_AXES; i++) {
        const struct window_axis *a = &c->window.axis[i];
        if (a->stride > 1 && (a->filter < a->stride || a->dilation > 1))
            return true;
    }
    return false;
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    struct conv conv;
    const struct tensor *bias = node_input(g, n, 2), *x = node_input(g, n, 0), *w = node_input(g, n, 1);
    const bool ints = n->op->id == OP_Conv2d && ints_is(g, n);
    if (ints && !conv_reader(n)(&conv, n, &x->type->shape, &w->type->shape, bias ? &bias->type->shape : NULL))
        return ints_refuse(g, n, conv.in_depth * window_taps(&conv.window));
    if (!cpu_is_real(x) || !cpu_is_real(node_output(g, n, 0)))
        return "it takes and gives float32, float16, and 8- and 16-bit fixed-point tensors alone";
    if (!cpu_is_constant(g, n, 1) || (bias && !cpu_is_constant(g, n, 2)))
        return "weights and bias are no constants";
    if (conv_reader(n)(&conv, n, &x->type->shape, &w->type->shape, bias ? &bias->type->shape : NULL))
        return "its window does not fit the input";
    if (shape_count(&x->type->shape) == 0 || shape_count(&node_output(g, n, 0)->type->shape) == 0)
        return "a tensor has no elements";
    if (n->op->layer == LAYER_TRANSPOSED && cpu_is_fixed_product(g, n) && has_gaps(&conv))
        return "transposed convolutions of fixed-point operands whose filters leave gaps are the reference's";
    return cpu_refuse_fixed_product(g, n, conv.in_depth * window_taps(&conv.window));
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct buffer weights = making_constant(m, 1), bias = making_constant(m, 2);
    struct conv c;
    struct sides axes;
    union operation operation;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    TRY(conv_sides(m, 0, &c, &axes));
    const struct dnnl_axes b_axes = {.rank = 1, .dims = {c.group * c.out_depth}, .strides = {1}};
    const dnnl_memory_desc_t x = desc_of(&axes.x), y = desc_of(&axes.y), b = desc_of(&b_axes);
    const dnnl_memory_desc_t plain = desc_of(&axes.w), any = desc_any(&axes.w, dnnl_f32);
    TRY(conv_describe(m, &c, &x, &any, bias.data ? &b : NULL, &y, &operation));
    const bool alone = making_node(m)->op->layer == LAYER_TRANSPOSED;
    TRY(make_main_call(m, &(struct main_call){&operation, axes.y, .image = true, .alone = alone}, &description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, making_input(m, 0, 0)));
    if (bias.data)
        TRY(call_fixed(m, call, DNNL_ARG_BIAS, &b,
                       arena_memdup(m->scope->arena, bias.data, (size_t)b_axes.dims[0] * sizeof(float))));
    return call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, weights.data);
}

/* ---- fixed point ---- */

static bool is_depthwise(const struct conv *c)
{
    return c->group > 1 && c->in_depth == 1 && c->out_depth == 1;
}

static bool is_integer(const struct graph *g, const struct node *n)
{
    return ints_is(g, n) || cpu_is_fixed_product(g, n);
}

static odlc_status prepare_fixed(struct cpu_making *m)
{
    struct conv c;
    struct sides sides;
    if (ints_is(m->scope->graph, making_node(m)))
        return conv_prepare_ints(m);
    TRY(conv_sides(m, 0, &c, &sides));
    const bool slides = making_node(m)->op->layer != LAYER_TRANSPOSED;
    /* The library's fast code for these has no zero points. */
    const bool by_loop = slides && is_depthwise(&c) && cpu_has_zero_points(m->scope->graph, making_node(m));
    return by_loop ? depthwise_prepare_fixed(m) : conv_prepare_fixed(m);
}

const struct cpu_op cpu_convolution = {
    .refuse = refuse, .prepare = prepare, .fuses = true, .is_fixed = is_integer, .prepare_fixed = prepare_fixed};
