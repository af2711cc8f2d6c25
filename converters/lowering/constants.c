/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/constants.h"

#include <math.h>

#include "converters/lowering/shapes.h"

/* ---- giving ---- */

void lower_give_view(struct lower *l, uint32_t i, const struct view *view)
{
    if (i < l->n_out)
        l->out[i] = graph_add_constant(l->b->graph, lower_out_name(l, i), view->dtype, view);
}

void lower_give_ints(struct lower *l, uint32_t i, enum dtype dtype, const struct shape *shape, const int64_t *values)
{
    if (i < l->n_out)
        l->out[i] = build_const_ints(l->b, lower_out_name(l, i), dtype, shape, values);
}

static void give_sizes(struct lower *l, uint32_t i, uint64_t sizes)
{
    if (i < l->n_out && sizes)
        build_set_filler(l->b, l->out[i], (struct filler){.sizes = sizes});
}

void lower_give_dims(struct lower *l, uint32_t i, enum dtype dtype, tensor_id of, uint32_t begin, uint32_t end)
{
    const struct shape shape = build_type(l->b, of)->shape, list = SHAPE(end - begin);
    unsigned axes = build_filler(l->b, of).axes;
    lower_give_ints(l, i, dtype, &list, shape.dims + begin);
    give_sizes(l, i, axes >> begin & ((1u << (end - begin)) - 1));
}

void lower_give_size(struct lower *l, enum dtype dtype, tensor_id of)
{
    struct shape scalar = {.rank = 0};
    int64_t count = (int64_t)shape_count(&build_type(l->b, of)->shape);
    lower_give_ints(l, 0, dtype, &scalar, &count);
    give_sizes(l, 0, build_filler(l->b, of).axes != 0);
}

void lower_give_filled(struct lower *l, uint32_t i, const struct view *element, const struct shape *shape)
{
    struct view view = *element;
    view.splat = true;
    view.shape = *shape;
    view.perm = perm_identity(shape->rank);
    lower_give_view(l, i, &view);
}

/* ---- ranges ---- */

odlc_status lower_give_steps(struct lower *l, enum dtype dtype, double start, double step, size_t count)
{
    size_t size = dtype_size(dtype);
    uint8_t *elements;
    TRY(lower_table(l, count, size, &elements));
    for (size_t i = 0; i < count; i++) {
        double value = start + (double)i * step;
        convert_elements(elements + i * size, dtype, &value, DT_FLOAT64, 1);
    }
    struct shape shape = SHAPE((int64_t)count);
    struct view view = view_of(elements, dtype, &shape);
    lower_give_view(l, 0, &view);
    return ODLC_OK;
}

odlc_status lower_give_float_range(struct lower *l, enum dtype dtype, const double range[3], double count)
{
    if (range[2] == 0 || !isfinite(count))
        return lower_invalid(l, "delta", NULL, "the range from %g to %g by %g has no end", range[0], range[1],
                             range[2]);
    if (count > INT32_MAX)
        return lower_limit(l, "limit", NULL, "the range from %g to %g by %g is too long: %g elements", range[0],
                           range[1], range[2], count);
    return lower_give_steps(l, dtype, range[0], range[2], count > 0 ? (size_t)count : 0);
}

odlc_status lower_give_range(struct lower *l, enum dtype dtype, int64_t start, int64_t limit, int64_t delta)
{
    bool down = delta < 0;
    uint64_t step = down ? -(uint64_t)delta : (uint64_t)delta;
    uint64_t way = down ? (uint64_t)start - (uint64_t)limit : (uint64_t)limit - (uint64_t)start;
    uint64_t count = step && (down ? start > limit : start < limit) ? (way - 1) / step + 1 : 0;
    if (step == 0)
        return lower_invalid(l, "delta", NULL, "the range from %lld to %lld by %lld has no end", (long long)start,
                             (long long)limit, (long long)delta);
    if (count > INT32_MAX)
        return lower_limit(l, "limit", NULL, "the range from %lld to %lld by %lld is too long: %llu elements",
                           (long long)start, (long long)limit, (long long)delta, (unsigned long long)count);
    int64_t *values;
    TRY(lower_table(l, count, sizeof *values, &values));
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)((uint64_t)start + i * (uint64_t)delta);
    struct shape shape = SHAPE((int64_t)count);
    lower_give_ints(l, 0, dtype, &shape, values);
    return ODLC_OK;
}

odlc_status lower_one_int(const struct lower *l, uint32_t i, const char *what, int64_t *out)
{
    const int64_t *value;
    uint32_t count;
    TRY(lower_const_ints(l, i, what, &value, &count));
    if (count != 1)
        return lower_invalid(l, what, NULL, "%s is not one number", what);
    *out = value[0];
    return ODLC_OK;
}

odlc_status lower_one_float(const struct lower *l, uint32_t i, const char *what, double *out)
{
    const double *value;
    uint32_t count;
    TRY(lower_const_floats(l, i, what, &value, &count));
    if (count != 1)
        return lower_invalid(l, what, NULL, "%s is not one number", what);
    *out = value[0];
    return ODLC_OK;
}
