/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and axes in the order of one data_format brought to that of another, as TensorFlow's own optimizer writes it.
 */
#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* Where each axis of dst is in src; the two must name the same axes. */
static odlc_status read_formats(const struct lower *l, const char **src, int64_t from[MAX_RANK], uint32_t *rank)
{
    const char *dst;
    TRY(lower_attr_string(l, "src_format", "NHWC", src));
    TRY(lower_attr_string(l, "dst_format", "NCHW", &dst));
    size_t count = strlen(*src);
    bool fits = count == strlen(dst) && count >= 1 && count <= MAX_RANK;
    for (size_t i = 0; fits && i < count; i++) {
        const char *at = strchr(*src, dst[i]);
        fits = at && !strchr(dst + i + 1, dst[i]);
        from[i] = at ? at - *src : 0;
    }
    *rank = (uint32_t)count;
    return fits ? ODLC_OK
                : lower_invalid(l, "dst_format", NULL, "%s is not another order of the axes of %s", dst, *src);
}

/* An element for each axis, or for each spatial one, or pairs of these. */
odlc_status tf_format_vector(struct lower *l)
{
    const char *src;
    int64_t from[MAX_RANK], spatial[MAX_RANK];
    uint32_t rank, count = 0;
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    TRY(read_formats(l, &src, from, &rank));
    const struct shape *in = &build_type(l->b, x)->shape;
    if (in->rank >= 1 && in->dims[0] == rank)
        return lower_gather_positions(l, x, 0, from, rank, lower_out_name(l, 0), &l->out[0]);
    for (uint32_t i = 0; i < rank; i++) {
        int64_t before = 0;
        for (int64_t k = 0; k < from[i]; k++)
            before += src[k] != 'N' && src[k] != 'C';
        if (src[from[i]] != 'N' && src[from[i]] != 'C')
            spatial[count++] = before;
    }
    if (in->rank < 1 || in->dims[0] != count)
        return lower_invalid(l, NULL, NULL, "%s does not have an element for each axis of %s",
                             shape_text(l->diags->arena, in), src);
    return lower_gather_positions(l, x, 0, spatial, count, lower_out_name(l, 0), &l->out[0]);
}

/* Axes, which may be counted from the end. */
odlc_status tf_format_axis(struct lower *l)
{
    struct emit s = {.l = l};
    const char *src;
    int64_t from[MAX_RANK];
    double place[2 * MAX_RANK];
    uint32_t rank;
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    TRY(read_formats(l, &src, from, &rank));
    for (uint32_t i = 0; i < rank; i++)
        place[from[i]] = place[from[i] + rank] = i;
    struct shape twice = SHAPE(2 * rank);
    const double *table = arena_memdup(l->arena, place, 2 * rank * sizeof *place);
    tensor_id places = emit_constant(&s, build_type(l->b, x)->dtype, &twice, table);
    /* −rank … rank − 1 become 0 … 2 · rank − 1. */
    tensor_id at = emit_binary(&s, OP_ElementWiseAdd, x, emit_scalar(&s, x, rank));
    return emit_give(&s, 0, emit_gather(&s, places, at, 0));
}
