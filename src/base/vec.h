/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array in an arena.
 *     VEC(uint32_t) ids = {0};
 *     vec_push(arena, &ids, 7);
 *     for (size_t i = 0; i < ids.count; i++) use(ids.data[i]);
 * Growth doubles and moves the elements: keep indices, not pointers, and one owner of the array. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#define VEC(type)               \
    struct {                    \
        type *data;             \
        size_t count, capacity; \
    }

#define vec_push(arena, vec, ...)                                                                 \
    do {                                                                                          \
        if ((vec)->count == (vec)->capacity)                                                      \
            (vec)->data = vec_grow((arena), (vec)->data, &(vec)->capacity, sizeof(*(vec)->data)); \
        (vec)->data[(vec)->count++] = (__VA_ARGS__);                                              \
    } while (0)

void *vec_grow(struct arena *arena, void *data, size_t *capacity, size_t element_size);

/* Text that grows by pieces; text.data is NUL-terminated after the first piece. */
typedef VEC(char) text;
void text_add(struct arena *arena, text *t, const char *format, ...) PRINTF_LIKE(3, 4);
void text_add_bytes(struct arena *arena, text *t, const char *bytes, size_t length);

#endif
