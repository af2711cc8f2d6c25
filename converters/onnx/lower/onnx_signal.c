/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX signal operators. Fourier transforms are products with constant matrices of sines and cosines; windows and mel
 * weights are constants. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/fourier.h"

/* The one integer in input i, or `absent`. */
static odlc_status const_scalar(struct lower *l, uint32_t i, const char *what, int64_t absent, int64_t *out)
{
    const int64_t *value;
    uint32_t count;
    TRY(lower_const_ints(l, i, what, &value, &count));
    if (value && count != 1)
        return lower_invalid(l, what, NULL, "input %u (%s) is not one value", i, what);
    *out = value ? *value : absent;
    return ODLC_OK;
}

static odlc_status need_positive(struct lower *l, const char *what, int64_t value)
{
    if (value < 1 || value > INT32_MAX)
        return lower_invalid(l, what, NULL, "%s is %lld", what, (long long)value);
    return ODLC_OK;
}

static tensor_id matrix_constant(struct emit *s, const float *matrix, const struct shape *shape)
{
    return build_const_floats(s->l->b, step_name(s->l, "matrix"), shape, matrix);
}

/* ---- DFT ---- */

struct dft {
    struct transform t;
    struct shape in; /* the input's */
    uint32_t axis;
};

static odlc_status read_axis(struct lower *l, struct dft *d)
{
    int64_t axis;
    if (d->in.rank < 2)
        return lower_invalid(l, NULL, NULL, "an input of rank %u has no axis for the parts of complex numbers",
                             d->in.rank);
    if (l->version < 20)
        TRY(lower_attr_int(l, "axis", 1, &axis));
    else
        TRY(const_scalar(l, 2, "axis", -2, &axis));
    TRY(lower_axis(l, "axis", axis, d->in.rank, &d->axis));
    if (d->axis == d->in.rank - 1)
        return lower_invalid(l, "axis", NULL, "the last axis is that of the parts of complex numbers");
    return ODLC_OK;
}

static odlc_status read_dft(struct lower *l, tensor_id x, struct dft *d)
{
    int64_t inverse, onesided;
    struct transform *t = &d->t;
    *d = (struct dft){.in = build_type(l->b, x)->shape};
    TRY(read_axis(l, d));
    TRY(lower_attr_int(l, "inverse", 0, &inverse));
    TRY(lower_attr_int(l, "onesided", 0, &onesided));
    int64_t extent = d->in.dims[d->axis];
    bool half = onesided != 0;
    t->inverse = inverse != 0;
    t->mirrored = half && t->inverse;
    t->in_parts = d->in.dims[d->in.rank - 1];
    t->out_parts = t->mirrored ? 1 : 2;
    if (t->in_parts != 1 && t->in_parts != 2)
        return lower_invalid(l, NULL, NULL, "the last axis of the input has %lld elements instead of 1 or 2",
                             (long long)t->in_parts);
    if (half && t->in_parts != (t->inverse ? 2 : 1))
        return lower_invalid(l, "onesided", NULL, "a onesided transform of %s numbers is not defined",
                             t->inverse ? "real" : "complex");
    TRY(const_scalar(l, 1, "dft_length", t->mirrored ? 2 * (extent - 1) : extent, &t->length));
    TRY(need_positive(l, "dft_length", t->length));
    int64_t unique = t->length / 2 + 1;
    t->in = min_i64(extent, t->mirrored ? unique : t->length);
    t->out = half && !t->inverse ? unique : t->length;
    return t->in > 0 ? ODLC_OK : lower_invalid(l, NULL, NULL, "the input has no elements");
}

/* The permutation that brings `axis` to the last place but one. */
static struct perm axis_to_end(uint32_t axis, uint32_t rank)
{
    struct perm perm = perm_identity(rank);
    for (uint32_t i = axis; i < rank - 2; i++)
        perm.axis[i] = (uint8_t)(i + 1);
    perm.axis[rank - 2] = (uint8_t)axis;
    return perm;
}

/* Half precision would round the sines: products are made of float32. */
static tensor_id as_float32(struct emit *s, tensor_id x, enum dtype *dtype)
{
    *dtype = build_type(s->l->b, x)->dtype;
    return emit_cast(s, x, DT_FLOAT32);
}

odlc_status lower_dft(struct lower *l)
{
    struct emit s = {.l = l};
    struct dft d;
    tensor_id x;
    enum dtype dtype;
    const float *matrix;
    TRY(lower_need(l, 0, "input", &x));
    TRY(read_dft(l, x, &d));
    TRY(transform_matrix(l, &d.t, &matrix));
    struct perm to_end = axis_to_end(d.axis, d.in.rank), back = perm_inverse(&to_end);
    x = as_float32(&s, x, &dtype);
    if (d.t.in < d.in.dims[d.axis])
        x = emit_slice(&s, x, d.axis, 0, d.t.in);
    x = emit_transpose(&s, x, &to_end);
    struct shape ordered = perm_apply(&to_end, &d.in);
    struct shape rows = SHAPE((int64_t)shape_count_range(&ordered, 0, ordered.rank - 2), d.t.in * d.t.in_parts);
    x = emit_reshape(&s, x, &rows);
    tensor_id m = matrix_constant(&s, matrix, &SHAPE(rows.dims[1], d.t.out * d.t.out_parts));
    x = emit_matmul(&s, x, m, false, false);
    ordered.dims[ordered.rank - 2] = d.t.out;
    ordered.dims[ordered.rank - 1] = d.t.out_parts;
    x = emit_reshape(&s, x, &ordered);
    x = emit_transpose(&s, x, &back);
    return emit_give(&s, 0, emit_cast(&s, x, dtype));
}

/* ---- STFT: a convolution whose filters are the rows of the transform ---- */

struct stft {
    struct transform t;
    struct shape in; /* [batch, elements, parts] */
    int64_t step;
    tensor_id window; /* NO_TENSOR when there is none, or it is in the matrix */
};

/* The length of a frame is that of the window, as far as the node says either. */
static odlc_status read_frame(struct lower *l, struct stft *f)
{
    int64_t extent = f->in.dims[1], length;
    f->window = lower_in(l, 2);
    if (f->window != NO_TENSOR) {
        const struct shape *window = &build_type(l->b, f->window)->shape;
        if (window->rank != 1)
            return lower_invalid(l, NULL, NULL, "the window is not of rank 1");
        extent = window->dims[0];
    }
    tensor_id step;
    TRY(lower_need(l, 1, "frame_step", &step));
    TRY(const_scalar(l, 1, "frame_step", 0, &f->step));
    TRY(need_positive(l, "frame_step", f->step));
    TRY(const_scalar(l, 3, "frame_length", extent, &length));
    TRY(need_positive(l, "frame_length", length));
    if (f->window != NO_TENSOR && length != extent)
        return lower_invalid(l, "frame_length", NULL, "frame_length is %lld, but the window has %lld elements",
                             (long long)length, (long long)extent);
    if (length > f->in.dims[1])
        return lower_invalid(l, "frame_length", NULL, "a frame of %lld elements does not fit into a signal of %lld",
                             (long long)length, (long long)f->in.dims[1]);
    f->t.length = f->t.in = length;
    return ODLC_OK;
}

static odlc_status read_stft(struct lower *l, tensor_id x, struct stft *f)
{
    int64_t onesided;
    uint64_t count;
    *f = (struct stft){.in = build_type(l->b, x)->shape};
    if (f->in.rank != 3 || (f->in.dims[2] != 1 && f->in.dims[2] != 2))
        return lower_invalid(l, NULL, NULL, "the signal is %s instead of [batch, length, 1 or 2]",
                             shape_text(l->diags->arena, &f->in));
    TRY(lower_attr_int(l, "onesided", 1, &onesided));
    TRY(read_frame(l, f));
    f->t.in_parts = f->in.dims[2];
    f->t.out_parts = 2;
    f->t.out = onesided ? f->t.length / 2 + 1 : f->t.length;
    if (onesided && f->t.in_parts == 2)
        return lower_invalid(l, "onesided", NULL, "a onesided transform of complex numbers is not defined");
    f->t.window = build_const_as_floats(l->b, f->window, &count);
    if (f->t.window)
        f->window = NO_TENSOR;
    return ODLC_OK;
}

/* Frames are what a filter sees, one after the other. Images are channels-last, as the signal is. */
static tensor_id convolve(struct emit *s, const struct stft *f, tensor_id image, tensor_id filters)
{
    static const int64_t no_padding[4];
    struct build *b = s->l->b;
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(b, OP_Conv2d, step_name(s->l, "Conv2d"));
    build_in(b, image);
    build_in(b, filters);
    build_in(b, NO_TENSOR);
    build_ints(b, PARAM_stride, (const int64_t[]){1, f->step}, 2);
    build_tensor_ints(b, PARAM_pad_amount, &SHAPE(2, 2), no_padding);
    build_int(b, PARAM_group, 1);
    s->status = build_end(b, step_name(s->l, "Conv2d"), &out);
    return out;
}

odlc_status lower_stft(struct lower *l)
{
    struct emit s = {.l = l};
    struct stft f;
    tensor_id x;
    enum dtype dtype;
    const float *matrix;
    TRY(lower_need(l, 0, "signal", &x));
    TRY(read_stft(l, x, &f));
    TRY(transform_matrix(l, &f.t, &matrix));
    int64_t channels = f.t.out * 2, frames = (f.in.dims[1] - f.t.length) / f.step + 1;
    struct shape image = SHAPE(f.in.dims[0], 1, f.in.dims[1], f.in.dims[2]);
    struct shape result = SHAPE(f.in.dims[0], frames, f.t.out, 2);
    x = emit_reshape(&s, as_float32(&s, x, &dtype), &image);
    tensor_id filters = matrix_constant(&s, matrix, &SHAPE(1, f.t.length, f.in.dims[2], channels));
    if (f.window != NO_TENSOR) {
        tensor_id window = emit_reshape(&s, emit_cast(&s, f.window, DT_FLOAT32), &SHAPE(1, f.t.length, 1, 1));
        filters = emit_binary(&s, OP_ElementWiseMultiply, filters, window);
    }
    x = emit_reshape(&s, convolve(&s, &f, x, filters), &result);
    return emit_give(&s, 0, emit_cast(&s, x, dtype));
}

/* ---- constants ---- */

/* The result is these values, cast as the attribute output_datatype says. */
static odlc_status give_values(struct lower *l, const double *values, const struct shape *shape)
{
    enum dtype dtype;
    TRY(lower_attr_dtype(l, "output_datatype", DT_FLOAT32, &dtype));
    if (dtype == DT_STRING)
        return lower_invalid(l, "output_datatype", NULL, "strings are no numbers");
    uint64_t count = shape_count(shape);
    uint8_t *elements = arena_calloc(l->arena, count, dtype_size(dtype));
    convert_elements(elements, dtype, values, DT_FLOAT64, count);
    struct view view = view_of(elements, dtype, shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), dtype, &view);
    return ODLC_OK;
}

/* a0 − a1 cos x + a2 cos 2x over one period; the symmetric form ends where the period does. */
static odlc_status lower_window(struct lower *l, double a0, double a1, double a2)
{
    int64_t size, periodic;
    double *values;
    tensor_id in;
    TRY(lower_need(l, 0, "size", &in));
    TRY(const_scalar(l, 0, "size", 0, &size));
    TRY(lower_attr_int(l, "periodic", 1, &periodic));
    if (size < 0)
        return lower_invalid(l, "size", NULL, "size is %lld", (long long)size);
    TRY(lower_table(l, (uint64_t)size, sizeof(double), &values));
    double period = (double)(periodic ? size : size - 1);
    for (int64_t i = 0; i < size; i++) {
        double angle = 2 * M_PI / period * (double)i;
        values[i] = a0 - a1 * cos(angle) + a2 * cos(2 * angle);
    }
    return give_values(l, values, &SHAPE(size));
}

odlc_status lower_hann_window(struct lower *l)
{
    return lower_window(l, 0.5, 0.5, 0);
}

odlc_status lower_hamming_window(struct lower *l)
{
    return lower_window(l, 25.0 / 46, 21.0 / 46, 0);
}

odlc_status lower_blackman_window(struct lower *l)
{
    return lower_window(l, 0.42, 0.5, 0.08);
}

/* ---- MelWeightMatrix ---- */

struct mel {
    int64_t bands, bins, length, rate;
    double low, high; /* in mel */
};

static odlc_status read_edge(struct lower *l, uint32_t i, const char *what, double *mel)
{
    const double *hertz;
    uint32_t count;
    TRY(lower_const_floats(l, i, what, &hertz, &count));
    if (!hertz || count != 1 || !(hertz[0] > -700) || !(hertz[0] < INFINITY))
        return lower_invalid(l, what, NULL, "input %u (%s) is not one frequency", i, what);
    *mel = 2595 * log10(1 + hertz[0] / 700);
    return ODLC_OK;
}

/* The spectrum's bin in which the edge of a band lies; edges are evenly spaced in mel. */
static int64_t bin_of_edge(const struct mel *m, int64_t edge)
{
    double step = (m->high - m->low) / (double)(m->bands + 2);
    double hertz = 700 * (pow(10, (m->low + step * (double)edge) / 2595) - 1);
    return (int64_t)fmin(fmax(floor((double)(m->length + 1) * hertz / (double)m->rate), -1), (double)m->bins + 1);
}

/* A band rises from its lower edge to 1 at its centre and falls to its upper edge. */
static odlc_status fill_band(struct lower *l, const struct mel *m, int64_t band, double *values)
{
    int64_t lower = bin_of_edge(m, band), centre = bin_of_edge(m, band + 1), upper = bin_of_edge(m, band + 2);
    if (lower < 0 || lower > centre || centre > upper || centre >= m->bins || upper > m->bins)
        return lower_invalid(l, NULL, "the edges must rise and lie within the spectrum",
                             "band %lld lies outside the spectrum of %lld bins", (long long)band, (long long)m->bins);
    for (int64_t i = lower; i < centre; i++)
        values[i * m->bands + band] = (double)(i - lower) / (double)(centre - lower);
    values[centre * m->bands + band] = 1;
    for (int64_t i = centre + 1; i < upper; i++)
        values[i * m->bands + band] = (double)(upper - i) / (double)(upper - centre);
    return ODLC_OK;
}

odlc_status lower_mel_weight_matrix(struct lower *l)
{
    static const char *const names[] = {"num_mel_bins", "dft_length", "sample_rate"};
    struct mel m;
    /* cppcheck-suppress uninitvar ; they are set through these pointers */
    int64_t *const wanted[] = {&m.bands, &m.length, &m.rate};
    double *values;
    for (uint32_t i = 0; i < COUNT_OF(names); i++) {
        TRY(const_scalar(l, i, names[i], 0, wanted[i]));
        TRY(need_positive(l, names[i], *wanted[i]));
    }
    TRY(read_edge(l, 3, "lower_edge_hertz", &m.low));
    TRY(read_edge(l, 4, "upper_edge_hertz", &m.high));
    m.bins = m.length / 2 + 1;
    TRY(lower_table(l, (uint64_t)m.bins * (uint64_t)m.bands, sizeof(double), &values));
    for (int64_t band = 0; band < m.bands; band++)
        TRY(fill_band(l, &m, band, values));
    return give_values(l, values, &SHAPE(m.bins, m.bands));
}
