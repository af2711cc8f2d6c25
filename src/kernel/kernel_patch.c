/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding patches of an image, channels last, and patches put back to one. */
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/window.h"

/* Adds one tap of one channel of all patches to an image; `from` holds the patches' values in turn. */
#define ADD_TAP(name, type, sum)                                                                      \
    static void name(const struct window *w, int64_t row, int64_t column, const type *from, type *to) \
    {                                                                                                 \
        const struct window_axis *v = &w->axis[1], *h = &w->axis[2];                                  \
        for (int64_t i = 0; i < v->out; i++)                                                          \
            for (int64_t j = 0; j < h->out; j++, from++) {                                            \
                int64_t y = i * v->stride + row * v->dilation - v->pad_before;                        \
                int64_t x = j * h->stride + column * h->dilation - h->pad_before;                     \
                if (y < 0 || y >= v->in || x < 0 || x >= h->in)                                       \
                    continue;                                                                         \
                type *at = to + (y * h->in + x) * w->channels;                                        \
                *at = sum(*at, *from);                                                                \
            }                                                                                         \
    }

static double add_real(double a, double b)
{
    return a + b;
}

ADD_TAP(add_reals, double, add_real)
ADD_TAP(add_wholes, int64_t, wrap_add)

odlc_status kernel_col2im(const struct kernel *k)
{
    struct window w;
    if (window_read_col2im(&w, k->node, &k->in[0].shape, &k->out[0].shape))
        return ODLC_ERR_INVALID;
    bool real = k->out[0].dtype == DT_FLOAT64;
    if (k->in[0].dtype != k->out[0].dtype || (!real && k->out[0].dtype != DT_INT64))
        return ODLC_ERR_UNSUPPORTED;
    size_t patches = (size_t)k->in[0].shape.dims[2], from = 0, to = 0;
    memset(k->out[0].data, 0, shape_count(&k->out[0].shape) * sizeof(double));
    for (int64_t b = 0; b < w.batch; b++, to += (size_t)(w.axis[1].in * w.axis[2].in * w.channels))
        for (int64_t c = 0; c < w.channels; c++)
            for (int64_t tap = 0; tap < window_taps(&w); tap++, from += patches) {
                int64_t row = tap / w.axis[2].filter, column = tap % w.axis[2].filter;
                size_t at = to + (size_t)c;
                if (real)
                    add_reals(&w, row, column, (const double *)k->in[0].data + from, (double *)k->out[0].data + at);
                else
                    add_wholes(&w, row, column, (const int64_t *)k->in[0].data + from, (int64_t *)k->out[0].data + at);
            }
    return ODLC_OK;
}

/* ---- ExtractPatches ---- */

/* One patch, its rows one after the other; what lies outside of the image stays 0. Elements have 8 bytes. */
static void copy_patch(const struct window *w, const int64_t at[2], const char *image, char *patch)
{
    const struct window_axis *v = &w->axis[1], *h = &w->axis[2];
    size_t size = (size_t)w->channels * sizeof(double);
    for (int64_t row = 0; row < v->filter; row++)
        for (int64_t column = 0; column < h->filter; column++, patch += size) {
            int64_t y = at[0] * v->stride + row * v->dilation - v->pad_before;
            int64_t x = at[1] * h->stride + column * h->dilation - h->pad_before;
            if (y >= 0 && y < v->in && x >= 0 && x < h->in)
                memcpy(patch, image + (size_t)(y * h->in + x) * size, size);
        }
}

odlc_status kernel_extract_patches(const struct kernel *k)
{
    struct window w;
    if (window_read_patches(&w, k->node, &k->in[0].shape) || k->in[0].dtype == DT_STRING)
        return ODLC_ERR_INVALID;
    size_t image = (size_t)(w.axis[1].in * w.axis[2].in * w.channels) * sizeof(double);
    size_t patch = (size_t)k->out[0].shape.dims[3] * sizeof(double);
    const char *from = k->in[0].data;
    char *to = k->out[0].data;
    memset(to, 0, shape_count(&k->out[0].shape) * sizeof(double));
    for (int64_t b = 0; b < w.batch; b++, from += image)
        for (int64_t row = 0; row < w.axis[1].out; row++)
            for (int64_t column = 0; column < w.axis[2].out; column++, to += patch)
                copy_patch(&w, (const int64_t[]){row, column}, from, to);
    return ODLC_OK;
}
