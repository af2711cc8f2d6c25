/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_conv_sides.h"

#include "op/op.h"

conv_read_fn *conv_reader(const struct node *n)
{
    if (n->op->layer == LAYER_TRANSPOSED)
        return conv_read_transpose;
    return n->op->id == OP_DepthWiseConv2d ? conv_read_depthwise : conv_read;
}

/* The weights' axes in the library's order (groups, channels out, channels in, filter…), where they lie. */
static struct dnnl_axes weight_axes(const struct conv *c, bool transposed)
{
    const uint32_t first = WINDOW_AXES - c->window.rank;
    struct dnnl_axes axes = {.rank = 0};
    const int64_t row = transposed ? c->out_depth : c->group * c->out_depth; /* between channels in */
    const int64_t group = transposed ? c->in_depth * c->out_depth : c->out_depth;
    int64_t tap = transposed ? c->group * c->in_depth * row : c->in_depth * row;
    if (c->group > 1) {
        axes.dims[axes.rank] = c->group;
        axes.strides[axes.rank++] = group;
    }
    axes.dims[axes.rank] = c->out_depth;
    axes.strides[axes.rank++] = 1;
    axes.dims[axes.rank] = c->in_depth;
    axes.strides[axes.rank++] = row;
    for (uint32_t i = WINDOW_AXES; i-- > first; tap *= c->window.axis[i].filter) {
        axes.dims[axes.rank + (int)(i - first)] = c->window.axis[i].filter;
        axes.strides[axes.rank + (int)(i - first)] = tap;
    }
    axes.rank += (int)c->window.rank;
    return axes;
}

/* Strides, dilations and padding of the spatial axes; what the padding after does not tell follows from the output. */
struct slide {
    dnnl_dims_t strides, dilates, before, after;
};

static struct slide slide_of(const struct conv *c, bool transposed)
{
    struct slide s = {.strides = {0}};
    for (uint32_t i = 0, first = WINDOW_AXES - c->window.rank; i < c->window.rank; i++) {
        const struct window_axis *a = &c->window.axis[first + i];
        const int64_t reach = (a->filter - 1) * a->dilation + 1;
        s.strides[i] = a->stride;
        s.dilates[i] = a->dilation - 1;
        s.before[i] = a->pad_before;
        s.after[i] = transposed ? (a->in - 1) * a->stride + reach - a->out - a->pad_before
                                : (a->out - 1) * a->stride + reach - a->in - a->pad_before;
    }
    return s;
}

odlc_status conv_describe(const struct cpu_making *m, const struct conv *c, const dnnl_memory_desc_t *x,
                          const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *bias, const dnnl_memory_desc_t *y,
                          union operation *out)
{
    const bool transposed = making_node(m)->op->layer == LAYER_TRANSPOSED;
    const struct slide s = slide_of(c, transposed);
    if (transposed)
        TRY_DNNL(m, dnnl_dilated_deconvolution_forward_desc_init(&out->transposed, dnnl_forward_inference,
                                                                 dnnl_deconvolution_direct, x, w, bias, y, s.strides,
                                                                 s.dilates, s.before, s.after));
    else
        TRY_DNNL(m,
                 dnnl_dilated_convolution_forward_desc_init(&out->conv, dnnl_forward_inference, dnnl_convolution_direct,
                                                            x, w, bias, y, s.strides, s.dilates, s.before, s.after));
    return ODLC_OK;
}

static void drop_axis(struct dnnl_axes *axes, int index)
{
    for (int i = index; i + 1 < axes->rank; i++) {
        axes->dims[i] = axes->dims[i + 1];
        axes->strides[i] = axes->strides[i + 1];
    }
    axes->rank--;
}

static void drop_still_axes(struct conv *c, struct sides *s)
{
    for (uint32_t i = WINDOW_AXES; i-- > WINDOW_AXES - c->window.rank && c->window.rank > 1;) {
        const struct window_axis *a = &c->window.axis[i];
        if (a->in != 1 || a->out != 1 || a->filter != 1 || a->pad_before != 0)
            continue;
        const int behind = (int)(WINDOW_AXES - i);
        drop_axis(&s->x, s->x.rank - behind);
        drop_axis(&s->w, s->w.rank - behind);
        drop_axis(&s->y, s->y.rank - behind);
        const struct window_axis still = *a;
        for (uint32_t k = i; k > 0; k--)
            c->window.axis[k] = c->window.axis[k - 1];
        c->window.axis[0] = still;
        c->window.rank--;
        i++;
    }
}

static void add_channels(struct dnnl_axes *image, int64_t channels)
{
    struct shape last = {.rank = (uint32_t)image->rank};
    for (int i = 0; i < image->rank; i++)
        last.dims[i == 0 ? 0 : i == 1 ? image->rank - 1 : i - 1] = image->dims[i];
    last.dims[last.rank - 1] += channels;
    *image = axes_of_image(&last);
}

odlc_status conv_sides(const struct cpu_making *m, int64_t more, struct conv *c, struct sides *sides)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct tensor *bias = node_input(g, n, 2);
    const struct shape *x = &node_input(g, n, 0)->type->shape, *y = &node_output(g, n, 0)->type->shape;
    if (conv_reader(n)(c, n, x, &node_input(g, n, 1)->type->shape, bias ? &bias->type->shape : NULL) ||
        window_take(&c->window, y))
        return ODLC_ERR_INTERNAL;
    c->out_depth += more;
    *sides = (struct sides){axes_of_image(x), weight_axes(c, n->op->layer == LAYER_TRANSPOSED), axes_of_image(y)};
    add_channels(&sides->y, more * c->group);
    drop_still_axes(c, sides);
    return ODLC_OK;
}
