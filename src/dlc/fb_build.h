/* Building FlatBuffers front to back: the root comes first and every child after its parent, so references are plain
 * forward offsets that are patched once the child's place is known. A reference is the position of such an offset in
 * the buffer. */
#ifndef DLC_FB_BUILD_H
#define DLC_FB_BUILD_H

#include "base/vec.h"

struct fb_build {
    struct arena *arena;
    VEC(uint8_t) out;
    VEC(uint32_t) vtables; /* positions of the different ones so far; equal tables share theirs */
};

/* A field to be written; order does not matter, slots rise. A field that has its default value is left out by the
 * caller. */
struct fb_slot {
    uint8_t slot;
    uint8_t size;   /* 1, 4 or 8 */
    uint64_t value; /* for references: 0 until fb_link */
};

#define FB_U8(slot, value) ((struct fb_slot){(slot), 1, (uint8_t)(value)})
#define FB_U32(slot, value) ((struct fb_slot){(slot), 4, (uint32_t)(value)})
#define FB_U64(slot, value) ((struct fb_slot){(slot), 8, (uint64_t)(value)})
#define FB_REF(slot) ((struct fb_slot){(slot), 4, 0})
uint32_t float_bits(float value);
uint64_t double_bits(double value);

/* Starts a buffer; the result is the reference to the root table. */
uint32_t fb_start(struct fb_build *b, struct arena *arena, const char identifier[4]);
/* Each of the following appends an object and makes the reference lead to it. */

/* The table's position, for fb_slot_ref. At most 16 slots, numbered below 16. */
uint32_t fb_put_table(struct fb_build *b, uint32_t reference, const struct fb_slot *slots, unsigned count);
/* The position of a field of a table that was put. */
uint32_t fb_slot_ref(const struct fb_build *b, uint32_t table, unsigned slot);
void fb_put_string(struct fb_build *b, uint32_t reference, const char *string);
/* A vector of count references; reference i is at result + 4 * i. */
uint32_t fb_put_references(struct fb_build *b, uint32_t reference, uint32_t count);
void fb_put_strings(struct fb_build *b, uint32_t reference, const char *const *strings, uint32_t count);
void fb_put_words(struct fb_build *b, uint32_t reference, const uint32_t *words, uint32_t count);
/* Bytes, the first of which is aligned to 8 in the buffer. */
void fb_put_bytes(struct fb_build *b, uint32_t reference, const uint8_t *bytes, uint32_t size);
/* Makes the 32-bit reference lead to target, which may lie behind everything built. */
void fb_link(struct fb_build *b, uint32_t reference, uint64_t target);

/* False when the buffer grew past what 32-bit offsets reach. */
bool fb_fits(const struct fb_build *b);

#endif
