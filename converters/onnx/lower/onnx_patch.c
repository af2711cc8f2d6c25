/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Col2Im. The container's op adds the patches of images; those of volumes and more are added element by element.
 */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

#define VALUE_MAX ((int64_t)1 << 30)

struct patches {
    tensor_id x;
    uint32_t axes;
    int64_t batch, channels, taps, windows;
    int64_t image[MAX_RANK], block[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK], pad[MAX_RANK][2], out[MAX_RANK];
};

static odlc_status read_extents(const struct lower *l, uint32_t input, const char *name, uint32_t *count,
                                int64_t out[MAX_RANK])
{
    const int64_t *given;
    TRY(lower_const_ints(l, input, name, &given, count));
    if (*count < 1 || *count > MAX_RANK - 2)
        return lower_unsupported(l, name, NULL, "%s has %u elements", name, *count);
    for (uint32_t i = 0; i < *count; i++) {
        if (given[i] < 1 || given[i] > VALUE_MAX)
            return lower_invalid(l, name, NULL, "%s has %lld, which is out of range", name, (long long)given[i]);
        out[i] = given[i];
    }
    return ODLC_OK;
}

/* An attribute that lists `count` integers, or NULL. */
static odlc_status read_list(const struct lower *l, const char *name, uint32_t count, int64_t low, const int64_t **out)
{
    uint32_t given;
    TRY(lower_attr_ints(l, name, out, &given));
    if (*out && given != count)
        return lower_invalid(l, name, NULL, "%s has %u elements instead of %u", name, given, count);
    for (uint32_t i = 0; *out && i < count; i++)
        if ((*out)[i] < low || (*out)[i] > VALUE_MAX)
            return lower_invalid(l, name, NULL, "%s has %lld, which is out of range", name, (long long)(*out)[i]);
    return ODLC_OK;
}

static odlc_status read_windows(const struct lower *l, struct patches *p)
{
    const int64_t *strides, *dilations, *pads;
    uint32_t count;
    TRY(read_extents(l, 1, "image_shape", &p->axes, p->image));
    TRY(read_extents(l, 2, "block_shape", &count, p->block));
    if (count != p->axes)
        return lower_invalid(l, "block_shape", NULL, "a block of %u axes for an image of %u", count, p->axes);
    TRY(read_list(l, "strides", p->axes, 1, &strides));
    TRY(read_list(l, "dilations", p->axes, 1, &dilations));
    TRY(read_list(l, "pads", 2 * p->axes, 0, &pads));
    p->taps = p->windows = 1;
    for (uint32_t i = 0; i < p->axes; i++) {
        p->stride[i] = strides ? strides[i] : 1;
        p->dilation[i] = dilations ? dilations[i] : 1;
        p->pad[i][0] = pads ? pads[i] : 0;
        p->pad[i][1] = pads ? pads[p->axes + i] : 0;
        int64_t free = p->image[i] + p->pad[i][0] + p->pad[i][1] - (p->block[i] - 1) * p->dilation[i] - 1;
        if (free < 0)
            return lower_invalid(l, "block_shape", NULL, "the block is larger than the padded image");
        p->out[i] = free / p->stride[i] + 1;
        if (ckd_mul(&p->taps, p->taps, p->block[i]) || ckd_mul(&p->windows, p->windows, p->out[i]))
            return lower_invalid(l, "block_shape", NULL, "there are too many blocks");
    }
    return ODLC_OK;
}

static odlc_status read_patches(const struct lower *l, struct patches *p)
{
    TRY(lower_need(l, 0, "input", &p->x));
    TRY(read_windows(l, p));
    const struct type *x = build_type(l->b, p->x);
    if (x->shape.rank != 3 || x->shape.dims[1] % p->taps != 0 || x->shape.dims[2] != p->windows)
        return lower_invalid(l, NULL, NULL, "the input %s does not hold %lld blocks of %lld elements per channel",
                             shape_text(l->diags->arena, &x->shape), (long long)p->windows, (long long)p->taps);
    if (x->dtype == DT_STRING || x->dtype == DT_BOOL)
        return lower_unsupported(l, NULL, NULL, "elements of type %s cannot be added", dtype_info(x->dtype)->name);
    p->batch = x->shape.dims[0];
    p->channels = x->shape.dims[1] / p->taps;
    return ODLC_OK;
}

static struct shape result_shape(const struct patches *p)
{
    struct shape shape = {.rank = p->axes + 2, .dims = {p->batch, p->channels}};
    for (uint32_t i = 0; i < p->axes; i++)
        shape.dims[i + 2] = p->image[i];
    return shape;
}

/* ---- one or two axes: the container's op ---- */

/* A line is an image of one row. */
static void make_image(struct patches *p)
{
    if (p->axes == 2)
        return;
    p->axes = 2;
    p->image[1] = p->image[0];
    p->block[1] = p->block[0];
    p->stride[1] = p->stride[0];
    p->dilation[1] = p->dilation[0];
    p->pad[1][0] = p->pad[0][0];
    p->pad[1][1] = p->pad[0][1];
    p->image[0] = p->block[0] = p->stride[0] = p->dilation[0] = 1;
    p->pad[0][0] = p->pad[0][1] = 0;
}

static odlc_status native_patches(struct lower *l, struct patches *p)
{
    const struct shape shape = result_shape(p);
    bool line = p->axes == 1;
    make_image(p);
    struct type type = {build_type(l->b, p->x)->dtype, SHAPE(p->batch, p->image[0], p->image[1], p->channels)};
    struct shape pairs = SHAPE(2, 2);
    const char *name = step_name(l, "nhwc");
    tensor_id y;
    build_op(l->b, OP_Col2Im, fw_node_label(l->node));
    build_in(l->b, p->x);
    build_ints(l->b, PARAM_kernel_size, p->block, 2);
    build_ints(l->b, PARAM_stride, p->stride, 2);
    build_tensor_ints(l->b, PARAM_pad_amount, &pairs, p->pad[0]);
    build_ints(l->b, PARAM_dilation, p->dilation, 2);
    TRY(build_end_typed(l->b, &name, &type, 1, &y));
    TRY(build_to_channels_first(l->b, y, line ? step_name(l, "nchw") : lower_out_name(l, 0), &l->out[0]));
    return line ? build_reshape(l->b, l->out[0], &shape, lower_out_name(l, 0), &l->out[0]) : ODLC_OK;
}

/* ---- more axes ---- */

/* Where in the image each (element of the block, block) belongs; what falls into the padding, behind its end. */
static void places(const struct patches *p, int64_t elements, int64_t *place)
{
    for (int64_t tap = 0; tap < p->taps; tap++)
        for (int64_t window = 0; window < p->windows; window++, place++) {
            int64_t t = tap, w = window, inner = 1;
            *place = 0;
            for (uint32_t i = p->axes; i-- > 0; t /= p->block[i], w /= p->out[i]) {
                int64_t at = w % p->out[i] * p->stride[i] + t % p->block[i] * p->dilation[i] - p->pad[i][0];
                if (at < 0 || at >= p->image[i])
                    *place = elements;
                if (*place < elements)
                    *place += at * inner;
                inner *= p->image[i];
            }
        }
}

/* Rows of one value per batch element and channel are added up in an image of rows, whose last one is dropped. */
static odlc_status scatter_patches(struct lower *l, const struct patches *p)
{
    const struct shape shape = result_shape(p);
    TRY(lower_check_shape(l, "image_shape", &shape));
    enum dtype dtype = build_type(l->b, p->x)->dtype;
    int64_t columns = p->batch * p->channels, count = p->taps * p->windows, *place;
    int64_t elements = (int64_t)shape_count_range(&shape, 2, shape.rank);
    if (elements >= INT32_MAX)
        return lower_unsupported(l, "image_shape", NULL, "positions in an image of %lld elements are beyond 32 bits",
                                 (long long)elements);
    TRY(lower_table(l, (uint64_t)count, sizeof *place, &place));
    places(p, elements, place);
    struct shape lists = SHAPE(columns, count), indices = SHAPE(count, 1), rows = SHAPE(elements + 1, columns);
    struct perm swap = {.rank = 2, .axis = {1, 0}};
    struct emit s = {.l = l};
    tensor_id values = emit_reshape(&s, p->x, &lists), sum;
    values = emit_transpose(&s, values, &swap);
    TRY(s.status);
    build_op(l->b, OP_ScatterNd, fw_node_label(l->node));
    build_in(l->b, lower_splat(l, step_name(l, "empty"), dtype, &rows, 0));
    build_in(l->b, build_const_ints(l->b, step_name(l, "places"), DT_INT32, &indices, place));
    build_in(l->b, values);
    build_int(l->b, PARAM_reduction, 1);
    TRY(build_end(l->b, step_name(l, "sums"), &sum));
    sum = emit_slice(&s, sum, 0, 0, elements);
    sum = emit_transpose(&s, sum, &swap);
    TRY(s.status);
    return build_reshape(l->b, sum, &shape, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_col2im(struct lower *l)
{
    struct patches p;
    TRY(read_patches(l, &p));
    return p.axes <= 2 ? native_patches(l, &p) : scatter_patches(l, &p);
}
