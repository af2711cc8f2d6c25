/* SPDX-License-Identifier: Apache-2.0 */
/* Moving every element to where the result has the element: Reshape, Transpose and its kin,
 * Concat, Split, Tile. */
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/move.h"
#include "op/axes.h"
#include "op/rearrange.h"

/* ---- Reshape ---- */

odlc_status kernel_reshape(const struct kernel *k)
{
    if (k->out[0].data != k->in[0].data)
        memcpy(k->out[0].data, k->in[0].data, shape_count(&k->in[0].shape) * element_size(k->in[0].dtype));
    return ODLC_OK;
}

/* ---- Transpose, DepthToSpace, SpaceToDepth, ChannelShuffle ---- */

odlc_status kernel_rearrange(const struct kernel *k)
{
    struct rearrangement r;
    if (rearrangement_read(&r, k->node, &k->in[0].shape) ||
        shape_count(&k->out[0].shape) != shape_count(&k->in[0].shape))
        return ODLC_ERR_INVALID;
    const struct shape to = perm_apply(&r.perm, &r.parts);
    int64_t to_strides[MAX_RANK], from_strides[MAX_RANK];
    shape_strides(&to, to_strides);
    shape_strides(&r.parts, from_strides);
    struct move m = {.rank = r.perm.rank};
    for (uint32_t i = 0; i < m.rank; i++)
        m.axis[i] = (struct move_axis){to.dims[i], to_strides[i], from_strides[r.perm.axis[i]]};
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}

/* ---- Concat and Split: the same copy in two directions ---- */

/* Copies between a part and its place in the whole, `at` steps along axis. */
static void move_part(struct buffer *to, const struct buffer *from, const struct buffer *whole, uint32_t axis,
                      int64_t at)
{
    const struct buffer *part = whole == to ? from : to;
    if (shape_count(&part->shape) == 0)
        return;
    size_t size = element_size(whole->dtype);
    int64_t inner = (int64_t)shape_count_range(&whole->shape, axis + 1, whole->shape.rank);
    int64_t whole_row = whole->shape.dims[axis] * inner, part_row = part->shape.dims[axis] * inner;
    struct move m = {.rank = 2};
    m.axis[0] = (struct move_axis){(int64_t)shape_count_range(&whole->shape, 0, axis),
                                   whole == to ? whole_row : part_row, whole == to ? part_row : whole_row};
    m.axis[1] = (struct move_axis){part_row, 1, 1};
    uint64_t offset = (uint64_t)(at * inner) * size;
    uint8_t *target = (uint8_t *)to->data + (whole == to ? offset : 0);
    const uint8_t *source = (const uint8_t *)from->data + (whole == to ? 0 : offset);
    move_elements(&m, size, target, source);
}

odlc_status kernel_concat(const struct kernel *k)
{
    uint32_t axis;
    if (!node_axis(k->node, (int64_t)k->out[0].shape.rank - 1, k->out[0].shape.rank, &axis))
        return ODLC_ERR_INVALID;
    int64_t at = 0;
    for (uint32_t i = 0; i < k->n_in; i++) {
        move_part(&k->out[0], &k->in[i], &k->out[0], axis, at);
        at += k->in[i].shape.dims[axis];
    }
    return ODLC_OK;
}

odlc_status kernel_split(const struct kernel *k)
{
    uint32_t axis;
    if (!node_axis(k->node, 0, k->in[0].shape.rank, &axis))
        return ODLC_ERR_INVALID;
    int64_t at = 0;
    for (uint32_t i = 0; i < k->n_out; i++) {
        if (k->out[i].data)
            move_part(&k->out[i], &k->in[0], &k->in[0], axis, at);
        at += k->out[i].shape.dims[axis];
    }
    return ODLC_OK;
}

/* ---- Tile ---- */

/* Each axis is walked twice: over the repetitions, which leave the source where it is, and over its elements. */
odlc_status kernel_tile(const struct kernel *k)
{
    const struct shape *in = &k->in[0].shape;
    int64_t to[MAX_RANK], from[MAX_RANK];
    shape_strides(&k->out[0].shape, to);
    shape_strides(in, from);
    struct move m = {.rank = 2 * in->rank};
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t times = in->dims[i] ? k->out[0].shape.dims[i] / in->dims[i] : 0;
        m.axis[2 * i] = (struct move_axis){times, in->dims[i] * to[i], 0};
        m.axis[2 * i + 1] = (struct move_axis){in->dims[i], to[i], from[i]};
    }
    move_elements(&m, element_size(k->in[0].dtype), k->out[0].data, k->in[0].data);
    return ODLC_OK;
}
