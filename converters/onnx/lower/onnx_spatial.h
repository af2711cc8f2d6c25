/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of ONNX convolutions and pools shares: the attributes of sliding windows, and the channels-last
 * image that the container's ops want. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_SPATIAL_H
#define CONVERTERS_ONNX_LOWER_ONNX_SPATIAL_H

#include "converters/lowering/spatial.h"

/* Reads kernel_shape, strides, dilations, pads and auto_pad of a node whose input 0 is [N, C, spatial axes…]. `weights`
 * (or NULL) gives the kernel's extents, which kernel_shape must then repeat where the node has that attribute.
 * ODLC_ERR_INVALID: lists of another length than the spatial axes, or numbers that make no window;
 * ODLC_ERR_UNSUPPORTED: negative padding, more than SPATIAL_MAX axes, or an input that is too large. */
odlc_status spatial_read(const struct lower *l, const struct shape *weights, struct spatial *s) MUST_USE;

/* ---- images ----
 * [N, C, …] → channels last. One spatial axis becomes two, the first of extent 1: a Reshape before, one after. */

/* Input 0 as the image; `s` (or NULL) gets the second axis, too. */
odlc_status image_enter(struct lower *l, struct spatial *s, tensor_id *image) MUST_USE;
/* Starts the op that works on the image. */
void image_op(struct lower *l, enum op_id op, tensor_id image);
/* The name of that op. */
const char *image_op_name(const struct lower *l);
/* Ends the op and makes its result output 0 of the ONNX node; the depth of 1 of a result that has one axis too many is
 * dropped. */
odlc_status image_leave(struct lower *l) MUST_USE;
/* The same for a result whose type the op cannot infer. */
odlc_status image_leave_typed(struct lower *l, const struct type *type) MUST_USE;

#endif
