/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX DeformConv: where each kernel element reads is moved by an offset. The elements under all windows are sampled
 * first, and laid out one window after the other; a convolution whose windows do not overlap does the rest. */
#include "converters/onnx/lower/onnx_conv.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/sample.h"

struct deform {
    struct conv_operands c;
    uint32_t axes; /* the model's */
    int64_t batch, offset_groups, taps;
    int64_t out[SPATIAL_MAX], kernel[SPATIAL_MAX]; /* of the model's axes */
};

/* ---- what is given ---- */

static odlc_status read_geometry(struct lower *l, struct deform *d)
{
    TRY(conv_read_operands(l, &d->c));
    TRY(conv_check_weights(l, &d->c));
    TRY(lower_attr_int(l, "offset_group", 1, &d->offset_groups));
    const struct spatial *s = &d->c.s;
    if (d->offset_groups < 1 || d->c.channels % d->offset_groups != 0)
        return lower_invalid(l, "offset_group", NULL, "%lld channels cannot be divided into %lld groups",
                             (long long)d->c.channels, (long long)d->offset_groups);
    d->batch = build_type(l->b, d->c.x)->shape.dims[0];
    d->axes = s->axes;
    d->taps = 1;
    for (uint32_t i = 0; i < d->axes; i++) {
        int64_t free = s->in[i] + s->pad[i][0] + s->pad[i][1] - spatial_reach(s, i);
        if (free < 0 || s->in[i] < 1)
            return lower_invalid(l, "kernel_shape", NULL, "the kernel is larger than the padded input");
        d->out[i] = free / s->stride[i] + 1;
        d->kernel[i] = s->kernel[i];
        if (ckd_mul(&d->taps, d->taps, s->kernel[i]))
            return lower_invalid(l, "kernel_shape", NULL, "the kernel has too many elements");
    }
    return ODLC_OK;
}

/* Offsets and mask are [batch, offset groups · kernel elements · values, out…]. */
static odlc_status check_values(const struct lower *l, const struct deform *d, tensor_id given, const char *what,
                                int64_t values)
{
    struct shape expected = {.rank = d->axes + 2, .dims = {d->batch}};
    bool fits =
        !ckd_mul(&expected.dims[1], d->offset_groups, d->taps) && !ckd_mul(&expected.dims[1], expected.dims[1], values);
    for (uint32_t i = 0; i < d->axes; i++)
        expected.dims[i + 2] = d->out[i];
    const struct shape *shape = &build_type(l->b, given)->shape;
    if (!fits || !shape_equal(shape, &expected))
        return lower_invalid(l, NULL, NULL, "%s is %s where %s is needed", what, shape_text(l->diags->arena, shape),
                             shape_text(l->diags->arena, &expected));
    return ODLC_OK;
}

/* ---- steps ---- */

/* → [batch · offset groups, out · kernel of each axis…, values], windows side by side. */
static tensor_id side_by_side(struct emit *s, const struct deform *d, tensor_id given, int64_t values)
{
    uint32_t n = d->axes;
    struct shape apart = {.rank = 2 + 2 * n, .dims = {d->batch * d->offset_groups}}, joined = {.rank = 1};
    struct perm perm = {.rank = apart.rank};
    apart.dims[n + 1] = values;
    joined.dims[0] = apart.dims[0];
    if (n == 1)
        joined.dims[joined.rank++] = 1;
    for (uint32_t i = 0; i < n; i++) {
        apart.dims[1 + i] = d->kernel[i];
        apart.dims[n + 2 + i] = d->out[i];
        perm.axis[1 + 2 * i] = (uint8_t)(n + 2 + i);
        perm.axis[2 + 2 * i] = (uint8_t)(1 + i);
        joined.dims[joined.rank++] = d->out[i] * d->kernel[i];
    }
    perm.axis[2 * n + 1] = (uint8_t)(n + 1);
    joined.dims[joined.rank++] = values;
    given = emit_reshape(s, given, &apart);
    given = emit_transpose(s, given, &perm);
    return emit_reshape(s, given, &joined);
}

/* Offsets are listed from the outermost axis to the innermost, coordinates the other way round. */
static tensor_id as_coordinates(struct emit *s, tensor_id offsets)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, offsets);
    uint32_t last = type.shape.rank - 1;
    int64_t count = type.shape.dims[last];
    if (count == 1) {
        tensor_id rows = lower_splat(s->l, step_name(s->l, "rows"), type.dtype, &type.shape, 0);
        const tensor_id parts[] = {offsets, rows};
        return emit_concat(s, parts, 2, last);
    }
    const int64_t reversed[] = {count - 1, count - 2, count - 3};
    tensor_id out = NO_TENSOR;
    s->status = lower_gather_positions(s->l, offsets, last, reversed, count, step_name(s->l, "coordinates"), &out);
    return out;
}

/* The normalized positions of all kernel elements without offsets: [1, out · kernel of each axis…, coordinates]. */
static odlc_status regular_grid(struct lower *l, const struct deform *d, const struct shape *grid, enum dtype dtype,
                                tensor_id *out)
{
    const struct spatial *w = &d->c.s;
    struct shape shape = *grid;
    shape.dims[0] = 1;
    uint32_t axes = shape.rank - 2;
    uint64_t count = shape_count(&shape);
    double *values;
    TRY(lower_table(l, count, sizeof *values, &values));
    for (uint32_t c = 0; c < axes; c++) {
        uint32_t axis = axes - 1 - c;
        struct normalizer norm = sample_normalizer(w->in[axis], false);
        uint64_t inner = shape_count_range(&shape, axis + 2, shape.rank);
        for (uint64_t at = c; at < count; at += axes) {
            int64_t position = (int64_t)(at / inner) % shape.dims[axis + 1];
            int64_t pixel = position / w->kernel[axis] * w->stride[axis] +
                            position % w->kernel[axis] * w->dilation[axis] - w->pad[axis][0];
            values[at] = (double)pixel * norm.scale + norm.offset;
        }
    }
    struct emit s = {.l = l};
    *out = emit_constant(&s, dtype, &shape, values);
    return s.status;
}

static tensor_id sampling_grid(struct emit *s, const struct deform *d, tensor_id offsets)
{
    if (build_type(s->l->b, offsets)->dtype != DT_FLOAT64)
        offsets = emit_cast(s, offsets, DT_FLOAT32); /* half precision would not tell pixels apart */
    offsets = side_by_side(s, d, offsets, d->axes);
    offsets = as_coordinates(s, offsets);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const struct type type = *build_type(s->l->b, offsets);
    uint32_t axes = type.shape.rank - 2;
    double *scale = arena_array(s->l->arena, double, axes);
    for (uint32_t c = 0; c < axes; c++)
        scale[c] = sample_normalizer(d->c.s.in[axes - 1 - c], false).scale;
    struct shape vector = SHAPE(axes);
    tensor_id scales = emit_constant(s, type.dtype, &vector, scale), regular = NO_TENSOR;
    tensor_id moved = emit_binary(s, OP_ElementWiseMultiply, offsets, scales);
    if (s->status == ODLC_OK)
        s->status = regular_grid(s->l, d, &type.shape, type.dtype, &regular);
    return emit_binary(s, OP_ElementWiseAdd, moved, regular);
}

/* [batch, …, groups · channels] → [batch · groups, …, channels], or back. */
static tensor_id regroup(struct emit *s, tensor_id image, int64_t groups, bool to_batch)
{
    if (s->status != ODLC_OK || groups == 1)
        return image;
    struct shape in = build_type(s->l->b, image)->shape, apart = {.rank = in.rank + 1}, out = in;
    uint32_t last = in.rank - 1;
    struct perm perm = {.rank = apart.rank};
    for (uint32_t i = 0; i < last; i++)
        apart.dims[i + !to_batch] = in.dims[i];
    apart.dims[0] = to_batch ? in.dims[0] : in.dims[0] / groups;
    apart.dims[to_batch ? last : 1] = groups;
    apart.dims[last + 1] = to_batch ? in.dims[last] / groups : in.dims[last];
    /* The groups' axis stands behind the batch, or before the channels. */
    for (uint32_t i = 1; i < last; i++)
        perm.axis[to_batch ? i + 1 : i] = (uint8_t)(to_batch ? i : i + 1);
    perm.axis[to_batch ? 1 : last] = (uint8_t)(to_batch ? last : 1);
    perm.axis[last + 1] = (uint8_t)(last + 1);
    out.dims[0] = to_batch ? in.dims[0] * groups : in.dims[0] / groups;
    out.dims[last] = to_batch ? in.dims[last] / groups : in.dims[last] * groups;
    image = emit_reshape(s, image, &apart);
    image = emit_transpose(s, image, &perm);
    return emit_reshape(s, image, &out);
}

odlc_status lower_deform_conv(struct lower *l)
{
    static const struct sampling linear = {.mode = SAMPLE_LINEAR, .padding = SAMPLE_ZEROS};
    struct deform d;
    struct emit s = {.l = l};
    tensor_id image, offsets, mask = lower_in(l, 4);
    TRY(read_geometry(l, &d));
    TRY(lower_need(l, 2, "offset", &offsets));
    TRY(check_values(l, &d, offsets, "offset", d.axes));
    if (mask != NO_TENSOR)
        TRY(check_values(l, &d, mask, "mask", 1));
    TRY(image_enter(l, &d.c.s, &image));
    tensor_id grid = sampling_grid(&s, &d, offsets);
    image = regroup(&s, image, d.offset_groups, true);
    image = emit_grid_sample(&s, image, grid, &linear);
    if (mask != NO_TENSOR) {
        mask = side_by_side(&s, &d, mask, 1);
        image = emit_binary(&s, OP_ElementWiseMultiply, image, mask);
    }
    image = regroup(&s, image, d.offset_groups, false);
    TRY(s.status);
    struct spatial *w = &d.c.s;
    w->auto_pad = PAD_NOTSET;
    for (uint32_t i = 0; i < w->axes; i++) {
        w->in[i] = build_type(l->b, image)->shape.dims[i + 1];
        w->stride[i] = w->kernel[i];
        w->dilation[i] = 1;
        w->pad[i][0] = w->pad[i][1] = 0;
    }
    return conv_image(l, &d.c, 3, image);
}
