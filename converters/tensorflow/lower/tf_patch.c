/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's ExtractImagePatches and Dilation2D. */
#include <float.h>
#include <string.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/windows.h"

/* ---- patches ---- */

odlc_status tf_extract_patches(struct lower *l)
{
    static const struct choice paddings[] = {{"VALID", 0}, {"SAME", 1}};
    struct tf_windows w;
    tensor_id x;
    int padding;
    TRY(lower_need(l, 0, "images", &x));
    TRY(tf_windows_start(l, x, 2, &w));
    TRY(tf_windows_list(l, &w, "ksizes", NULL, 0, w.s.kernel));
    TRY(tf_windows_list(l, &w, "strides", NULL, 0, w.s.stride));
    TRY(tf_windows_list(l, &w, "rates", NULL, 0, w.s.dilation));
    TRY(lower_choose(l, "padding", "", paddings, COUNT_OF(paddings), &padding));
    build_op(l->b, OP_ExtractPatches, fw_node_label(l->node));
    build_in(l->b, x);
    build_ints(l->b, PARAM_size, w.s.kernel, 2);
    build_ints(l->b, PARAM_stride, w.s.stride, 2);
    build_ints(l->b, PARAM_rate, w.s.dilation, 2);
    build_int(l->b, PARAM_padding, padding);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- grey dilation ---- */

/* More nodes than this for one would make a container that nobody wants. */
enum { DILATION_TAPS = 256 };

/* The image with a border below everything. */
static odlc_status pad_below(struct lower *l, const struct spatial *s, tensor_id *x)
{
    struct shape pairs = SHAPE(4, 2);
    const int64_t amounts[4][2] = {{0}, {s->pad[0][0], s->pad[0][1]}, {s->pad[1][0], s->pad[1][1]}, {0}};
    if (!s->pad[0][0] && !s->pad[0][1] && !s->pad[1][0] && !s->pad[1][1])
        return ODLC_OK;
    const struct param least = {.usage = 1,
                                .name = "pad_constant_value",
                                .dtype = DT_FLOAT32,
                                .f = build_type(l->b, *x)->dtype == DT_FLOAT16 ? -65504 : -(double)FLT_MAX};
    build_op(l->b, OP_Pad, step_name(l, "pad"));
    build_in(l->b, *x);
    build_int(l->b, PARAM_scheme, 0);
    build_tensor_ints(l->b, PARAM_pad_amount, &pairs, amounts[0]);
    build_param(l->b, &least);
    return build_end(l->b, step_name(l, "pad"), x);
}

/* The elements of x that element (row, column) of the filter meets, each with the filter's value for its channel. */
static tensor_id meet(struct emit *s, const struct spatial *w, const int64_t *out, tensor_id x, tensor_id filter,
                      const int64_t at[2])
{
    struct slices cut = slices_whole(&build_type(s->l->b, x)->shape);
    for (uint32_t i = 0; i < 2; i++) {
        cut.row[i + 1][0] = at[i] * w->dilation[i];
        cut.row[i + 1][1] = at[i] * w->dilation[i] + (out[i] - 1) * w->stride[i] + 1;
        cut.row[i + 1][2] = w->stride[i];
    }
    tensor_id value = emit_element(s, emit_element(s, filter, 0, at[0]), 0, at[1]);
    if (s->status == ODLC_OK)
        s->status = lower_slices(s->l, x, &cut, step_name(s->l, "met"), &x);
    return emit_binary(s, OP_ElementWiseAdd, x, value);
}

/* The largest of the sums of elements and filter, for each channel. */
odlc_status tf_dilation(struct lower *l)
{
    static const struct choice paddings[] = {{"VALID", PAD_VALID}, {"SAME", PAD_SAME_UPPER}};
    struct emit s = {.l = l};
    struct tf_windows w;
    tensor_id x, filter, largest = NO_TENSOR;
    int padding;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_need(l, 1, "filter", &filter));
    TRY(tf_windows_start(l, x, 2, &w));
    TRY(tf_windows_list(l, &w, "strides", NULL, 0, w.s.stride));
    TRY(tf_windows_list(l, &w, "rates", NULL, 0, w.s.dilation));
    TRY(lower_choose(l, "padding", "", paddings, COUNT_OF(paddings), &padding));
    w.s.auto_pad = (enum auto_pad)padding;
    const struct shape kernel = build_type(l->b, filter)->shape;
    if (kernel.rank != 3 || kernel.dims[2] != tf_channels(l, &w, x) || shape_count_range(&kernel, 0, 2) < 1)
        return lower_invalid(l, NULL, NULL, "the filter %s does not fit the input",
                             shape_text(l->diags->arena, &kernel));
    if (!dtype_is_float(build_type(l->b, x)->dtype) || shape_count_range(&kernel, 0, 2) > DILATION_TAPS)
        return lower_unsupported(
            l, NULL, NULL, "a dilation of integers, or one by more than %d elements, one node each", DILATION_TAPS);
    int64_t out[SPATIAL_MAX];
    memcpy(w.s.kernel, kernel.dims, 2 * sizeof *out);
    TRY(tf_windows_count(l, &w, out));
    TRY(pad_below(l, &w.s, &x));
    for (int64_t row = 0; row < kernel.dims[0]; row++)
        for (int64_t column = 0; column < kernel.dims[1]; column++) {
            tensor_id met = meet(&s, &w.s, out, x, filter, (const int64_t[]){row, column});
            largest = largest == NO_TENSOR ? met : emit_binary(&s, OP_ElementWiseMaximum, largest, met);
        }
    return emit_give(&s, 0, largest);
}
