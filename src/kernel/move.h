/* SPDX-License-Identifier: Apache-2.0 */
/* Moving elements without looking at them: what the shape, slice and index families share. */
#ifndef KERNEL_MOVE_H
#define KERNEL_MOVE_H

#include "kernel/buffer.h"

/* Bytes per element of a buffer; strings are pointers. */
size_t element_size(enum dtype dtype);

/* A nest of loops that copies one element per step: axis i runs `count` times and advances the destination by `to` and
 * the source by `from` elements (0 and negative strides included). */
struct move_axis {
    int64_t count, to, from;
};

struct move {
    uint32_t rank;
    struct move_axis axis[2 * MAX_RANK]; /* outermost first; Tile needs two axes for each of the tensor's */
};

/* Runs the nest. Destinations must not overlap each other or the source; no axis' destination stride may be 0 when its
 * count is not 1. */
void move_elements(const struct move *m, size_t size, void *to, const void *from);

/* A number as one element of the buffer, quantized where the buffer has an encoding: that of the param, or `absent`
 * when the node has none (p is NULL). */
void param_element(const struct buffer *like, const struct packed_param *p, int64_t absent, void *element);

#endif
