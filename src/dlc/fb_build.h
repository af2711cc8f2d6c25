/* SPDX-License-Identifier: Apache-2.0 */
/* Building FlatBuffers front to back: the root comes first and every child after its parent, so references are plain
 * forward offsets that are patched once the child's place is known. A reference is the position of such an offset in
 * the buffer.
 *
 * A buffer is built in memory as a whole, or streamed: bytes that hold no open reference any more are settled and go to
 * a sink. A reference that stays open over a settling is written with its target in the first place, which is known
 * from a walk over the same objects whose bytes are only counted; or as zeros, which are filled in at the end. */
#ifndef DLC_FB_BUILD_H
#define DLC_FB_BUILD_H

#include "base/vec.h"

enum { FB_MAX_SLOTS = 16, FB_RECENT = 64 };
#define FB_NOWHERE UINT32_MAX /* no reference: the caller leads to the object by the object's position */

/* Gets the settled bytes in order. A failure ends the stream; fb_flush gives its status. */
typedef odlc_status fb_sink_fn(void *user, const void *bytes, size_t size);
/* Gets bytes that take the place of zeros which the sink got before, at that position. */
typedef odlc_status fb_fill_fn(void *user, uint64_t position, const void *bytes, size_t size);

struct fb_vtable {
    uint32_t key; /* which slots, and their sizes */
    uint32_t at;  /* position; vtables of the same content share one */
    uint16_t size, table_size;
    uint16_t fields[FB_MAX_SLOTS]; /* by slot: the place in the table */
};

struct fb_build {
    struct arena *arena;
    VEC(uint8_t) out; /* the bytes that are not settled: all of them, in memory */
    uint64_t settled; /* how many are no longer in out */
    fb_sink_fn *sink;
    fb_fill_fn *fill; /* for fb_fill_references; NULL: none is filled in */
    void *user;
    bool counts;        /* bytes are counted as settled and nothing else */
    odlc_status status; /* the first failure of the sink */
    VEC(struct fb_vtable) vtables;
    uint16_t recent[FB_RECENT]; /* by hash of the key: index in vtables + 1 */
};

/* A field to be written; slots rise. A field that has its default value is left out by the caller. */
struct fb_slot {
    uint8_t slot;
    uint8_t size;   /* 1, 4 or 8 */
    uint32_t key;   /* the slot's bits in fb_vtable.key */
    uint64_t value; /* for references: 0 until fb_link */
};

#define FB_U8(slot, value) ((struct fb_slot){(slot), 1, 1u << 2 * (slot), (uint8_t)(value)})
#define FB_U32(slot, value) ((struct fb_slot){(slot), 4, 2u << 2 * (slot), (uint32_t)(value)})
#define FB_U64(slot, value) ((struct fb_slot){(slot), 8, 3u << 2 * (slot), (uint64_t)(value)})
#define FB_REF(slot) FB_U32((slot), 0)
/* The numbers as they stand in a buffer. */
uint32_t float_bits(float value);
uint64_t double_bits(double value);

/* A table that was put. */
struct fb_made {
    uint32_t at;     /* position */
    uint32_t vtable; /* index in vtables */
};

/* Starts a buffer in memory of the arena; gives the reference to the root table. */
uint32_t fb_start(struct fb_build *b, struct arena *arena, const char identifier[4]);
/* fb_start for a buffer that is streamed. Without a sink (NULL), positions and sizes are counted, and no bytes made. */
uint32_t fb_start_stream(struct fb_build *b, struct arena *arena, fb_sink_fn *sink, void *user,
                         const char identifier[4]);
/* Says that no reference is open in the bytes so far: they go to the sink when they are many. */
void fb_settle(struct fb_build *b);
/* fb_settle, and the bytes go to the sink at once. Gives the status of the sink's first failure. */
odlc_status fb_flush(struct fb_build *b) MUST_USE;

/* Each of the following appends an object and makes the reference lead to the object. */

/* At most 16 slots, numbered below 16. */
struct fb_made fb_put_table(struct fb_build *b, uint32_t reference, const struct fb_slot *slots, unsigned count);
/* The position of a field of a table that was put. */
uint32_t fb_slot_ref(const struct fb_build *b, struct fb_made table, unsigned slot);
/* Gives the string's position. */
uint32_t fb_put_string(struct fb_build *b, uint32_t reference, const char *string);
/* A vector of count references; reference i is at result + 4 * i. */
uint32_t fb_put_references(struct fb_build *b, uint32_t reference, uint32_t count);
/* A vector of count references that lead to the targets, positions that come later. Settles. Gives the vector's
 * position. */
uint32_t fb_put_targets(struct fb_build *b, uint32_t reference, const uint32_t *targets, uint32_t count);
/* A vector of count references that are filled in later. Settles. Gives the first one's position. */
uint32_t fb_put_open_references(struct fb_build *b, uint32_t reference, uint32_t count);
/* Makes references, the first of which is there, lead to the targets; all were put, as zeros. Flushes, and fails as
 * fb_flush and the fill do. */
odlc_status fb_fill_references(struct fb_build *b, uint32_t first, const uint32_t *targets, uint32_t count) MUST_USE;
void fb_put_strings(struct fb_build *b, uint32_t reference, const char *const *strings, uint32_t count);
void fb_put_words(struct fb_build *b, uint32_t reference, const uint32_t *words, uint32_t count);
/* Bytes, the first of which is aligned to 8 in the buffer. */
void fb_put_bytes(struct fb_build *b, uint32_t reference, const uint8_t *bytes, uint32_t size);
/* fb_put_bytes for bytes that the caller gives to the sink between the two calls. Flushes, and fails as fb_flush does.
 */
odlc_status fb_begin_bytes(struct fb_build *b, uint32_t reference, uint64_t size) MUST_USE;
void fb_end_bytes(struct fb_build *b, uint64_t size);
/* Makes the 32-bit reference lead to a target, which may lie behind all objects so far. */
void fb_link(struct fb_build *b, uint32_t reference, uint64_t target);
/* Sets the 64-bit field at that position. */
void fb_set_u64(struct fb_build *b, uint32_t field, uint64_t value);

/* A table with children that may be wanted again: its bytes, which do not depend on its position but for the distance
 * to the vtables. Large tables, and tables that brought a vtable with them, are not kept. */
enum { FB_KEPT_BYTES = 192, FB_KEPT_TABLES = 2 };
struct fb_kept {
    uint32_t size; /* 0: nothing is kept */
    uint32_t at;   /* position of the original */
    uint32_t tables[FB_KEPT_TABLES];
    uint8_t bytes[FB_KEPT_BYTES];
};
/* Keeps the bytes from the first of these tables on, in which there are no other tables. n_vtables: how many vtables
 * there were before the first was put. */
void fb_keep(struct fb_build *b, const struct fb_made *tables, unsigned n_tables, size_t n_vtables,
             struct fb_kept *out);
/* Puts a copy of the kept bytes. Gives the position of the first table. */
uint32_t fb_put_kept(struct fb_build *b, uint32_t reference, const struct fb_kept *kept);

/* Bytes so far. 32-bit offsets reach no further than INT32_MAX. */
uint64_t fb_size(const struct fb_build *b);

#endif
