/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <string.h>

#include "base/c_locale.h"

void *vec_grow(struct arena *arena, void *data, size_t *capacity, size_t element_size)
{
    size_t grown = *capacity ? *capacity : 8, bytes;
    if (*capacity && ckd_mul(&grown, *capacity, 2))
        arena_exhausted(arena);
    if (ckd_mul(&bytes, grown, element_size))
        arena_exhausted(arena);
    void *moved = arena_grow(arena, data, *capacity * element_size, bytes);
    *capacity = grown;
    return moved;
}

void text_add_bytes(struct arena *arena, text *t, const char *bytes, size_t length)
{
    while (t->capacity - t->count < length + 1)
        t->data = vec_grow(arena, t->data, &t->capacity, 1);
    memcpy(t->data + t->count, bytes, length);
    t->count += length;
    t->data[t->count] = '\0';
}

void text_add(struct arena *arena, text *t, const char *format, ...)
{
    char buffer[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = c_vsnprintf(buffer, sizeof buffer, format, args);
    if (length >= 0 && (size_t)length < sizeof buffer) {
        text_add_bytes(arena, t, buffer, (size_t)length);
    } else {
        char *whole = arena_vprintf(arena, format, again);
        text_add_bytes(arena, t, whole, strlen(whole));
    }
    va_end(again);
    va_end(args);
}
