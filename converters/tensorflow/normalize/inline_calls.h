/* SPDX-License-Identifier: Apache-2.0 */
/* Calls are seen through: an argument is what the call gives, the result of a call is what its function returns. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_INLINE_CALLS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_INLINE_CALLS_H

#include "converters/tensorflow/normalize/frames.h"

/* Whether nodes of the operator are calls, unless a UDO claims them. */
bool is_call(const struct normalize *nz, const char *op);
/* The frame of a node that is a call, made when it is first asked for; NULL for other nodes. Errors of frame_create,
 * and ODLC_ERR_INVALID where the model has no such function. */
odlc_status call_frame(struct normalize *nz, struct frame *frame, uint32_t node, struct frame **out) MUST_USE;
/* What gives the value that a node's input (or a function's result) names, which is never a call. `reader` is for
 * diagnostics. ODLC_ERR_INVALID where nothing gives it; errors of call_frame. */
odlc_status find_source(struct normalize *nz, struct frame *frame, const char *text, const char *reader,
                        struct source *out) MUST_USE;
/* Whether options or a signature make the value an input. */
bool is_cut(struct normalize *nz, const struct source *s);
/* The node and its output that have the name in the frame or inside of calls there; out->frame NULL: there is none. The
 * node may be a call. */
odlc_status find_place(struct normalize *nz, struct frame *frame, const char *name, struct source *out) MUST_USE;
/* The value of that name, which no call gives; out->frame NULL: there is none. */
odlc_status find_named(struct normalize *nz, struct frame *frame, const char *name, struct source *out) MUST_USE;

#endif
