/* SPDX-License-Identifier: Apache-2.0 */
/* Channels are the inner loop of every tap. */
#include "backend/cpu/cpu_depthwise_fixed.h"

#include "backend/cpu/cpu_conv_sides.h"
#include "backend/cpu/cpu_fixed_product.h"
#include "backend/cpu/cpu_loop.h"

struct depthwise {
    struct conv conv;
    const int16_t *weights; /* qw + ow, [filter…, channels] */
    int32_t x_offset;
    bool is_signed; /* the input's elements */
    struct requantize requantize;
};

struct depthwise_run {
    const struct depthwise *d;
    const void *x;
    int32_t *sums;
};

static CLONED void add_unsigned(const uint8_t *restrict x, const int16_t *restrict w, int32_t offset,
                                int32_t *restrict sums, int64_t channels)
{
    for (int64_t c = 0; c < channels; c++)
        sums[c] += (x[c] + offset) * w[c];
}

static CLONED void add_signed(const int8_t *restrict x, const int16_t *restrict w, int32_t offset,
                              int32_t *restrict sums, int64_t channels)
{
    for (int64_t c = 0; c < channels; c++)
        sums[c] += (x[c] + offset) * w[c];
}

static void sum_position(const struct depthwise_run *r, int64_t batch, const int64_t at[WINDOW_AXES], int32_t *sums)
{
    const struct depthwise *d = r->d;
    const struct window_axis *a = d->conv.window.axis;
    const int64_t channels = d->conv.group;
    int64_t first[WINDOW_AXES], last[WINDOW_AXES], tap[WINDOW_AXES];
    for (int i = 0; i < WINDOW_AXES; i++)
        window_clip(&a[i], at[i], &first[i], &last[i]);
    for (int64_t c = 0; c < channels; c++)
        sums[c] = 0;
    for (tap[0] = first[0]; tap[0] < last[0]; tap[0]++)
        for (tap[1] = first[1]; tap[1] < last[1]; tap[1]++)
            for (tap[2] = first[2]; tap[2] < last[2]; tap[2]++) {
                int64_t from = batch, weights = 0;
                for (int i = 0; i < WINDOW_AXES; i++) {
                    from = from * a[i].in + at[i] * a[i].stride + tap[i] * a[i].dilation - a[i].pad_before;
                    weights = weights * a[i].filter + tap[i];
                }
                const int16_t *w = d->weights + weights * channels;
                if (d->is_signed)
                    add_signed((const int8_t *)r->x + from * channels, w, d->x_offset, sums, channels);
                else
                    add_unsigned((const uint8_t *)r->x + from * channels, w, d->x_offset, sums, channels);
            }
}

/* Output positions [first, last), counted through batches and spatial axes. */
static void sum_positions(void *user, int64_t first, int64_t last)
{
    const struct depthwise_run *r = user;
    const struct window_axis *a = r->d->conv.window.axis;
    for (int64_t i = first; i < last; i++) {
        int64_t at[WINDOW_AXES], rest = i;
        for (int k = WINDOW_AXES; k-- > 0; rest /= a[k].out)
            at[k] = rest % a[k].out;
        sum_position(r, rest, at, r->sums + i * r->d->conv.group);
    }
}

enum { LEAST_PRODUCTS = 1 << 15 }; /* fewer are not worth another thread */

static int64_t position_count(const struct conv *c)
{
    return c->window.batch * c->window.axis[0].out * c->window.axis[1].out * c->window.axis[2].out;
}

static odlc_status run_depthwise(const struct cpu_step *step, const struct backend_scope *scope,
                                 const struct buffer *in, struct buffer *out)
{
    const struct depthwise *d = step->prepared;
    (void)scope;
    struct depthwise_run r = {d, in[0].data, cpu_sums(step)};
    threads_share(position_count(&d->conv), LEAST_PRODUCTS / (d->conv.group * window_taps(&d->conv.window)) + 1,
                  sum_positions, &r);
    requantize(&d->requantize, r.sums, out[0].data, position_count(&d->conv));
    return ODLC_OK;
}

static const int16_t *read_weights(const struct cpu_making *m, const struct fixed_making *f, int64_t taps)
{
    const int64_t channels = f->groups;
    int16_t *w = arena_array(m->scope->arena, int16_t, (size_t)(taps * channels));
    for (int64_t t = 0; t < taps; t++)
        for (int64_t c = 0; c < channels; c++)
            w[t * channels + c] =
                (int16_t)(f->weights.q[t * channels + c] + (f->weights.zero ? f->weights.zero[c] : 0));
    return w;
}

odlc_status depthwise_prepare_fixed(struct cpu_making *m)
{
    struct depthwise *d = arena_new(m->scope->arena, struct depthwise);
    struct sides sides;
    TRY(conv_sides(m, 0, &d->conv, &sides));
    struct fixed_making f = fixed_product_make(m, d->conv.group);
    d->weights = read_weights(m, &f, window_taps(&d->conv.window));
    d->x_offset = -f.x_zero;
    d->is_signed = f.x_type == dnnl_s8;
    f.weights.zero = NULL; /* it is in the weights */
    f.pitch = f.channels;
    making_need_sums(m, (uint64_t)(position_count(&d->conv) * d->conv.group));
    d->requantize = fixed_product_requantize(m, &f);
    m->step->loop = run_depthwise;
    m->step->prepared = d;
    return ODLC_OK;
}
