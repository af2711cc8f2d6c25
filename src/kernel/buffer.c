/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/buffer.h"

#include <math.h>

#include "ir/quant.h"

static bool is_quantized(const struct buffer *b)
{
    return dtype_is_fixed(b->dtype) && b->quant;
}

const struct encoding *buffer_encoding(const struct buffer *b, uint64_t i)
{
    const struct quant *q = b->quant;
    if (!q->per_axis)
        return &q->encodings[0];
    uint64_t inner = shape_count_range(&b->shape, q->axis + 1, b->shape.rank);
    return &q->encodings[i / inner % q->count];
}

/* Quantized tensors are converted by way of doubles, so many at a time. */
enum { BLOCK = 1024 };

static void *element_at(const void *elements, enum dtype dtype, uint64_t index)
{
    return (uint8_t *)(uintptr_t)elements + index * dtype_size(dtype);
}

/* The reals of quantized tensors are float32, as they are in the models that these come from: a quotient half way
 * between two integers stays what it is there. */
void buffer_read(const struct buffer *b, enum dtype to, void *out)
{
    uint64_t count = shape_count(&b->shape);
    if (!is_quantized(b)) {
        convert_elements(out, to, b->data, b->dtype, count);
        return;
    }
    double real[BLOCK];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        convert_elements(real, DT_FLOAT64, element_at(b->data, b->dtype, done), b->dtype, n);
        for (uint64_t i = 0; i < n; i++) {
            const struct encoding *e = buffer_encoding(b, done + i);
            real[i] = (double)(float)((real[i] + e->offset) * e->scale);
        }
        convert_elements(element_at(out, to, done), to, real, DT_FLOAT64, n);
    }
}

struct buffer buffer_widen(const struct buffer *b, enum dtype to, struct arena *scratch)
{
    struct buffer wide = *b;
    if (!b->data || to == b->dtype)
        return wide;
    wide.dtype = to;
    wide.data = arena_calloc(scratch, shape_count(&b->shape), dtype_size(to));
    buffer_read(b, to, wide.data);
    return wide;
}

void buffer_narrow(const struct buffer *wide, struct buffer *b)
{
    uint64_t count = shape_count(&b->shape);
    if (wide->data == b->data)
        return;
    if (!is_quantized(b)) {
        convert_elements(b->data, b->dtype, wide->data, wide->dtype, count);
        return;
    }
    double q[BLOCK];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        convert_elements(q, DT_FLOAT64, element_at(wide->data, wide->dtype, done), wide->dtype, n);
        for (uint64_t i = 0; i < n; i++) {
            const struct encoding *e = buffer_encoding(b, done + i);
            q[i] = nearbyint((double)(float)((double)(float)q[i] / e->scale)) - e->offset;
        }
        convert_elements(element_at(b->data, b->dtype, done), b->dtype, q, DT_FLOAT64, n);
    }
}
