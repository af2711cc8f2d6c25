/* SPDX-License-Identifier: Apache-2.0 */
/* Makers of nodes in files of their own, and what they share. */
#ifndef TESTS_BACKEND_RANDOM_MOVES_H
#define TESTS_BACKEND_RANDOM_MOVES_H

#include "tests/backend/random_ops.h"

struct shape draw_shape(struct making *m, uint32_t rank, int64_t most);
/* A few with a long axis: loops take elements by the vector, and threads take parts. */
struct shape draw_long_shape(struct making *m);
/* [batch, spatial…, channels] */
struct shape draw_image(struct making *m, uint32_t axes, int64_t channels);
/* A window that slides along spatial axes. */
struct slide {
    int64_t filter[3], stride[3], dilation[3], pads[6];
};

struct slide draw_slide(struct making *m, uint32_t axes);
/* A graph input; and what mostly is one. */
tensor_id real(struct making *m, struct shape shape);
tensor_id operand(struct making *m, struct shape shape);
void start(struct making *m, enum op_id op);
/* A param of rank 1, or 2 with pairs. */
void give(struct making *m, enum param_id id, const int64_t *values, uint32_t count, bool pairs);

odlc_status make_rearrangement(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_concat(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_split(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_tile(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_slice(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_gather(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_pad(struct making *m, enum op_id op, tensor_id *out) MUST_USE;

/* random_index.c */
odlc_status make_indexed(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_one_hot(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_along(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_top_k(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_lrn(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_batches(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_grid(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_regions(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_image(struct making *m, enum op_id op, tensor_id *out) MUST_USE;
odlc_status make_patches(struct making *m, enum op_id op, tensor_id *out) MUST_USE;

#endif
