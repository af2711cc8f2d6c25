/* Convolutions of integers, whose sums are exact. They come from models with integer operators, where the product with
 * a scale follows: the plain loops will do. */
#include "kernel/conv_kernel.h"
#include "kernel/nd_iterate.h"

struct ints_job {
    struct conv conv;
    const int64_t *x, *w, *bias;
};

/* All output channels at one position: sum has group · out_depth elements. */
static void convolve_position(const struct ints_job *j, const int64_t *x, const int64_t at[WINDOW_AXES], int64_t *sum)
{
    const struct conv *c = &j->conv;
    const struct window_axis *a = c->window.axis;
    int64_t out = c->group * c->out_depth, first[WINDOW_AXES], last[WINDOW_AXES], tap[WINDOW_AXES];
    for (int i = 0; i < WINDOW_AXES; i++)
        window_clip(&a[i], at[i], &first[i], &last[i]);
    for (int64_t o = 0; o < out; o++)
        sum[o] = j->bias ? j->bias[o] : 0;
    for (tap[0] = first[0]; tap[0] < last[0]; tap[0]++)
        for (tap[1] = first[1]; tap[1] < last[1]; tap[1]++)
            for (tap[2] = first[2]; tap[2] < last[2]; tap[2]++) {
                int64_t from = 0, weights = 0;
                for (int i = 0; i < WINDOW_AXES; i++) {
                    from = from * a[i].in + at[i] * a[i].stride + tap[i] * a[i].dilation - a[i].pad_before;
                    weights = weights * a[i].filter + tap[i];
                }
                const int64_t *in = x + from * c->window.channels, *w = j->w + weights * c->in_depth * out;
                for (int64_t d = 0; d < c->in_depth; d++, w += out)
                    for (int64_t o = 0; o < out; o++)
                        sum[o] = wrap_add(sum[o], wrap_multiply(in[o / c->out_depth * c->in_depth + d], w[o]));
            }
}

odlc_status kernel_conv_ints(const struct kernel *k)
{
    const struct buffer *x = &k->in[0], *w = &k->in[1], *bias = k->n_in > 2 && k->in[2].data ? &k->in[2] : NULL;
    struct buffer *y = &k->out[0];
    struct ints_job j = {.x = x->data, .w = w->data, .bias = bias ? bias->data : NULL};
    if (w->dtype != DT_INT64 || (bias && bias->dtype != DT_INT64) || y->dtype != DT_INT64)
        return ODLC_ERR_UNSUPPORTED;
    if (conv_read(&j.conv, k->node, &x->shape, &w->shape, bias ? &bias->shape : NULL) ||
        window_take(&j.conv.window, &y->shape) || y->shape.dims[y->shape.rank - 1] != j.conv.group * j.conv.out_depth)
        return ODLC_ERR_INVALID;
    const struct window_axis *a = j.conv.window.axis;
    int64_t out = j.conv.group * j.conv.out_depth, at[WINDOW_AXES], *to = y->data;
    int64_t image = a[0].in * a[1].in * a[2].in * j.conv.window.channels;
    for (int64_t b = 0; b < j.conv.window.batch; b++)
        for (at[0] = 0; at[0] < a[0].out; at[0]++)
            for (at[1] = 0; at[1] < a[1].out; at[1]++)
                for (at[2] = 0; at[2] < a[2].out; at[2]++, to += out)
                    convolve_position(&j, j.x + b * image, at, to);
    return ODLC_OK;
}
