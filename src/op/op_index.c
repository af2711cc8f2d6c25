/* Ops that read or write at positions given by a tensor: Gather, GatherElements, GatherNd, ScatterNd, ScatterElements,
 * OneHot, TopK. Indices count from the front; negative ones from the back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"
#include "op/families.h"
#include "kernel/move.h"
#include "op/rules.h"

/* ---- shared ---- */

static odlc_status check_indices(const struct infer *c, uint32_t i)
{
    enum dtype dtype = infer_in(c, i)->dtype;
    if (!dtype_is_int(dtype))
        return infer_error(c, "indices of type %s", dtype_info(dtype)->name);
    return ODLC_OK;
}

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

static const char *in_shape_text(const struct infer *c, uint32_t i)
{
    return shape_text(c->diags->arena, &infer_in(c, i)->shape);
}

/* to = a[0 … a_end) then b[b_from …). False when the rank does not fit. */
static bool join_shapes(const struct shape *a, uint32_t a_end, const struct shape *b, uint32_t b_from, struct shape *to)
{
    to->rank = 0;
    if (a_end + b->rank - b_from > MAX_RANK)
        return false;
    for (uint32_t i = 0; i < a_end; i++)
        to->dims[to->rank++] = a->dims[i];
    for (uint32_t i = b_from; i < b->rank; i++)
        to->dims[to->rank++] = b->dims[i];
    return true;
}

/* ---- Gather ---- */

static odlc_status infer_gather(const struct infer *c)
{
    const struct type *data = infer_in(c, 0), *indices = infer_in(c, 1);
    uint32_t axis;
    TRY(check_indices(c, 1));
    if (!node_axis(c->node, 0, data->shape.rank, &axis))
        return infer_error(c, "the axis is outside %s", in_shape_text(c, 0));
    struct shape head = {.rank = 0};
    c->out[0] = (struct type){.dtype = data->dtype};
    if (!join_shapes(&data->shape, axis, &indices->shape, 0, &head) ||
        !join_shapes(&head, head.rank, &data->shape, axis + 1, &c->out[0].shape))
        return infer_error(c, "indices of shape %s into %s give more than %d axes", in_shape_text(c, 1),
                           in_shape_text(c, 0), MAX_RANK);
    return ODLC_OK;
}

/* Indices of rank 1 keep the number of axes, so that the permutation of the data is that of the output. */
static bool permute_gather(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    return node_input(g, n, 1)->type->shape.rank == 1 && permute_axis(g, n, perm, out);
}

static odlc_status run_gather(const struct kernel *k)
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

static odlc_status check_elements(const struct infer *c)
{
    const struct shape *data = &infer_in(c, 0)->shape, *indices = &infer_in(c, 1)->shape;
    uint32_t axis;
    TRY(check_indices(c, 1));
    bool fits = node_axis(c->node, 0, data->rank, &axis) && data->rank == indices->rank;
    for (uint32_t i = 0; fits && i < data->rank; i++)
        fits = i == axis || indices->dims[i] <= data->dims[i];
    if (!fits)
        return infer_error(c, "indices of shape %s do not fit %s", in_shape_text(c, 1), in_shape_text(c, 0));
    return ODLC_OK;
}

static odlc_status infer_gather_elements(const struct infer *c)
{
    TRY(check_elements(c));
    c->out[0] = (struct type){.dtype = infer_in(c, 0)->dtype, .shape = infer_in(c, 1)->shape};
    return ODLC_OK;
}

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

static odlc_status run_gather_elements(const struct kernel *k)
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

enum { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX };

static odlc_status infer_scatter(const struct infer *c, const struct shape *updates, int64_t last_reduction)
{
    const struct type *data = infer_in(c, 0), *given = infer_in(c, 2);
    int64_t reduction = node_int(c->node, PARAM_reduction, SCATTER_NONE);
    if (!shape_equal(updates, &given->shape) || !can_stand_together(given->dtype, data->dtype))
        return infer_error(c, "updates are %s %s where %s %s is needed", dtype_info(given->dtype)->name,
                           in_shape_text(c, 2), dtype_info(data->dtype)->name, shape_text(c->diags->arena, updates));
    if (reduction < SCATTER_NONE || reduction > last_reduction ||
        (reduction != SCATTER_NONE && data->dtype == DT_STRING))
        return infer_error(c, "reduction %lld is not possible on %s", (long long)reduction,
                           dtype_info(data->dtype)->name);
    c->out[0] = *data;
    return ODLC_OK;
}

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

static odlc_status infer_scatter_elements(const struct infer *c)
{
    TRY(check_elements(c));
    return infer_scatter(c, &infer_in(c, 1)->shape, SCATTER_MAX);
}

static odlc_status run_scatter_elements(const struct kernel *k)
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

/* The slices that coordinates of `depth` values name, after the batch axes. */
struct slices {
    uint32_t batch_dims, depth;
    uint64_t per_batch;                        /* coordinates in one batch */
    uint64_t slice;                            /* elements in one */
    uint64_t batch_stride;                     /* elements of data in one batch */
    int64_t dims[MAX_RANK], strides[MAX_RANK]; /* of the axes that coordinates run over */
};

static bool slices_of(const struct shape *data, const struct shape *indices, int64_t batch_dims, struct slices *out)
{
    if (indices->rank == 0 || batch_dims < 0 || batch_dims >= min_i64(data->rank, indices->rank))
        return false;
    uint32_t batch = (uint32_t)batch_dims;
    int64_t depth = indices->dims[indices->rank - 1];
    if (depth < 1 || depth > data->rank - batch)
        return false;
    for (uint32_t i = 0; i < batch; i++)
        if (data->dims[i] != indices->dims[i])
            return false;
    int64_t strides[MAX_RANK];
    shape_strides(data, strides);
    out->batch_dims = batch;
    out->depth = (uint32_t)depth;
    out->per_batch = shape_count_range(indices, batch, indices->rank - 1);
    out->slice = shape_count_range(data, batch + out->depth, data->rank);
    out->batch_stride = shape_count_range(data, batch, data->rank);
    memcpy(out->dims, data->dims + batch, out->depth * sizeof *out->dims);
    memcpy(out->strides, strides + batch, out->depth * sizeof *out->strides);
    return true;
}

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

/* The shape of all slices together: what GatherNd gives and ScatterNd takes as updates. */
static odlc_status slices_shape(const struct infer *c, int64_t batch_dims, struct shape *out)
{
    const struct shape *data = &infer_in(c, 0)->shape, *indices = &infer_in(c, 1)->shape;
    struct slices s;
    TRY(check_indices(c, 1));
    if (!slices_of(data, indices, batch_dims, &s) ||
        !join_shapes(indices, indices->rank - 1, data, s.batch_dims + s.depth, out))
        return infer_error(c, "indices of shape %s do not fit %s", in_shape_text(c, 1), in_shape_text(c, 0));
    return ODLC_OK;
}

static odlc_status infer_gather_nd(const struct infer *c)
{
    c->out[0].dtype = infer_in(c, 0)->dtype;
    return slices_shape(c, node_int(c->node, PARAM_batch_dims, 0), &c->out[0].shape);
}

static odlc_status run_gather_nd(const struct kernel *k)
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

static odlc_status infer_scatter_nd(const struct infer *c)
{
    struct shape updates;
    TRY(slices_shape(c, 0, &updates));
    return infer_scatter(c, &updates, SCATTER_MUL);
}

static odlc_status run_scatter_nd(const struct kernel *k)
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

/* The output's type is that of on_value: float32 unless the node says otherwise. */
static odlc_status infer_one_hot(const struct infer *c)
{
    const struct shape *in = &infer_in(c, 0)->shape;
    const struct packed_param *on = node_param(c->node, PARAM_on_value), *off = node_param(c->node, PARAM_off_value);
    int64_t axis = node_int(c->node, PARAM_axis, in->rank), depth = node_int(c->node, PARAM_depth, 0);
    TRY(check_indices(c, 0));
    if (axis < 0 || axis > in->rank || in->rank == MAX_RANK || depth < 1)
        return infer_error(c, "%lld classes along axis %lld do not fit %s", (long long)depth, (long long)axis,
                           in_shape_text(c, 0));
    if (on && off && on->dtype != off->dtype)
        return infer_error(c, "on_value and off_value differ in type");
    struct shape head = {.rank = 0};
    struct shape hot = SHAPE(depth);
    c->out[0] = (struct type){.dtype = on ? on->dtype : DT_FLOAT32};
    if (!join_shapes(in, (uint32_t)axis, &hot, 0, &head) ||
        !join_shapes(&head, head.rank, in, (uint32_t)axis, &c->out[0].shape))
        return infer_error(c, "the result has more than %d axes", MAX_RANK);
    return ODLC_OK;
}

/* An index outside [-depth, depth) leaves its vector off. */
static odlc_status run_one_hot(const struct kernel *k)
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

static odlc_status infer_top_k(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    int64_t count = node_int(c->node, PARAM_k, 0);
    if (in->shape.rank == 0 || count < 1 || count > in->shape.dims[in->shape.rank - 1])
        return infer_error(c, "k = %lld does not fit %s", (long long)count, in_shape_text(c, 0));
    c->out[0] = *in;
    c->out[0].shape.dims[in->shape.rank - 1] = count;
    c->out[1] = (struct type){.dtype = DT_INT32, .shape = c->out[0].shape};
    return ODLC_OK;
}

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

static odlc_status run_top_k(const struct kernel *k)
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

/* ---- rows ---- */

static const struct param_def gather_params[] = {{PARAM_NAMED(axis), DT_INT32, PARAM_REQUIRED, false, false, 0}};
static const struct param_def gather_elements_params[] = {
    {PARAM_NAMED(axis), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def gather_nd_params[] = {
    {PARAM_NAMED(batch_dims), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def one_hot_params[] = {
    {PARAM_NAMED(depth), DT_UINT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(axis), DT_UINT32, PARAM_OPTIONAL, false, false, 0},
    {PARAM_NAMED(on_value), DT_NONE, PARAM_OPTIONAL, false, false, 0}, /* their type is that of the output */
    {PARAM_NAMED(off_value), DT_NONE, PARAM_OPTIONAL, false, false, 0},
};
static const struct param_def scatter_elements_params[] = {
    {PARAM_NAMED(axis), DT_UINT32, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(reduction), DT_UINT32, PARAM_DEFAULT, false, false, 0},
};
static const struct param_def scatter_nd_params[] = {
    {PARAM_NAMED(reduction), DT_UINT32, PARAM_DEFAULT, false, false, 0}};
static const struct param_def top_k_params[] = {
    {PARAM_NAMED(k), DT_UINT32, PARAM_REQUIRED, false, false, 0},
    {PARAM_NAMED(largest), DT_BOOL, PARAM_DEFAULT, false, false, 1},
};

#define ROW(type, ins, outs, param_list, infer_rule, run)                                                         \
    .id = OP_##type, .name = #type, .dlc_type = #type, .min_inputs = ins, .max_inputs = ins, .min_outputs = outs, \
    .max_outputs = outs, .params = param_list, .n_params = COUNT_OF(param_list), .infer = infer_rule, .kernel = run

const struct op op_rows_index[] = {
    {ROW(Gather, 2, 1, gather_params, infer_gather, run_gather), .compute = COMPUTE_MOVE, .permute = permute_gather,
     .permuted = 1},
    {ROW(GatherElements, 2, 1, gather_elements_params, infer_gather_elements, run_gather_elements),
     .compute = COMPUTE_MOVE, .permute = permute_axis},
    {ROW(GatherNd, 2, 1, gather_nd_params, infer_gather_nd, run_gather_nd), .compute = COMPUTE_MOVE},
    {ROW(OneHot, 1, 1, one_hot_params, infer_one_hot, run_one_hot), .compute = COMPUTE_MOVE},
    {ROW(ScatterElements, 3, 1, scatter_elements_params, infer_scatter_elements, run_scatter_elements),
     .compute = COMPUTE_MOVE, .permute = permute_axis},
    {ROW(ScatterNd, 3, 1, scatter_nd_params, infer_scatter_nd, run_scatter_nd), .compute = COMPUTE_MOVE},
    {ROW(TopK, 1, 2, top_k_params, infer_top_k, run_top_k), .compute = COMPUTE_WIDE},
};
const size_t op_rows_index_count = COUNT_OF(op_rows_index);
