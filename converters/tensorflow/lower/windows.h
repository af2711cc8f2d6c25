/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of TensorFlow's convolutions, pools and other operators on images shares: data_format, and lists
 * with an element for each axis of the tensor. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_WINDOWS_H
#define CONVERTERS_TENSORFLOW_LOWER_WINDOWS_H

#include "converters/lowering/spatial.h"

struct tf_windows {
    struct spatial s;
    bool channels_first;
};

/* Whether data_format puts the channels before the spatial axes. */
odlc_status tf_channels_first(const struct lower *l, bool *out) MUST_USE;

/* Reads data_format and the extents of x, which must have this many spatial axes; every window is one element. */
odlc_status tf_windows_start(const struct lower *l, tensor_id x, uint32_t axes, struct tf_windows *w) MUST_USE;
/* The elements for the spatial axes of a list called `name` with one for each axis of the tensor; those for batch and
 * channels must be 1. `values` NULL: the attribute of that name, whose absence leaves out[] as it is. */
odlc_status tf_windows_list(const struct lower *l, const struct tf_windows *w, const char *name, const int64_t *values,
                            uint32_t count, int64_t out[SPATIAL_MAX]) MUST_USE;
/* Reads strides, dilations, padding and explicit_paddings. Amounts of SAME are found by spatial_auto_pad. */
odlc_status tf_windows_attrs(const struct lower *l, struct tf_windows *w) MUST_USE;

/* Finds the amounts of padding, and how many windows there are along each axis. */
odlc_status tf_windows_count(const struct lower *l, struct tf_windows *w, int64_t out[SPATIAL_MAX]) MUST_USE;

/* The spatial extents of a shape in the order of data_format. */
void tf_spatial_extents(const struct tf_windows *w, const int64_t *dims, int64_t out[SPATIAL_MAX]);
/* The channels of such a tensor. */
int64_t tf_channels(const struct lower *l, const struct tf_windows *w, tensor_id x);

/* ---- images ---- */
/* x with the channels last. */
odlc_status tf_image(const struct lower *l, bool channels_first, tensor_id x, tensor_id *image) MUST_USE;
/* Ends the node on an image that was started; its result in the order of data_format is output 0. */
odlc_status tf_end_image(struct lower *l, bool channels_first) MUST_USE;
/* The image y, which several nodes may have made, as output 0. */
odlc_status tf_give_image(struct lower *l, bool channels_first, tensor_id y) MUST_USE;

#endif
