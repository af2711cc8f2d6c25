/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embeddings: pairs of elements turned by angles that depend on the position. */
#ifndef CONVERTERS_ONNX_LOWER_ROTARY_H
#define CONVERTERS_ONNX_LOWER_ROTARY_H

#include "converters/lowering/emit.h"

struct rotary {
    tensor_id cos, sin; /* broadcast over the heads: see rotary_rows */
    int64_t pairs;      /* the first 2 * pairs elements of each head are turned */
    bool interleaved;   /* the elements of a pair lie side by side; else all first ones precede all second ones */
};

/* Angles [batch or 1, positions, pairs] for the operand of rotary_turn: the cache itself, or the rows of it that `ids`
 * (NO_TENSOR: none), [batch or 1, positions], picks. `packed`: the operand's heads come behind the positions. `name` is
 * the cache's. */
odlc_status rotary_rows(struct emit *s, const char *name, tensor_id cache, tensor_id ids, const struct shape *rows,
                        bool packed, tensor_id *out) MUST_USE;
/* x, [batch, heads, positions, size] or packed [batch, positions, heads, size], turned. */
tensor_id rotary_turn(struct emit *s, const struct rotary *r, tensor_id x);

#endif
