/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a flatbuffer field by field, along the description of its tables. */
#ifndef FUZZ_MUTATE_FLATBUFFER_H
#define FUZZ_MUTATE_FLATBUFFER_H

#include "base/arena.h"
#include "dlc/flatbuf.h"

/* A buffer that can grow up to `room` bytes where it is. */
struct flat {
    uint8_t *data;
    size_t size, room;
    uint32_t *random;
};

uint32_t next_random(uint32_t *state);
/* Something below `limit`, which is not 0. */
uint32_t random_below(uint32_t *state, uint32_t limit);

/* One to four fields change: numbers, what references lead to, lengths, elements, texts, which fields a table has.
 * Nothing happens when the walk from the root finds none. Texts come from `words` too. */
void mutate_flatbuffer(struct arena *arena, struct flat *flat, const struct fb_type *root, const char *const *words,
                       size_t n_words);

/* The bytes of the vector that a slot of the root leads to; size 0 when there is none. */
struct flat flatbuffer_vector(const struct flat *flat, unsigned slot);

#endif
