/* What the lowering of ONNX convolutions and pools shares: the attributes of sliding windows, and the channels-last
 * image that the container's ops want. */
#ifndef CONVERTERS_ONNX_SPATIAL_H
#define CONVERTERS_ONNX_SPATIAL_H

#include "converters/lower.h"

#define SPATIAL_MAX 3

enum auto_pad { PAD_NOTSET, PAD_VALID, PAD_SAME_LOWER, PAD_SAME_UPPER };

struct spatial {
    uint32_t axes;
    enum auto_pad auto_pad;
    int64_t in[SPATIAL_MAX];
    int64_t kernel[SPATIAL_MAX], stride[SPATIAL_MAX], dilation[SPATIAL_MAX];
    int64_t pad[SPATIAL_MAX][2];         /* before, after; those of auto_pad once spatial_auto_pad has run */
    int64_t output_padding[SPATIAL_MAX]; /* of transposed convolutions; 0 for others */
};

/* Reads kernel_shape, strides, dilations, pads and auto_pad of a node whose input 0 is [N, C, spatial axes…]. `weights`
 * (or NULL) gives the kernel's extents, which kernel_shape must then repeat if it is there. */
odlc_status spatial_read(const struct lower *l, const struct shape *weights, struct spatial *s) MUST_USE;

/* Puts an axis of extent 1 before the others. */
void spatial_prepend(struct spatial *s);

/* The part of an axis that one window spans. */
int64_t spatial_reach(const struct spatial *s, uint32_t axis);

/* Turns auto_pad into amounts for windows that slide over the input: nothing for VALID, as many windows as strides fit
 * for SAME. */
void spatial_auto_pad(struct spatial *s);

/* The container's number for how the padding came about (padding_size_strategy). */
int64_t spatial_strategy(const struct spatial *s);

/* Sets the params stride and pad_amount (and dilation) of the node being built. */
void spatial_stride_params(struct build *b, const struct spatial *s);
void spatial_dilation_param(struct build *b, const struct spatial *s);

/* ---- images ----
 * [N, C, …] → channels last. One spatial axis becomes two, the first of extent 1: a Reshape before, one after. */

/* Input 0 as the image; `s` (or NULL) gets the second axis, too. */
odlc_status image_enter(struct lower *l, struct spatial *s, tensor_id *image) MUST_USE;
/* Starts the op that works on the image. */
void image_op(struct lower *l, const char *op, tensor_id image);
/* Ends it and makes its result output 0 of the ONNX node; the depth of 1 of a result that has one axis too many is
 * dropped. */
odlc_status image_leave(struct lower *l) MUST_USE;
/* The same for a result whose type the op cannot infer. */
odlc_status image_leave_typed(struct lower *l, const struct type *type) MUST_USE;

#endif
