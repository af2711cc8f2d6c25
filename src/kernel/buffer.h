/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in memory, and the conversion between element types that a fixed-point encoding needs. */
#ifndef KERNEL_BUFFER_H
#define KERNEL_BUFFER_H

#include "ir/graph.h"

/* Elements are row-major and contiguous. data == NULL: an absent optional input (dtype DT_NONE). */
struct buffer {
    enum dtype dtype;
    enum dtype stored; /* in a kernel: the tensor's own dtype, where `dtype` says what its elements were widened to */
    struct shape shape;
    void *data; /* DT_STRING: array of const char * */
    const struct quant *quant;
};

/* The encoding of element i of a buffer that has encodings; per-axis ones follow their axis. */
const struct encoding *buffer_encoding(const struct buffer *b, uint64_t i);
/* Writes the elements as ones of another type, dequantized where the buffer has encodings. */
void buffer_read(const struct buffer *b, enum dtype to, void *out);
/* The same for floats, doubles or int64 (`to`), in scratch; or the buffer itself when nothing changes. */
struct buffer buffer_widen(const struct buffer *b, enum dtype to, struct arena *scratch);
/* The way back: fills b->data from a wide buffer of the same shape, quantizing (saturating) where b has encodings. */
void buffer_narrow(const struct buffer *wide, struct buffer *b);

#endif
