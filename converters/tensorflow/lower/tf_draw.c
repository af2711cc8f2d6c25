/* SPDX-License-Identifier: Apache-2.0 */
/* DrawBoundingBoxes: frames of one pixel, one over the other. Which frame is the last at a pixel is found by positions,
 * and says the colour. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

enum { N_COLORS = 10, COLOR_CHANNELS = 4, MOST_PIXELS = 1 << 28 };

/* Red, green, blue, opacity. */
static const double colors[N_COLORS][COLOR_CHANNELS] = {
    {1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
    {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

struct frames {
    tensor_id boxes; /* [batches, boxes, 4]: top, left, bottom, right, in parts of the image */
    int64_t batches, count;
};

/* Along rows or columns, for each position: whether a frame has an edge there, and whether one of its other edges runs
 * through. [batches, boxes, height, 1] or [batches, boxes, 1, width]. */
struct side {
    tensor_id is_edge, is_between, is_seen;
};

static tensor_id edge(struct emit *s, const struct frames *f, int64_t at, int64_t size)
{
    tensor_id part = emit_element(s, f->boxes, 2, at);
    tensor_id place = emit_binary(s, OP_ElementWiseMultiply, part, emit_scalar(s, part, (double)(size - 1)));
    return emit_reshape(s, emit_cast(s, place, DT_INT32), &SHAPE(f->batches, f->count, 1, 1));
}

static struct side side_of(struct emit *s, const struct frames *f, int64_t first, int64_t size,
                           const struct shape *line)
{
    struct side side;
    tensor_id at = emit_reshape(s, emit_positions(s, size), line);
    tensor_id low = edge(s, f, first, size), high = edge(s, f, first + 2, size);
    tensor_id is_low = emit_binary(s, OP_ElementWiseEqual, at, low);
    side.is_edge = emit_binary(s, OP_ElementWiseOr, is_low, emit_binary(s, OP_ElementWiseEqual, at, high));
    tensor_id is_behind = emit_binary(s, OP_ElementWiseGreaterEqual, at, low);
    tensor_id is_before = emit_binary(s, OP_ElementWiseLessEqual, at, high);
    side.is_between = emit_binary(s, OP_ElementWiseAnd, is_behind, is_before);
    side.is_seen = emit_binary(s, OP_ElementWiseLessEqual, low, high);
    return side;
}

/* The number of the last frame at each pixel, from 1 on; 0 for none. [batches, height, width, 1] */
static tensor_id last_frames(struct emit *s, const struct frames *f, int64_t height, int64_t width)
{
    static const int64_t over_boxes = 1;
    const struct side y = side_of(s, f, 0, height, &SHAPE(1, 1, height, 1));
    const struct side x = side_of(s, f, 1, width, &SHAPE(1, 1, 1, width));
    tensor_id across = emit_binary(s, OP_ElementWiseAnd, y.is_edge, x.is_between);
    tensor_id down = emit_binary(s, OP_ElementWiseAnd, y.is_between, x.is_edge);
    tensor_id is_seen = emit_binary(s, OP_ElementWiseAnd, y.is_seen, x.is_seen);
    tensor_id is_there = emit_binary(s, OP_ElementWiseAnd, emit_binary(s, OP_ElementWiseOr, across, down), is_seen);
    tensor_id zeroth = emit_positions(s, f->count);
    tensor_id number = emit_binary(s, OP_ElementWiseAdd, zeroth, emit_scalar(s, zeroth, 1));
    number = emit_reshape(s, number, &SHAPE(1, f->count, 1, 1));
    number = emit_select(s, is_there, number, emit_scalar(s, number, 0));
    number = emit_reduce(s, OP_ReduceMax, number, &over_boxes, 1, false);
    return emit_reshape(s, number, &SHAPE(f->batches, height, width));
}

/* Colours of the channels, [colours, channels]; those of gray images are white. */
static odlc_status usual_colors(struct emit *s, int64_t channels, tensor_id *out)
{
    double *table;
    if (channels == 2 || channels > COLOR_CHANNELS)
        return lower_invalid(s->l, NULL, NULL, "an image of %lld channels", (long long)channels);
    TRY(lower_table(s->l, (uint64_t)(N_COLORS * channels), sizeof *table, &table));
    for (int64_t i = 0; i < N_COLORS * channels; i++)
        table[i] = channels == 1 ? 1 : colors[i / channels][i % channels];
    *out = emit_constant(s, DT_FLOAT32, &SHAPE(N_COLORS, channels), table);
    return ODLC_OK;
}

static odlc_status read_colors(struct emit *s, int64_t channels, tensor_id *out)
{
    if (lower_in(s->l, 2) == NO_TENSOR)
        return usual_colors(s, channels, out);
    *out = s->l->in[2];
    const struct shape shape = build_type(s->l->b, *out)->shape;
    if (shape_count(&shape) == 0)
        return usual_colors(s, channels, out);
    if (shape.rank != 2 || shape.dims[1] < channels)
        return lower_invalid(s->l, "colors", NULL, "colors %s of %lld channels", shape_text(s->l->diags->arena, &shape),
                             (long long)channels);
    *out = emit_slice(s, *out, 1, 0, channels);
    return s->status;
}

odlc_status tf_draw_boxes(struct lower *l)
{
    struct emit s = {.l = l};
    struct frames f;
    tensor_id images, table;
    TRY(lower_need(l, 0, "images", &images));
    TRY(lower_need(l, 1, "boxes", &f.boxes));
    const struct type type = *build_type(l->b, images);
    const struct shape of = type.shape, boxes = build_type(l->b, f.boxes)->shape;
    if (of.rank != 4 || boxes.rank != 3 || boxes.dims[0] != of.dims[0] || boxes.dims[2] != 4)
        return lower_invalid(l, NULL, NULL, "boxes %s and images %s do not match", shape_text(l->diags->arena, &boxes),
                             shape_text(l->diags->arena, &of));
    f.batches = boxes.dims[0];
    f.count = boxes.dims[1];
    TRY(read_colors(&s, of.dims[3], &table));
    if (shape_count(&of) == 0 || f.count == 0)
        return emit_give(&s, 0, images);
    if ((double)shape_count(&of) * (double)f.count > MOST_PIXELS)
        return lower_limit(l, NULL, NULL, "pixels of %lld frames are more than %d", (long long)f.count, MOST_PIXELS);
    tensor_id number = last_frames(&s, &f, of.dims[1], of.dims[2]);
    TRY(s.status);
    int64_t n_colors = build_type(l->b, table)->shape.dims[0];
    tensor_id before = emit_binary(&s, OP_ElementWiseSubtract, number, emit_scalar(&s, number, 1));
    before = emit_binary(&s, OP_ElementWiseMaximum, before, emit_scalar(&s, number, 0));
    tensor_id color = emit_binary(&s, OP_ElementWiseMod, before, emit_scalar(&s, number, (double)n_colors));
    tensor_id painted = emit_cast(&s, emit_gather(&s, table, color, 0), type.dtype);
    tensor_id is_free = emit_binary(&s, OP_ElementWiseEqual, number, emit_scalar(&s, number, 0));
    is_free = emit_reshape(&s, is_free, &SHAPE(f.batches, of.dims[1], of.dims[2], 1));
    return emit_give(&s, 0, emit_select(&s, is_free, images, painted));
}
