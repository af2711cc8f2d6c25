/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators that move the blocks of images: between space and depth, space and batch. */
#include <string.h>

#include "converters/lowering/emit.h"
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/windows.h"

/* Larger ones cannot be right, and their sums and products stay within int64. */
#define VALUE_MAX ((int64_t)1 << 30)
#define IMAGE_AXES 2 /* of blocks that the container's ops have */
#define BLOCK_AXES 3

static odlc_status read_block_size(const struct lower *l, int64_t *out)
{
    TRY(lower_attr_int(l, "block_size", 0, out));
    if (*out < 1 || *out > INT16_MAX)
        return lower_invalid(l, "block_size", NULL, "block_size is %lld", (long long)*out);
    return ODLC_OK;
}

/* DepthToSpace and SpaceToDepth, which the container has under the same names. */
odlc_status tf_depth_blocks(struct lower *l)
{
    int64_t block;
    tensor_id x;
    bool first;
    TRY(lower_need(l, 0, "input", &x));
    TRY(tf_channels_first(l, &first));
    TRY(read_block_size(l, &block));
    if (build_rank(l->b, x) != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes",
                             shape_text(l->diags->arena, &build_type(l->b, x)->shape));
    const int64_t size[] = {block, block};
    TRY(tf_image(l, first, x, &x));
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, x);
    build_ints(l->b, PARAM_block_size, size, COUNT_OF(size));
    build_int(l->b, PARAM_mode, 0);
    return tf_end_image(l, first);
}

/* ---- space and batch ---- */

struct blocks {
    tensor_id x;
    uint32_t axes; /* the blocks' axes follow the batch */
    int64_t size[BLOCK_AXES];
    int64_t border[BLOCK_AXES][2]; /* what is added to the space, or cut off it */
};

/* The pairs in input `input`. */
static odlc_status read_border(const struct lower *l, uint32_t input, const char *name, struct blocks *b)
{
    const int64_t *pairs;
    uint32_t count;
    TRY(lower_const_ints(l, input, name, &pairs, &count));
    if (count != 2 * b->axes)
        return lower_invalid(l, NULL, NULL, "%s has %u elements instead of %u", name, count, 2 * b->axes);
    for (uint32_t i = 0; i < count; i++) {
        if (pairs[i] < 0 || pairs[i] > VALUE_MAX)
            return lower_invalid(l, NULL, NULL, "%s has %lld, which is out of range", name, (long long)pairs[i]);
        b->border[i / 2][i % 2] = pairs[i];
    }
    return ODLC_OK;
}

/* Of the older operators one number for two axes is an attribute; of the newer ones a list is input 1. */
static odlc_status read_blocks(struct lower *l, const char *border, struct blocks *b)
{
    const int64_t *sizes;
    int64_t block;
    *b = (struct blocks){.axes = 2};
    TRY(lower_need(l, 0, "input", &b->x));
    if (l->n_in == 2) {
        TRY(read_block_size(l, &block));
        b->size[0] = b->size[1] = block;
    } else {
        TRY(lower_const_ints(l, 1, "block_shape", &sizes, &b->axes));
        if (b->axes < 1 || b->axes > BLOCK_AXES)
            return lower_unsupported(l, NULL, NULL, "blocks of %u axes are not supported", b->axes);
        memcpy(b->size, sizes, b->axes * sizeof *sizes);
    }
    for (uint32_t i = 0; i < b->axes; i++)
        if (b->size[i] < 1 || b->size[i] > INT16_MAX)
            return lower_invalid(l, NULL, NULL, "a block of %lld elements is not possible", (long long)b->size[i]);
    if (build_rank(l->b, b->x) < b->axes + 1)
        return lower_invalid(l, NULL, NULL, "the input %s does not have %u axes behind the batch",
                             shape_text(l->diags->arena, &build_type(l->b, b->x)->shape), b->axes);
    return read_border(l, l->n_in == 2 ? 1 : 2, border, b);
}

/* [batch, rows, columns, the rest], where there is one axis of blocks its rows are 1. */
static struct shape image_shape(const struct shape *in, const struct blocks *b)
{
    struct shape image = SHAPE(in->dims[0], b->axes == 1 ? 1 : in->dims[1], in->dims[b->axes], 1);
    image.dims[3] = (int64_t)shape_count_range(in, b->axes + 1, in->rank);
    return image;
}

/* The container's op has two axes of blocks, whose result is an image again. */
static odlc_status lower_blocks(struct lower *l, const struct blocks *b, enum param_id border)
{
    const struct shape in = build_type(l->b, b->x)->shape, image = image_shape(&in, b);
    uint32_t added = IMAGE_AXES - b->axes;
    int64_t size[IMAGE_AXES] = {1, 1}, pairs[IMAGE_AXES][2] = {{0}};
    struct shape square = SHAPE(IMAGE_AXES, 2), shape = in;
    bool same = shape_equal(&in, &image);
    tensor_id x = b->x, y;
    if (!same)
        TRY(build_reshape(l->b, x, &image, step_name(l, "image"), &x));
    memcpy(size + added, b->size, b->axes * sizeof *size);
    memcpy(pairs + added, b->border, b->axes * sizeof *pairs);
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, x);
    build_ints(l->b, PARAM_block_size, size, IMAGE_AXES);
    build_tensor_ints(l->b, border, &square, pairs[0]);
    if (same)
        return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
    TRY(build_end(l->b, step_name(l, "blocks"), &y));
    const int64_t *dims = build_type(l->b, y)->shape.dims;
    shape.dims[0] = dims[0];
    memcpy(shape.dims + 1, dims + 1 + added, b->axes * sizeof *dims);
    return build_reshape(l->b, y, &shape, lower_out_name(l, 0), &l->out[0]);
}

/* ---- blocks of volumes, for which there is no op: by Reshape and Transpose ---- */

/* The batch, each axis of blocks as a number of blocks and their size, and the rest; or the sizes in front. */
static struct shape parts_shape(const struct shape *in, const struct blocks *b, bool sizes_first)
{
    struct shape parts = {.rank = 2 * b->axes + 2};
    const uint32_t last = parts.rank - 1;
    parts.dims[last] = (int64_t)shape_count_range(in, b->axes + 1, in->rank);
    parts.dims[sizes_first ? b->axes : 0] = in->dims[0];
    for (uint32_t i = 0; i < b->axes; i++) {
        parts.dims[sizes_first ? i : 2 + 2 * i] = b->size[i];
        parts.dims[sizes_first ? b->axes + 1 + i : 1 + 2 * i] = in->dims[1 + i];
    }
    return parts;
}

/* From the order of the blocks in space to that of the batch. */
static struct perm to_batch_order(const struct blocks *b)
{
    struct perm perm = perm_identity(2 * b->axes + 2);
    perm.axis[b->axes] = 0;
    for (uint32_t i = 0; i < b->axes; i++) {
        perm.axis[i] = (uint8_t)(2 + 2 * i);
        perm.axis[b->axes + 1 + i] = (uint8_t)(1 + 2 * i);
    }
    return perm;
}

static int64_t block_elements(const struct blocks *b)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < b->axes; i++)
        count *= b->size[i];
    return count;
}

static odlc_status space_to_batch_by_steps(struct lower *l, const struct blocks *b)
{
    struct emit s = {.l = l};
    struct pads p = {.mode = MODE_CONSTANT};
    const struct perm order = to_batch_order(b);
    tensor_id x;
    for (uint32_t i = 0; i < b->axes; i++) {
        p.before[1 + i] = b->border[i][0];
        p.after[1 + i] = b->border[i][1];
    }
    TRY(lower_padded(l, b->x, &p, step_name(l, "padded"), &x));
    struct shape space = build_type(l->b, x)->shape, batch = space;
    batch.dims[0] *= block_elements(b);
    for (uint32_t i = 0; i < b->axes; i++) {
        if (space.dims[1 + i] % b->size[i] != 0)
            return lower_invalid(l, "block_shape", NULL, "%lld elements are no blocks of %lld",
                                 (long long)space.dims[1 + i], (long long)b->size[i]);
        space.dims[1 + i] /= b->size[i];
        batch.dims[1 + i] = space.dims[1 + i];
    }
    const struct shape parts = parts_shape(&space, b, false);
    x = emit_transpose(&s, emit_reshape(&s, x, &parts), &order);
    return emit_give(&s, 0, emit_reshape(&s, x, &batch));
}

static odlc_status batch_to_space_by_steps(struct lower *l, const struct blocks *b)
{
    struct emit s = {.l = l};
    struct shape space = build_type(l->b, b->x)->shape;
    const struct perm order = to_batch_order(b), back = perm_inverse(&order);
    if (space.dims[0] % block_elements(b) != 0)
        return lower_invalid(l, "block_shape", NULL, "%lld elements of the batch are no blocks of %lld",
                             (long long)space.dims[0], (long long)block_elements(b));
    space.dims[0] /= block_elements(b);
    const struct shape parts = parts_shape(&space, b, true);
    tensor_id x = emit_transpose(&s, emit_reshape(&s, b->x, &parts), &back);
    for (uint32_t i = 0; i < b->axes; i++)
        space.dims[1 + i] *= b->size[i];
    x = emit_reshape(&s, x, &space);
    for (uint32_t i = 0; i < b->axes; i++) {
        const int64_t dim = space.dims[1 + i], begin = b->border[i][0], end = dim - b->border[i][1];
        if (begin > end)
            return lower_invalid(l, "crops", NULL, "crops of %lld and %lld elements of %lld", (long long)begin,
                                 (long long)b->border[i][1], (long long)dim);
        x = emit_slice(&s, x, 1 + i, begin, end);
    }
    return emit_give(&s, 0, x);
}

odlc_status tf_space_to_batch(struct lower *l)
{
    struct blocks b;
    TRY(read_blocks(l, "paddings", &b));
    return b.axes > IMAGE_AXES ? space_to_batch_by_steps(l, &b) : lower_blocks(l, &b, PARAM_pad_amount);
}

odlc_status tf_batch_to_space(struct lower *l)
{
    struct blocks b;
    TRY(read_blocks(l, "crops", &b));
    return b.axes > IMAGE_AXES ? batch_to_space_by_steps(l, &b) : lower_blocks(l, &b, PARAM_crops);
}
