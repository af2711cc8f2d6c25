/* SPDX-License-Identifier: Apache-2.0 */
/* Resize and its relatives, as kernels read them: where each output position of an image takes its values from. */
#ifndef KERNEL_RESIZE_H
#define KERNEL_RESIZE_H

#include "kernel/resample.h"
#include "op/axes.h"

/* One output position: the taps of the spatial axes meet. */
struct resize {
    bool nearest; /* one tap an axis, of weight 1: elements are moved, not computed with */
    uint32_t axes;
    int64_t in[SPATIAL_MAX], out[SPATIAL_MAX], channels; /* axes that there are not have the extent 1 */
    struct resample_taps taps[SPATIAL_MAX];
};

/* Of a node that resizes images of shape `in` to `out`, both with elements; tables are the arena's. ODLC_ERR_INVALID:
 * params or shapes do not fit. */
odlc_status resize_read(struct arena *arena, const struct node *n, const struct shape *in, const struct shape *out,
                        struct resize *resize) MUST_USE;

#endif
