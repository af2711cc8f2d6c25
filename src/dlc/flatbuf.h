/* SPDX-License-Identifier: Apache-2.0 */
/* FlatBuffers: verifying and reading them. Source of the wire format: the FlatBuffers "internals" documentation.
 *
 * Positions are byte offsets from the start of the buffer. Nothing needs to be aligned: real containers put buffers at
 * any offset of the file. */
#ifndef DLC_FLATBUF_H
#define DLC_FLATBUF_H

#include "base/file_copy.h"
#include "base/reader.h"

enum fb_kind {
    FB_IGNORED, /* a slot that nobody reads */
    FB_8,       /* scalars by their size: bool and ubyte, 16 … 64 bits, float as FB_32, double as FB_64 */
    FB_32,
    FB_64,
    FB_STRING,
    FB_TABLE,
    FB_BYTES, /* vectors */
    FB_WORDS, /* of 32-bit scalars */
    FB_STRINGS,
    FB_TABLES
};

struct fb_field {
    enum fb_kind kind;
    const struct fb_type *type; /* FB_TABLE, FB_TABLES; FB_BYTES and FB_WORDS: FB_PAYLOAD or NULL */
};

struct fb_type {
    const struct fb_field *fields; /* by slot */
    uint32_t n_fields;
};

/* Marks vectors whose elements are weights: they are not taken into a copy. */
extern const struct fb_type fb_payload;
#define FB_PAYLOAD (&fb_payload)

struct fb_fault {
    uint64_t offset;  /* in the buffer */
    const char *what; /* a phrase: "table outside the buffer"; static */
};

/* Walks everything reachable from the root and checks offsets, counts and strings (which must end in NUL and hold no
 * other). Nesting is limited, and so is the work that shared parts can cause. True when the buffer is sound; else
 * *fault is set. */
bool fb_verify(const uint8_t *data, uint64_t size, const struct fb_type *root, struct fb_fault *fault);
/* fb_verify for a buffer that a file may be written to under: the bytes that are verified are taken into the copy,
 * where the buffer begins at `start`, and the accessors read no others. False, too, when a read fails: then copy->error
 * is set. */
bool fb_verify_copy(struct file_copy *copy, uint64_t start, uint64_t size, const struct fb_type *root,
                    struct fb_fault *fault);

/* ---- reading ---- */

/* A buffer to read. Every access stays inside: an offset that leads out sets `failed`, which stays, and the object
 * there is absent. A verified buffer never fails. The read-back does not verify a buffer, which would look at every
 * byte twice, and asks for `failed` once a table. */
struct fb_buffer {
    const uint8_t *data;
    uint64_t size;
    bool is_aligned; /* tables, vectors and strings must begin at multiples of 4, and tables end there */
    bool failed;
};

/* Both live as long as their buffer's bytes, and refer to the struct fb_buffer. */
struct fb_table {
    struct fb_buffer *in;
    uint64_t pos;               /* 0: absent. All fields of an absent table are absent */
    const uint8_t *vtable;      /* NULL when absent */
    uint32_t vtable_size, size; /* bytes */
};

struct fb_vector {
    struct fb_buffer *in;
    uint64_t pos; /* of the first element; 0: absent */
    uint32_t count;
};

static inline bool fb_inside(struct fb_buffer *in, uint64_t at, uint64_t size)
{
    bool good = at <= in->size && size <= in->size - at;
    if (!good)
        in->failed = true;
    return good;
}

/* Where the 32-bit reference leads: 4 bytes are there. 0: outside. */
static inline uint64_t fb_follow(struct fb_buffer *in, uint64_t reference)
{
    uint64_t at = fb_inside(in, reference, 4) ? reference + load_le(in->data + reference, 4) : 0;
    if (in->is_aligned && at % 4 != 0)
        in->failed = true;
    return fb_inside(in, at, 4) ? at : 0;
}

/* The table that a reference leads to. */
static inline struct fb_table fb_open(struct fb_buffer *in, uint64_t reference)
{
    struct fb_table absent = {.in = in};
    uint64_t at = fb_follow(in, reference);
    if (at == 0)
        return absent;
    uint64_t vtable = at - (uint64_t)(int64_t)(int32_t)load_le(in->data + at, 4); /* wraps when before the start */
    if (!fb_inside(in, vtable, 4))
        return absent;
    uint32_t vtable_size = (uint32_t)load_le(in->data + vtable, 2), size = (uint32_t)load_le(in->data + vtable + 2, 2);
    if (vtable_size < 4 || vtable_size % 2 != 0 || size < 4 || (in->is_aligned && size % 4 != 0))
        in->failed = true;
    if (!fb_inside(in, vtable, vtable_size) || !fb_inside(in, at, size) || in->failed)
        return absent;
    return (struct fb_table){in, at, in->data + vtable, vtable_size, size};
}

static inline struct fb_table fb_root(struct fb_buffer *in)
{
    return fb_open(in, 0);
}

/* The position of the slot's field, which has so many bytes; 0 when absent. */
static inline uint64_t fb_place(struct fb_table t, unsigned slot, unsigned bytes)
{
    uint32_t entry = 4 + 2 * slot;
    uint32_t at = entry + 2 <= t.vtable_size ? (uint32_t)load_le(t.vtable + entry, 2) : 0;
    if (at == 0)
        return 0;
    if (at >= 4 && at + bytes <= t.size)
        return t.pos + at;
    t.in->failed = true;
    return 0;
}

/* Whether the slot's reference is there. */
static inline bool fb_has(struct fb_table t, unsigned slot)
{
    return fb_place(t, slot, 4) != 0;
}

/* Absent scalars are 0. */
static inline uint64_t fb_scalar(struct fb_table t, unsigned slot, unsigned bytes)
{
    uint64_t at = fb_place(t, slot, bytes);
    return at ? load_le(t.in->data + at, bytes) : 0;
}

static inline uint8_t fb_u8(struct fb_table t, unsigned slot)
{
    return (uint8_t)fb_scalar(t, slot, 1);
}

static inline uint32_t fb_u32(struct fb_table t, unsigned slot)
{
    return (uint32_t)fb_scalar(t, slot, 4);
}

static inline uint64_t fb_u64(struct fb_table t, unsigned slot)
{
    return fb_scalar(t, slot, 8);
}

/* As double, which has every float's value. */
static inline double fb_float(struct fb_table t, unsigned slot)
{
    uint32_t bits = fb_u32(t, slot);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double fb_double(struct fb_table t, unsigned slot)
{
    uint64_t bits = fb_u64(t, slot);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The position that a 64-bit offset leads to, which counts from its own field; 0 when absent or outside the buffer. */
static inline uint64_t fb_far(struct fb_table t, unsigned slot)
{
    uint64_t at = fb_place(t, slot, 8), distance = at ? load_le(t.in->data + at, 8) : 0;
    return at && fb_inside(t.in, at, distance) ? at + distance : 0;
}

static inline struct fb_table fb_child(struct fb_table t, unsigned slot)
{
    uint64_t at = fb_place(t, slot, 4);
    return at ? fb_open(t.in, at) : (struct fb_table){.in = t.in};
}

/* A vector of elements of so many bytes. */
static inline struct fb_vector fb_vector(struct fb_table t, unsigned slot, unsigned element)
{
    uint64_t reference = fb_place(t, slot, 4), at = reference ? fb_follow(t.in, reference) : 0;
    uint32_t count = at ? (uint32_t)load_le(t.in->data + at, 4) : 0;
    if (at == 0 || !fb_inside(t.in, at + 4, (uint64_t)count * element))
        return (struct fb_vector){.in = t.in};
    return (struct fb_vector){t.in, at + 4, count};
}

/* The elements of a vector that is there. Those of an FB_PAYLOAD vector were not verified, and need not be there. */
static inline const uint8_t *fb_bytes(struct fb_vector v)
{
    return v.in->data + v.pos;
}

/* Element i < count of vectors of words, tables and strings. */
static inline uint32_t fb_word_at(struct fb_vector v, uint32_t i)
{
    return (uint32_t)load_le(fb_bytes(v) + 4 * (uint64_t)i, 4);
}

static inline struct fb_table fb_table_at(struct fb_vector v, uint32_t i)
{
    return fb_open(v.in, v.pos + 4 * (uint64_t)i);
}

/* The string that a reference leads to, which ends in NUL only in a verified buffer. */
static inline const char *fb_text(struct fb_buffer *in, uint64_t reference)
{
    uint64_t at = fb_follow(in, reference);
    return at ? (const char *)in->data + at + 4 : NULL;
}

/* Lives as long as the buffer; NULL when absent. */
static inline const char *fb_string(struct fb_table t, unsigned slot)
{
    uint64_t at = fb_place(t, slot, 4);
    return at ? fb_text(t.in, at) : NULL;
}

static inline const char *fb_string_at(struct fb_vector v, uint32_t i)
{
    return fb_text(v.in, v.pos + 4 * (uint64_t)i);
}

/* Whether a reference leads to that string, of a buffer that need not be verified. */
static inline bool fb_is_text(struct fb_buffer *in, uint64_t reference, const char *meant)
{
    uint64_t at = fb_follow(in, reference), size = strlen(meant) + 1;
    return at && fb_inside(in, at, 4 + size) && load_le(in->data + at, 4) == size - 1 &&
           memcmp(in->data + at + 4, meant, size) == 0;
}

#endif
