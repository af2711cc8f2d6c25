/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's Fourier transforms, of the last axes, as many as the row says: products with constant matrices, one axis
 * after the other. */
#include "converters/lowering/fourier.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/complex.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

struct axes {
    struct shape in; /* the input's */
    uint32_t first, count;
    int64_t length[MAX_RANK]; /* of the transform, by axis */
};

/* Cosines and sines with the weights of a transform, [in, out] each. */
static odlc_status matrices(struct emit *s, const struct transform *t, tensor_id *cosines, tensor_id *sines)
{
    struct lower *l = s->l;
    const float *both;
    float *parts[2];
    const uint64_t count = (uint64_t)(t->in * t->out);
    struct transform of_real = *t; /* its columns are pairs of cosine and sine */
    of_real.in_parts = 1;
    of_real.out_parts = 2;
    TRY(transform_matrix(l, &of_real, &both));
    for (uint32_t k = 0; k < 2; k++) {
        TRY(lower_table(l, count, sizeof(float), &parts[k]));
        for (uint64_t i = 0; i < count; i++)
            parts[k][i] = both[2 * i + k];
    }
    *cosines = build_const_floats(l->b, step_name(l, "cosines"), &SHAPE(t->in, t->out), parts[0]);
    *sines = build_const_floats(l->b, step_name(l, "sines"), &SHAPE(t->in, t->out), parts[1]);
    return ODLC_OK;
}

/* Rows of the elements that are read along an axis, [others, in]; the axis is exchanged with the last. */
static tensor_id as_rows(struct emit *s, const struct transform *t, const struct perm *exchange, uint32_t axis,
                         tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    if (t->in < build_type(s->l->b, x)->shape.dims[axis])
        x = emit_slice(s, x, axis, 0, t->in);
    x = emit_transpose(s, x, exchange);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct shape shape = build_type(s->l->b, x)->shape;
    return emit_reshape(s, x, &SHAPE((int64_t)shape_count_range(&shape, 0, shape.rank - 1), t->in));
}

/* The transform along an axis. Real numbers have no imaginary tensor. */
static struct complex_parts along_axis(struct emit *s, const struct transform *t, uint32_t axis, struct complex_parts z)
{
    tensor_id cosines = NO_TENSOR, sines = NO_TENSOR, rows[2], product[2];
    if (s->status == ODLC_OK)
        s->status = matrices(s, t, &cosines, &sines);
    if (s->status != ODLC_OK)
        return z;
    struct shape shape = build_type(s->l->b, z.real)->shape;
    struct perm exchange = perm_identity(shape.rank);
    exchange.axis[axis] = (uint8_t)(shape.rank - 1);
    exchange.axis[shape.rank - 1] = (uint8_t)axis;
    shape.dims[axis] = t->out;
    const struct shape exchanged = perm_apply(&exchange, &shape);
    rows[0] = as_rows(s, t, &exchange, axis, z.real);
    product[0] = emit_matmul(s, rows[0], cosines, false, false);
    product[1] = t->out_parts == 2 ? emit_matmul(s, rows[0], sines, false, false) : NO_TENSOR;
    if (t->in_parts == 2) {
        rows[1] = as_rows(s, t, &exchange, axis, z.imaginary);
        tensor_id turned = emit_matmul(s, rows[1], sines, false, false);
        product[0] = emit_binary(s, OP_ElementWiseSubtract, product[0], turned);
        if (t->out_parts == 2) {
            tensor_id kept = emit_matmul(s, rows[1], cosines, false, false);
            product[1] = emit_binary(s, OP_ElementWiseAdd, product[1], kept);
        }
    }
    z.real = emit_transpose(s, emit_reshape(s, product[0], &exchanged), &exchange);
    if (t->out_parts == 2)
        z.imaginary = emit_transpose(s, emit_reshape(s, product[1], &exchanged), &exchange);
    return z;
}

static odlc_status read_axes(const struct lower *l, tensor_id x, bool has_lengths, struct axes *a)
{
    const int64_t *lengths;
    uint32_t count;
    *a = (struct axes){.in = build_type(l->b, x)->shape, .count = (uint32_t)(*l->variant - '0')};
    if (build_type(l->b, x)->dtype != DT_FLOAT32)
        return lower_unsupported(l, NULL, NULL, "a transform of %s, not float32, is not supported",
                                 dtype_info(build_type(l->b, x)->dtype)->name);
    if (a->in.rank < a->count)
        return lower_invalid(l, NULL, NULL, "an input of rank %u does not have %u axes", a->in.rank, a->count);
    a->first = a->in.rank - a->count;
    for (uint32_t i = a->first; i < a->in.rank; i++)
        a->length[i] = a->in.dims[i];
    if (has_lengths) {
        TRY(lower_const_ints(l, 1, "fft_length", &lengths, &count));
        if (count != a->count)
            return lower_invalid(l, "fft_length", NULL, "fft_length has %u elements instead of %u", count, a->count);
        for (uint32_t i = 0; i < count; i++)
            a->length[a->first + i] = lengths[i];
    }
    return ODLC_OK;
}

/* Complex numbers to as many complex ones, along the axes before `end`. */
static struct complex_parts complex_axes(struct emit *s, const struct axes *a, uint32_t end, bool inverse,
                                         struct complex_parts z)
{
    for (uint32_t i = a->first; i < end; i++) {
        const struct transform t = {.length = a->length[i],
                                    .in = a->length[i],
                                    .out = a->length[i],
                                    .in_parts = 2,
                                    .out_parts = 2,
                                    .inverse = inverse};
        z = along_axis(s, &t, i, z);
    }
    return z;
}

/* Longer axes are cut; shorter ones were filled before, for TensorFlow does not take them. */
static odlc_status check_lengths(const struct lower *l, const struct axes *a, bool is_half)
{
    for (uint32_t i = 0; i < a->in.rank; i++) {
        const bool half = is_half && i + 1 == a->in.rank;
        const int64_t length = i < a->first ? 1 : a->length[i];
        if (length < 1 || length > INT32_MAX || a->in.dims[i] < (half ? length / 2 + 1 : length))
            return lower_invalid(l, "fft_length", NULL, "a transform of %lld elements to %lld is not possible",
                                 (long long)a->in.dims[i], (long long)length);
    }
    return ODLC_OK;
}

static odlc_status complex_transform(struct lower *l, bool inverse)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    struct axes a;
    TRY(need_complex(l, 0, "input", &z));
    TRY(read_axes(l, z.real, false, &a));
    TRY(check_lengths(l, &a, false));
    return give_complex(&s, complex_axes(&s, &a, a.in.rank, inverse, z));
}

odlc_status tf_fft(struct lower *l)
{
    return complex_transform(l, false);
}

odlc_status tf_ifft(struct lower *l)
{
    return complex_transform(l, true);
}

/* The last axis first: half of its frequencies say all of real numbers. */
odlc_status tf_rfft(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z = {NO_TENSOR, NO_TENSOR};
    struct axes a;
    TRY(lower_need(l, 0, "input", &z.real));
    TRY(read_axes(l, z.real, true, &a));
    TRY(check_lengths(l, &a, false));
    const uint32_t last = a.in.rank - 1;
    const struct transform t = {
        .length = a.length[last], .in = a.length[last], .out = a.length[last] / 2 + 1, .in_parts = 1, .out_parts = 2};
    z = along_axis(&s, &t, last, z);
    return give_complex(&s, complex_axes(&s, &a, last, false, z));
}

/* The last axis last. */
odlc_status tf_irfft(struct lower *l)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    struct axes a;
    TRY(need_complex(l, 0, "input", &z));
    TRY(read_axes(l, z.real, true, &a));
    TRY(check_lengths(l, &a, true));
    const uint32_t last = a.in.rank - 1;
    const struct transform t = {.length = a.length[last],
                                .in = a.length[last] / 2 + 1,
                                .out = a.length[last],
                                .in_parts = 2,
                                .out_parts = 1,
                                .inverse = true,
                                .mirrored = true};
    z = along_axis(&s, &t, last, complex_axes(&s, &a, last, true, z));
    return emit_give(&s, 0, z.real);
}
