/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping a part of a tensor or putting one into a larger one: StridedSlice, Pad. */
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/move.h"
#include "op/ranges.h"

/* ---- StridedSlice ---- */

odlc_status kernel_strided_slice(const struct kernel *k)
{
    const struct shape *in = &k->in[0].shape;
    struct range ranges[2 * MAX_RANK];
    uint32_t count;
    if (!ranges_read(k->node, in, ranges, &count))
        return ODLC_ERR_INVALID;
    if (shape_count(&k->out[0].shape) == 0)
        return ODLC_OK;
    int64_t from[MAX_RANK], to = 1, offset = 0;
    shape_strides(in, from);
    struct move m = {.rank = 0};
    struct move_axis axes[MAX_RANK];
    uint32_t axis = in->rank;
    for (uint32_t i = count; i-- > 0;) {
        if (ranges[i].added)
            continue;
        axis--;
        offset += ranges[i].begin * from[axis];
        axes[axis] = (struct move_axis){ranges[i].count, to, ranges[i].stride * from[axis]};
        to *= ranges[i].count;
    }
    for (; axis < in->rank; axis++)
        m.axis[m.rank++] = axes[axis]; /* cppcheck-suppress uninitvar ; the loop before began at the last of them */
    size_t size = element_size(k->in[0].dtype);
    move_elements(&m, size, k->out[0].data, (const uint8_t *)k->in[0].data + (uint64_t)offset * size);
    return ODLC_OK;
}

/* ---- Pad ---- */

/* The input index that output index i of an axis shows, or -1 for the constant. */
static int64_t pad_source(int64_t scheme, int64_t i, int64_t before, int64_t dim)
{
    int64_t at = i - before;
    if (at >= 0 && at < dim)
        return at;
    switch (scheme) {
    case PAD_SYMMETRIC:
        return at < 0 ? -at - 1 : 2 * dim - 1 - at;
    case PAD_REFLECT:
        return at < 0 ? -at : 2 * dim - 2 - at;
    case PAD_EDGE:
        return at < 0 ? 0 : dim - 1;
    default:
        return -1;
    }
}

/* A row along the last axis: of the source, or of the constant where source is NULL. */
static void pad_row(uint8_t *to, const uint8_t *source, const int64_t *map, int64_t count, const void *constant,
                    size_t size)
{
    for (int64_t j = 0; j < count;) {
        int64_t run = 1, at = source ? map[j] : -1;
        if (at < 0)
            memcpy(to, constant, size);
        else {
            while (j + run < count && map[j + run] == at + run)
                run++;
            memcpy(to, source + (uint64_t)at * size, (uint64_t)run * size);
        }
        to += (uint64_t)run * size;
        j += run;
    }
}

/* Output index → input index per axis, in scratch. */
static void pad_maps(const struct kernel *k, int64_t *maps[MAX_RANK])
{
    uint32_t count;
    const int64_t *amount = node_ints(k->node, PARAM_pad_amount, &count);
    int64_t scheme = node_int(k->node, PARAM_scheme, PAD_CONSTANT);
    for (uint32_t axis = 0; axis < k->in[0].shape.rank; axis++) {
        maps[axis] = arena_array(k->scratch, int64_t, (size_t)k->out[0].shape.dims[axis]);
        for (int64_t i = 0; i < k->out[0].shape.dims[axis]; i++)
            maps[axis][i] = pad_source(scheme, i, amount[2 * axis], k->in[0].shape.dims[axis]);
    }
}

odlc_status kernel_pad(const struct kernel *k)
{
    const struct shape *in = &k->in[0].shape, *out = &k->out[0].shape;
    size_t size = element_size(k->out[0].dtype);
    uint8_t constant[8] = {0};
    if (node_int(k->node, PARAM_scheme, PAD_CONSTANT) == PAD_CONSTANT) {
        if (k->out[0].dtype == DT_STRING)
            return ODLC_ERR_UNSUPPORTED;
        param_element(&k->out[0], node_param(k->node, PARAM_pad_constant_value), 0, constant);
    }
    if (shape_count(out) == 0)
        return ODLC_OK;
    if (out->rank == 0) {
        memcpy(k->out[0].data, k->in[0].data, size);
        return ODLC_OK;
    }
    uint32_t last = out->rank - 1;
    int64_t *maps[MAX_RANK], strides[MAX_RANK];
    pad_maps(k, maps);
    shape_strides(in, strides);
    uint64_t rows = shape_count_range(out, 0, last);
    uint8_t *to = k->out[0].data;
    for (uint64_t row = 0; row < rows; row++, to += (uint64_t)out->dims[last] * size) {
        int64_t offset = 0;
        uint64_t rest = row;
        for (uint32_t axis = last; axis-- > 0 && offset >= 0; rest /= (uint64_t)out->dims[axis]) {
            int64_t at = maps[axis][rest % (uint64_t)out->dims[axis]];
            offset = at < 0 ? -1 : offset + at * strides[axis];
        }
        const uint8_t *source = offset < 0 ? NULL : (const uint8_t *)k->in[0].data + (uint64_t)offset * size;
        pad_row(to, source, maps[last], out->dims[last], constant, size);
    }
    return ODLC_OK;
}
