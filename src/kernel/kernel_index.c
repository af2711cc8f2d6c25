/* SPDX-License-Identifier: Apache-2.0 */
/* Reading or writing at positions that a tensor gives. Indices count from the front; negative ones from the back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/move.h"
#include "op/axes.h"
#include "op/slices.h"

/* ---- shared ---- */

/* The elements of an integer input. */
static const int64_t *load_indices(const struct kernel *k, uint32_t i)
{
    const struct buffer *in = &k->in[i];
    if (in->dtype == DT_INT64)
        return in->data;
    uint64_t count = shape_count(&in->shape);
    int64_t *wide = arena_array(k->scratch, int64_t, count);
    convert_elements(wide, DT_INT64, in->data, in->dtype, count);
    return wide;
}

/* index in [-dim, dim) → [0, dim). */
static bool index_normalize(int64_t index, int64_t dim, int64_t *out)
{
    *out = index < 0 ? index + dim : index;
    return *out >= 0 && *out < dim;
}

/* ---- Gather ---- */

odlc_status kernel_gather(const struct kernel *k)
{
    const struct shape *data = &k->in[0].shape;
    uint32_t axis;
    if (!node_axis(k->node, 0, data->rank, &axis))
        return ODLC_ERR_INVALID;
    const int64_t *indices = load_indices(k, 1);
    uint64_t outer = shape_count_range(data, 0, axis), count = shape_count(&k->in[1].shape);
    size_t slice = shape_count_range(data, axis + 1, data->rank) * element_size(k->in[0].dtype);
    const uint8_t *from = k->in[0].data;
    uint8_t *to = k->out[0].data;
    int64_t dim = data->dims[axis], at;
    for (uint64_t o = 0; count && o < outer; o++, from += (uint64_t)dim * slice)
        for (uint64_t i = 0; i < count; i++, to += slice) {
            if (!index_normalize(indices[i], dim, &at))
                return ODLC_ERR_INVALID;
            memcpy(to, from + (uint64_t)at * slice, slice);
        }
    return ODLC_OK;
}

/* ---- GatherElements, ScatterElements ---- */

/* Where in data, of these strides, the i-th element of indices points: its own position, but for the axis. */
static bool element_at(const struct shape *data, const struct shape *indices, const int64_t *strides, uint32_t axis,
                       int64_t index, uint64_t i, int64_t *out)
{
    int64_t at;
    if (!index_normalize(index, data->dims[axis], &at))
        return false;
    *out = at * strides[axis];
    for (uint32_t d = indices->rank; d-- > 0; i /= (uint64_t)indices->dims[d])
        if (d != axis)
            *out += (int64_t)(i % (uint64_t)indices->dims[d]) * strides[d];
    return true;
}

odlc_status kernel_gather_elements(const struct kernel *k)
{
    const struct shape *data = &k->in[0].shape, *shape = &k->in[1].shape;
    uint32_t axis;
    if (!node_axis(k->node, 0, data->rank, &axis))
        return ODLC_ERR_INVALID;
    const int64_t *indices = load_indices(k, 1);
    size_t size = element_size(k->in[0].dtype);
    int64_t strides[MAX_RANK], at;
    shape_strides(data, strides);
    for (uint64_t i = 0, count = shape_count(shape); i < count; i++) {
        if (!element_at(data, shape, strides, axis, indices[i], i, &at))
            return ODLC_ERR_INVALID;
        memcpy((uint8_t *)k->out[0].data + i * size, (const uint8_t *)k->in[0].data + (uint64_t)at * size, size);
    }
    return ODLC_OK;
}

/* ---- reductions of the scatter ops ---- */

static double reduce_float(int64_t reduction, double a, double b)
{
    if (reduction == SCATTER_MAX)
        return isnan(a) || a > b ? a : b;
    return reduction == SCATTER_ADD ? a + b : a * b;
}

/* Wraps on overflow, as the element type itself would. */
static uint64_t reduce_int(int64_t reduction, uint64_t a, uint64_t b, bool is_signed)
{
    if (reduction == SCATTER_MAX)
        return (is_signed ? (int64_t)a > (int64_t)b : a > b) ? a : b;
    return reduction == SCATTER_ADD ? a + b : a * b;
}

/* to = to (reduction) from, for count elements. */
static void reduce_elements(enum dtype dtype, int64_t reduction, uint8_t *to, const uint8_t *from, uint64_t count)
{
    size_t size = element_size(dtype);
    if (reduction == SCATTER_NONE) {
        memcpy(to, from, count * size);
        return;
    }
    bool is_float = dtype_is_float(dtype), is_signed = dtype_info(dtype)->cls == CLASS_INT;
    enum dtype wide = is_float ? DT_FLOAT64 : is_signed ? DT_INT64 : DT_UINT64;
    for (uint64_t i = 0; i < count; i++, to += size, from += size) {
        union {
            double real;
            uint64_t whole;
        } a, b;
        convert_elements(&a, wide, to, dtype, 1);
        convert_elements(&b, wide, from, dtype, 1);
        if (is_float)
            a.real = reduce_float(reduction, a.real, b.real);
        else
            a.whole = reduce_int(reduction, a.whole, b.whole, is_signed);
        if (dtype_is_int(dtype))
            keep_low_bits((int64_t *)&a.whole, dtype, 1);
        convert_elements(to, dtype, &a, wide, 1);
    }
}

struct scatter {
    int64_t reduction;
    struct buffer to; /* the output, or the reals of a fixed-point one that are combined */
    const uint8_t *updates;
};

/* The output starts as the data. */
static odlc_status start_scatter(const struct kernel *k, struct scatter *s)
{
    const struct buffer *out = &k->out[0];
    *s = (struct scatter){.reduction = node_int(k->node, PARAM_reduction, SCATTER_NONE), .to = *out};
    if (s->reduction != SCATTER_NONE && dtype_is_fixed(out->dtype)) {
        if (!out->quant)
            return ODLC_ERR_UNSUPPORTED;
        s->to = buffer_widen(&k->in[0], DT_FLOAT32, k->scratch);
        s->updates = buffer_widen(&k->in[2], DT_FLOAT32, k->scratch).data;
        return ODLC_OK;
    }
    memcpy(out->data, k->in[0].data, shape_count(&k->in[0].shape) * element_size(k->in[0].dtype));
    s->updates = k->in[2].data;
    return ODLC_OK;
}

odlc_status kernel_scatter_elements(const struct kernel *k)
{
    const struct shape *data = &k->in[0].shape, *shape = &k->in[1].shape;
    uint32_t axis;
    int64_t strides[MAX_RANK], at;
    struct scatter s;
    if (!node_axis(k->node, 0, data->rank, &axis))
        return ODLC_ERR_INVALID;
    TRY(start_scatter(k, &s));
    const int64_t *indices = load_indices(k, 1);
    size_t size = element_size(s.to.dtype);
    shape_strides(data, strides);
    for (uint64_t i = 0, count = shape_count(shape); i < count; i++) {
        if (!element_at(data, shape, strides, axis, indices[i], i, &at))
            return ODLC_ERR_INVALID;
        reduce_elements(s.to.dtype, s.reduction, (uint8_t *)s.to.data + (uint64_t)at * size, s.updates + i * size, 1);
    }
    buffer_narrow(&s.to, &k->out[0]);
    return ODLC_OK;
}

/* ---- GatherNd, ScatterNd: the last axis of indices holds coordinates of slices ---- */

/* The first element, within its batch, of the slice at a coordinate. */
static bool slice_at(const struct slices *s, const int64_t *coordinate, uint64_t *out)
{
    int64_t at, sum = 0;
    for (uint32_t i = 0; i < s->depth; i++) {
        if (!index_normalize(coordinate[i], s->dims[i], &at))
            return false;
        sum += at * s->strides[i];
    }
    *out = (uint64_t)sum;
    return true;
}

odlc_status kernel_gather_nd(const struct kernel *k)
{
    struct slices s;
    if (!slices_of(&k->in[0].shape, &k->in[1].shape, node_int(k->node, PARAM_batch_dims, 0), &s))
        return ODLC_ERR_INVALID;
    const int64_t *coordinate = load_indices(k, 1);
    size_t size = element_size(k->in[0].dtype);
    const uint8_t *batch = k->in[0].data;
    uint8_t *to = k->out[0].data;
    uint64_t at, total = shape_count(&k->in[1].shape) / s.depth;
    for (uint64_t i = 0; i < total; i++, coordinate += s.depth, to += s.slice * size) {
        if (!slice_at(&s, coordinate, &at))
            return ODLC_ERR_INVALID;
        memcpy(to, batch + (i / s.per_batch * s.batch_stride + at) * size, s.slice * size);
    }
    return ODLC_OK;
}

odlc_status kernel_scatter_nd(const struct kernel *k)
{
    struct slices s;
    struct scatter scatter;
    if (!slices_of(&k->in[0].shape, &k->in[1].shape, 0, &s))
        return ODLC_ERR_INVALID;
    TRY(start_scatter(k, &scatter));
    const int64_t *coordinate = load_indices(k, 1);
    size_t size = element_size(scatter.to.dtype);
    const uint8_t *from = scatter.updates;
    uint64_t at, total = shape_count(&k->in[1].shape) / s.depth;
    for (uint64_t i = 0; i < total; i++, coordinate += s.depth, from += s.slice * size) {
        if (!slice_at(&s, coordinate, &at))
            return ODLC_ERR_INVALID;
        reduce_elements(scatter.to.dtype, scatter.reduction, (uint8_t *)scatter.to.data + at * size, from, s.slice);
    }
    buffer_narrow(&scatter.to, &k->out[0]);
    return ODLC_OK;
}

/* ---- OneHot ---- */

/* An index outside [-depth, depth) leaves its vector off. */
odlc_status kernel_one_hot(const struct kernel *k)
{
    const struct shape *in = &k->in[0].shape;
    const int64_t *indices = load_indices(k, 0);
    int64_t depth = node_int(k->node, PARAM_depth, 0), axis = node_int(k->node, PARAM_axis, in->rank), at;
    uint64_t inner = shape_count_range(in, (uint32_t)axis, in->rank), total = shape_count(&k->out[0].shape);
    size_t size = element_size(k->out[0].dtype);
    uint8_t on[8], off[8], *out = k->out[0].data;
    param_element(&k->out[0], node_param(k->node, PARAM_on_value), 1, on);
    param_element(&k->out[0], node_param(k->node, PARAM_off_value), 0, off);
    for (uint64_t i = 0; i < total; i++)
        memcpy(out + i * size, off, size);
    for (uint64_t i = 0, count = shape_count(in); i < count; i++)
        if (index_normalize(indices[i], depth, &at))
            memcpy(out + ((i / inner * (uint64_t)depth + (uint64_t)at) * inner + i % inner) * size, on, size);
    return ODLC_OK;
}

/* ---- TopK: along the last axis, best first ---- */

struct ranked {
    union {
        double real;
        int64_t whole;
    } value;
    int64_t index;
};

/* Larger first, NaN above all; equal values in the order of their indices. */
static int compare_reals(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    bool x_nan = isnan(x->value.real), y_nan = isnan(y->value.real);
    if (x_nan != y_nan)
        return x_nan ? -1 : 1;
    if (x_nan || x->value.real == y->value.real)
        return x->index < y->index ? -1 : 1;
    return x->value.real > y->value.real ? -1 : 1;
}

static int compare_wholes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value.whole == y->value.whole)
        return x->index < y->index ? -1 : 1;
    return x->value.whole > y->value.whole ? -1 : 1;
}

/* Smallest first is largest first of the values' mirror images, which every value has: -x, and ~x for integers. */
static void mirror(struct ranked *row, int64_t count, bool is_float)
{
    for (int64_t i = 0; i < count; i++) {
        if (is_float)
            row[i].value.real = -row[i].value.real;
        else
            row[i].value.whole = ~row[i].value.whole;
    }
}

odlc_status kernel_top_k(const struct kernel *k)
{
    const struct shape *in = &k->in[0].shape;
    bool is_float = k->in[0].dtype == DT_FLOAT64, largest = node_int(k->node, PARAM_largest, 1) != 0;
    int64_t dim = in->dims[in->rank - 1], count = k->out[0].shape.dims[in->rank - 1];
    struct ranked *row = arena_array(k->scratch, struct ranked, (size_t)dim);
    const uint8_t *from = k->in[0].data;
    uint64_t *values = k->out[0].data;
    int64_t *indices = k->out[1].data;
    for (uint64_t r = 0, rows = shape_count_range(in, 0, in->rank - 1); r < rows; r++, from += 8 * (uint64_t)dim) {
        for (int64_t i = 0; i < dim; i++) {
            memcpy(&row[i].value, from + 8 * i, 8);
            row[i].index = i;
            if (k->in[0].stored == DT_UINT64) /* the upper half is negative as int64 */
                row[i].value.whole ^= INT64_MIN;
        }
        if (!largest)
            mirror(row, dim, is_float);
        qsort(row, (size_t)dim, sizeof *row, is_float ? compare_reals : compare_wholes);
        for (int64_t i = 0; i < count; i++) {
            if (values)
                memcpy(values++, from + 8 * row[i].index, 8);
            if (indices)
                *indices++ = row[i].index;
        }
    }
    return ODLC_OK;
}
