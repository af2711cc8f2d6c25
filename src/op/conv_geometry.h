/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of convolutions, which shape rules and kernels read alike (op_conv.c). */
#ifndef OP_CONV_GEOMETRY_H
#define OP_CONV_GEOMETRY_H

#include "op/window.h"

struct conv {
    struct window window;
    int64_t group;
    int64_t in_depth, out_depth; /* channels per group */
};

/* The geometry of a convolution node over these operands; bias may be NULL. `out` of the window is not set yet. Gives
 * NULL or what is wrong. */
typedef const char *conv_read_fn(struct conv *c, const struct node *n, const struct shape *x, const struct shape *w,
                                 const struct shape *bias);
conv_read_fn conv_read;           /* weights [filter…, channels_in / group, channels_out] */
conv_read_fn conv_read_depthwise; /* weights [filter…, 1, channels_out], channels_in groups */
conv_read_fn conv_read_transpose; /* weights [filter…, channels_in, channels_out / group] */

#endif
