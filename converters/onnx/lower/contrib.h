/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of ONNX Runtime's own operators (com.microsoft) shares. */
#ifndef CONVERTERS_ONNX_LOWER_CONTRIB_H
#define CONVERTERS_ONNX_LOWER_CONTRIB_H

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"

/* An attribute that is 0 or 1. ODLC_ERR_INVALID: it is another number, which runtimes read differently. */
odlc_status contrib_flag(const struct lower *l, const char *name, bool absent, bool *out) MUST_USE;
/* Input i, [count], in its own type. ODLC_ERR_INVALID: it is absent, or has another shape. */
odlc_status contrib_line(struct lower *l, uint32_t i, const char *what, int64_t count, tensor_id *out) MUST_USE;
/* Input i, which must be a constant of so many elements, in whatever shape. */
odlc_status contrib_known(const struct lower *l, uint32_t i, const char *what, int64_t count, tensor_id *out) MUST_USE;
/* Sizes of weights that stand in blocks: N rows of K columns, block_size. ODLC_ERR_INVALID: there are no such weights,
 * or the block is not a power of two from 16 on. */
odlc_status contrib_block_sizes(const struct lower *l, int64_t *rows, int64_t *columns, int64_t *block) MUST_USE;
/* x and the bias in input i, [last axis of x] and of its type, added. */
odlc_status contrib_add_bias(struct emit *s, tensor_id x, uint32_t i, tensor_id *out) MUST_USE;

/* Which inputs of a product of integers, 0 and 1, have what. */
struct integer_product {
    uint32_t a_scale, b_scale, a_zero, b_zero; /* b's: of all, or of each column; zero points may be absent */
    uint32_t bias;                             /* of floats, may be absent */
};
/* float(A · B) · (a_scale · b_scale) + bias, of float32 scales. */
odlc_status contrib_integer_product(struct lower *l, const struct integer_product *at, tensor_id *out) MUST_USE;

#endif
