/* FlatBuffers from outside: a buffer is verified once against a description of its tables; afterwards the accessors
 * below read it without further checks. Source of the wire format: the FlatBuffers "internals" documentation.
 *
 * Positions are byte offsets from the start of the buffer. Nothing needs to be aligned: real containers put buffers at
 * any offset of the file. */
#ifndef DLC_FLATBUF_H
#define DLC_FLATBUF_H

#include "base/file_copy.h"

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
    uint64_t offset;
    const char *what; /* a phrase: "table outside the buffer" */
};

/* Walks everything reachable from the root and checks offsets, counts and strings (which must end in NUL and hold no
 * other). Nesting is limited, and so is the work that shared parts can cause. True when all is well. */
bool fb_verify(const uint8_t *data, uint64_t size, const struct fb_type *root, struct fb_fault *fault);
/* The same for a buffer that a file may be written to under: what is verified is taken into the copy, where the buffer
 * begins at `start`, and what the accessors read is nothing else. Also false when that fails (copy->error). */
bool fb_verify_copy(struct file_copy *copy, uint64_t start, uint64_t size, const struct fb_type *root,
                    struct fb_fault *fault);

/* ---- reading a verified buffer ---- */

struct fb_table {
    const uint8_t *data; /* of the buffer; NULL: absent */
    uint64_t pos;
};

struct fb_vector {
    const uint8_t *data;
    uint64_t pos; /* of the first element */
    uint32_t count;
};

struct fb_table fb_root(const uint8_t *data);
bool fb_has(struct fb_table t, unsigned slot);
/* Where the slot's field is, or 0 when it is absent. */
uint64_t fb_field_pos(struct fb_table t, unsigned slot);
uint8_t fb_u8(struct fb_table t, unsigned slot);
uint32_t fb_u32(struct fb_table t, unsigned slot);
int32_t fb_i32(struct fb_table t, unsigned slot);
uint64_t fb_u64(struct fb_table t, unsigned slot);
float fb_float(struct fb_table t, unsigned slot);
double fb_double(struct fb_table t, unsigned slot);
/* Lives as long as the buffer; NULL when absent. */
const char *fb_string(struct fb_table t, unsigned slot);
struct fb_table fb_child(struct fb_table t, unsigned slot);
/* Absent vectors have count 0. */
struct fb_vector fb_vector(struct fb_table t, unsigned slot);
struct fb_table fb_table_at(struct fb_vector v, uint32_t i);
const char *fb_string_at(struct fb_vector v, uint32_t i);
uint32_t fb_word_at(struct fb_vector v, uint32_t i);

#endif
