/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's pools. An average over a window at the border counts the elements on the image alone. */
#include <string.h>

#include "converters/lowering/max_indices.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"
#include "converters/tensorflow/lower/windows.h"
#include "op/op.h"

/* The sizes of windows and their strides are attributes, or inputs 1 and 2. */
static odlc_status read_pool(const struct lower *l, uint32_t axes, tensor_id *x, struct tf_windows *w,
                             int64_t out[SPATIAL_MAX])
{
    const int64_t *kernel = NULL, *strides = NULL;
    uint32_t n_kernel = 0, n_strides = 0;
    TRY(lower_need(l, 0, "input", x));
    TRY(tf_windows_start(l, *x, axes, w));
    TRY(tf_windows_attrs(l, w));
    if (l->n_in == 3) {
        TRY(lower_const_ints(l, 1, "ksize", &kernel, &n_kernel));
        TRY(lower_const_ints(l, 2, "strides", &strides, &n_strides));
        TRY(tf_windows_list(l, w, "strides", strides, n_strides, w->s.stride));
    }
    TRY(tf_windows_list(l, w, "ksize", kernel, n_kernel, w->s.kernel));
    TRY(tf_windows_count(l, w, out));
    spatial_fit_end(&w->s, out);
    return ODLC_OK;
}

static odlc_status end_pool(struct lower *l, enum op_id op, const struct tf_windows *w, tensor_id x)
{
    tensor_id image;
    TRY(tf_image(l, w->channels_first, x, &image));
    build_op(l->b, op, fw_node_label(l->node));
    build_in(l->b, image);
    spatial_pool_params(l->b, &w->s, false);
    return tf_end_image(l, w->channels_first);
}

/* The row says which op, whose name says how many axes: "PoolMax2d". */
odlc_status tf_pool(struct lower *l)
{
    struct tf_windows w;
    int64_t out[SPATIAL_MAX];
    tensor_id x;
    TRY(read_pool(l, op_row(l->op)->spatial_axes, &x, &w, out));
    return end_pool(l, l->op, &w, x);
}

/* Output 1: where the maxima are, counted over the channels first, then over the image and perhaps the batch. */
static odlc_status give_positions(struct lower *l, const struct tf_windows *w, tensor_id x, const int64_t *out)
{
    const struct shape in = build_type(l->b, x)->shape;
    int64_t channels = in.dims[3];
    tensor_id first, found;
    enum dtype dtype;
    bool count_batch;
    TRY(lower_attr_bool(l, "include_batch_in_index", false, &count_batch));
    TRY(lower_tf_dtype(l, "Targmax", DT_INT64, &dtype));
    if (shape_count(&in) > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "positions in %s are beyond 32 bits", shape_text(l->diags->arena, &in));
    if (!windows_see_input(&w->s, out))
        return lower_unsupported(l, NULL, NULL, "positions of windows without elements are not defined");
    const struct max_strides strides = {.batch = count_batch ? in.dims[1] * in.dims[2] * channels : 0,
                                        .channel = 1,
                                        .spatial = {in.dims[2] * channels, channels}};
    TRY(build_to_channels_first(l->b, x, step_name(l, "nchw"), &first));
    TRY(lower_max_indices(l, first, &w->s, out, &strides, "ksize", &found));
    TRY(build_to_channels_last(l->b, found, &found));
    return build_cast(l->b, found, dtype, lower_out_name(l, 1), &l->out[1]);
}

odlc_status tf_max_pool_with_argmax(struct lower *l)
{
    struct tf_windows w;
    int64_t out[SPATIAL_MAX];
    tensor_id x;
    TRY(read_pool(l, 2, &x, &w, out));
    if (l->n_out > 1 && lower_out_name(l, 1))
        TRY(give_positions(l, &w, x, out));
    return end_pool(l, OP_PoolMax2d, &w, x);
}
