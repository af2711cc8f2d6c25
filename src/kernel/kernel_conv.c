/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution is computed as matrix products: the rows of the left operand are the input's values under the window at
 * consecutive output positions, the right operand is the filter. A transposed convolution with stride s is s
 * convolutions per axis, each with its own taps, whose results interleave: no work is spent on the zeros between input
 * elements. Both are `lattice`s here. */
#include "kernel/gemm.h"
#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/conv_geometry.h"

/* A tap reads the input at position · advance + offset. */
struct tap {
    int64_t offset[WINDOW_AXES];
    const float *weights; /* of group 0 */
};

/* Output positions first + step · q for q in [0, count), and how they see the input. */
struct lattice {
    int64_t first[WINDOW_AXES], step[WINDOW_AXES], count[WINDOW_AXES];
    int64_t advance[WINDOW_AXES];
    struct tap *taps;
    size_t n_taps;
};

/* One call of a kernel. */
struct job {
    struct conv conv;
    const float *x, *w, *bias;
    const struct buffer *y;
    size_t weights_row, weights_group; /* elements between input channels, between groups */
    struct arena *scratch;
};

static odlc_status job_init(struct job *j, const struct kernel *k, conv_read_fn *read)
{
    const struct buffer *x = &k->in[0], *w = &k->in[1], *bias = k->n_in > 2 && k->in[2].data ? &k->in[2] : NULL;
    struct buffer *y = &k->out[0];
    if (x->dtype != DT_FLOAT32 || w->dtype != DT_FLOAT32 || (bias && bias->dtype != DT_FLOAT32) ||
        (y->dtype != DT_FLOAT32 && y->dtype != DT_FLOAT64))
        return ODLC_ERR_UNSUPPORTED;
    if (read(&j->conv, k->node, &x->shape, &w->shape, bias ? &bias->shape : NULL) ||
        window_take(&j->conv.window, &y->shape) ||
        y->shape.dims[y->shape.rank - 1] != j->conv.group * j->conv.out_depth)
        return ODLC_ERR_INVALID;
    j->x = x->data;
    j->w = w->data;
    j->bias = bias ? bias->data : NULL;
    j->y = y;
    j->scratch = k->scratch;
    return ODLC_OK;
}

/* The position with the given row-major index. */
static void unravel(size_t index, const int64_t extent[WINDOW_AXES], int64_t at[WINDOW_AXES])
{
    for (int i = WINDOW_AXES - 1; i >= 0; i--) {
        at[i] = (int64_t)(index % (size_t)extent[i]);
        index /= (size_t)extent[i];
    }
}

/* The input under one tap, or NULL in the padding. */
static const float *tap_source(const struct window *w, const struct lattice *l, const struct tap *tap,
                               const int64_t at[WINDOW_AXES], const float *x)
{
    int64_t index = 0;
    for (int i = 0; i < WINDOW_AXES; i++) {
        int64_t p = at[i] * l->advance[i] + tap->offset[i];
        if (p < 0 || p >= w->axis[i].in)
            return NULL;
        index = index * w->axis[i].in + p;
    }
    return x + index * w->channels;
}

static void fill_panels(const struct job *j, const struct lattice *l, const float *x, size_t first, size_t rows,
                        double *panels)
{
    const struct window *w = &j->conv.window;
    size_t depth = (size_t)j->conv.in_depth;
    for (size_t r = 0; r < rows; r++) {
        int64_t at[WINDOW_AXES];
        unravel(first + r, l->count, at);
        double *to = gemm_panel_row(panels, l->n_taps * depth, r);
        for (size_t t = 0; t < l->n_taps; t++, to += depth * GEMM_ROWS) {
            const float *from = tap_source(w, l, &l->taps[t], at, x);
            for (size_t c = 0; c < depth; c++)
                to[c * GEMM_ROWS] = from ? (double)from[c] : 0;
        }
    }
}

static void store_rows(const struct job *j, const struct lattice *l, const double *product, size_t first, size_t rows,
                       const float *bias, const struct sums *y)
{
    const struct window *w = &j->conv.window;
    int64_t depth = j->conv.out_depth, channels = depth * j->conv.group;
    for (size_t r = 0; r < rows; r++, product += depth) {
        int64_t at[WINDOW_AXES], index = 0;
        unravel(first + r, l->count, at);
        for (int i = 0; i < WINDOW_AXES; i++)
            index = index * w->axis[i].out + l->first[i] + at[i] * l->step[i];
        for (int64_t c = 0; c < depth; c++)
            sums_store(y, (size_t)(index * channels + c), product[c] + (bias ? (double)bias[c] : 0));
    }
}

static void run_lattice(const struct job *j, const struct lattice *l)
{
    const struct conv *c = &j->conv;
    const struct window *w = &c->window;
    size_t rows = (size_t)(l->count[0] * l->count[1] * l->count[2]);
    size_t in_depth = (size_t)c->in_depth, out_depth = (size_t)c->out_depth, k = l->n_taps * in_depth;
    size_t block = gemm_block_rows(k, rows);
    struct arena_mark mark = arena_mark(j->scratch);
    double *panels = arena_array(j->scratch, double, gemm_panels_size(k, block));
    double *tile = arena_array(j->scratch, double, gemm_tile_size(k));
    double *product = arena_array(j->scratch, double, block *out_depth);
    const float **segments = arena_array(j->scratch, const float *, l->n_taps);
    struct gemm gemm = {
        .k = k, .n = out_depth, .segments = segments, .segment_k = in_depth, .k_stride = j->weights_row, .n_stride = 1};
    size_t in_image = (size_t)(w->axis[0].in * w->axis[1].in * w->axis[2].in * w->channels);
    size_t out_image = (size_t)(w->axis[0].out * w->axis[1].out * w->axis[2].out * c->group) * out_depth;
    for (size_t g = 0; g < (size_t)c->group; g++) {
        for (size_t t = 0; t < l->n_taps; t++)
            segments[t] = l->taps[t].weights + g * j->weights_group;
        const float *bias = j->bias ? j->bias + g * out_depth : NULL;
        for (size_t b = 0; b < (size_t)w->batch; b++) {
            const struct sums y = sums_at(j->y->dtype, j->y->data, (int64_t)(b * out_image + g * out_depth));
            for (size_t first = 0; first < rows; first += block) {
                size_t count = rows - first < block ? rows - first : block;
                fill_panels(j, l, j->x + b * in_image + g * in_depth, first, count, panels);
                gemm_multiply(&gemm, panels, count, tile, product);
                store_rows(j, l, product, first, count, bias, &y);
            }
        }
    }
    arena_rewind(j->scratch, mark);
}

/* ---- integers, whose sums are exact ---- */

/* They come from models with integer operators, where the product with a scale follows: the plain loops will do. */
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

static odlc_status convolve_ints(const struct kernel *k)
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

/* ---- the kernels ---- */

odlc_status kernel_conv(const struct kernel *k)
{
    struct job j;
    if (k->in[0].dtype == DT_INT64)
        return convolve_ints(k);
    TRY(job_init(&j, k, conv_read));
    const struct window_axis *a = j.conv.window.axis;
    j.weights_row = (size_t)(j.conv.group * j.conv.out_depth);
    j.weights_group = (size_t)j.conv.out_depth;
    struct lattice l = {.taps = arena_array(k->scratch, struct tap, (size_t)window_taps(&j.conv.window))};
    for (int i = 0; i < WINDOW_AXES; i++) {
        l.step[i] = 1;
        l.count[i] = a[i].out;
        l.advance[i] = a[i].stride;
    }
    const float *weights = j.w;
    for (int64_t d = 0; d < a[0].filter; d++)
        for (int64_t h = 0; h < a[1].filter; h++)
            for (int64_t w = 0; w < a[2].filter; w++, weights += (size_t)j.conv.in_depth * j.weights_row)
                l.taps[l.n_taps++] =
                    (struct tap){{d * a[0].dilation - a[0].pad_before, h * a[1].dilation - a[1].pad_before,
                                  w * a[2].dilation - a[2].pad_before},
                                 weights};
    run_lattice(&j, &l);
    return ODLC_OK;
}

/* Whether tap `at` of the axis reaches the output positions phase + stride · q, and the input position it then reads at
 * q = 0: an input element i spreads to the output positions i · stride + tap · dilation - pad_before. */
static bool reaches(const struct window_axis *a, int64_t phase, int64_t at, int64_t *offset)
{
    int64_t distance = phase + a->pad_before - at * a->dilation;
    *offset = distance / a->stride;
    return distance % a->stride == 0;
}

static void run_phase(const struct job *j, const int64_t phase[WINDOW_AXES], struct lattice *l)
{
    const struct window_axis *a = j->conv.window.axis;
    const float *weights = j->w;
    size_t tap_size = (size_t)(j->conv.group * j->conv.in_depth) * j->weights_row;
    int64_t at[WINDOW_AXES], offset[WINDOW_AXES];
    l->n_taps = 0;
    for (int i = 0; i < WINDOW_AXES; i++) {
        l->first[i] = phase[i];
        l->step[i] = a[i].stride;
        l->count[i] = ceil_div(a[i].out - phase[i], a[i].stride);
        l->advance[i] = 1;
    }
    for (at[0] = 0; at[0] < a[0].filter; at[0]++)
        for (at[1] = 0; at[1] < a[1].filter; at[1]++)
            for (at[2] = 0; at[2] < a[2].filter; at[2]++, weights += tap_size) {
                if (!reaches(&a[0], phase[0], at[0], &offset[0]) || !reaches(&a[1], phase[1], at[1], &offset[1]) ||
                    !reaches(&a[2], phase[2], at[2], &offset[2]))
                    continue;
                l->taps[l->n_taps++] = (struct tap){{offset[0], offset[1], offset[2]}, weights};
            }
    run_lattice(j, l);
}

odlc_status kernel_conv_transpose(const struct kernel *k)
{
    struct job j;
    TRY(job_init(&j, k, conv_read_transpose));
    const struct window_axis *a = j.conv.window.axis;
    j.weights_row = (size_t)j.conv.out_depth;
    j.weights_group = (size_t)(j.conv.in_depth * j.conv.out_depth);
    struct lattice l = {.taps = arena_array(k->scratch, struct tap, (size_t)window_taps(&j.conv.window))};
    int64_t phase[WINDOW_AXES];
    for (phase[0] = 0; phase[0] < min_i64(a[0].stride, a[0].out); phase[0]++)
        for (phase[1] = 0; phase[1] < min_i64(a[1].stride, a[1].out); phase[1]++)
            for (phase[2] = 0; phase[2] < min_i64(a[2].stride, a[2].out); phase[2]++)
                run_phase(&j, phase, &l);
    return ODLC_OK;
}

/* One output position: channels are the inner loop of every tap that falls on the input. */
static void depthwise_position(const struct job *j, const int64_t at[2], const float *x, double *sum,
                               const struct sums *y)
{
    const struct window_axis *a = &j->conv.window.axis[1];
    int64_t channels = j->conv.group, multiplier = j->conv.out_depth, out = channels * multiplier;
    int64_t top, bottom, left, right;
    window_clip(&a[0], at[0], &top, &bottom);
    window_clip(&a[1], at[1], &left, &right);
    for (int64_t c = 0; c < out; c++)
        sum[c] = j->bias ? (double)j->bias[c] : 0;
    for (int64_t h = top; h < bottom; h++)
        for (int64_t w = left; w < right; w++) {
            int64_t row = at[0] * a[0].stride + h * a[0].dilation - a[0].pad_before;
            int64_t column = at[1] * a[1].stride + w * a[1].dilation - a[1].pad_before;
            const float *from = x + (row * a[1].in + column) * channels;
            const float *weights = j->w + (h * a[1].filter + w) * out;
            if (multiplier == 1)
                for (int64_t c = 0; c < out; c++)
                    sum[c] += (double)from[c] * (double)weights[c];
            else
                for (int64_t c = 0; c < out; c++)
                    sum[c] += (double)from[c / multiplier] * (double)weights[c];
        }
    for (int64_t c = 0; c < out; c++)
        sums_store(y, (size_t)c, sum[c]);
}

odlc_status kernel_conv_depthwise(const struct kernel *k)
{
    struct job j;
    TRY(job_init(&j, k, conv_read_depthwise));
    const struct window *w = &j.conv.window;
    int64_t channels = j.conv.group, out = channels * j.conv.out_depth;
    double *sum = arena_array(k->scratch, double, (size_t)out);
    int64_t at[2], first = 0;
    for (int64_t b = 0; b < w->batch; b++) {
        const float *x = j.x + b * w->axis[1].in * w->axis[2].in * channels;
        for (at[0] = 0; at[0] < w->axis[1].out; at[0]++)
            for (at[1] = 0; at[1] < w->axis[2].out; at[1]++, first += out) {
                const struct sums y = sums_at(j.y->dtype, j.y->data, first);
                depthwise_position(&j, at, x, sum, &y);
            }
    }
    return ODLC_OK;
}
