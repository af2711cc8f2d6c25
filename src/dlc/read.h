/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the reader. All memory is the arena of struct dlc_reading. Functions that fail have reported
 * why; ODLC_ERR_INVALID: the container is damaged, ODLC_ERR_IO: the file cannot be read or has become shorter. */
#ifndef DLC_READ_H
#define DLC_READ_H

#include "dlc/record.h"
#include "dlc/schema.h"

/* Bytes that payloads are views of. */
struct dlc_bytes {
    const uint8_t *data; /* NULL: the file has a source */
    uint64_t size;
    const struct file *file; /* NULL: inflated into memory */
    uint64_t offset;         /* in the file */
};

/* A stream of the zip behind the stream header: a flatbuffer. Tables are verified and read in memory that nobody else
 * writes to; payloads stay in the file's mapping, whose bytes may be any and may change between two looks. */
struct dlc_stream {
    const char *name;
    struct fb_buffer buffer; /* bytes that were verified are there, payloads are not */
    struct dlc_bytes whole;  /* the whole flatbuffer, payloads included */
    struct file_copy *copy;  /* holds the buffer's bytes; NULL: they are in the mapping, or inflated into memory */
    uint64_t start;          /* of the buffer in the copy */
    uint64_t offset;         /* of the buffer in the file, for messages */
    uint32_t major, minor;
    char identifier[5];
};

/* The shapes that were met lately, so that equal ones of a graph are kept once or a few times. */
struct shape_cache {
    const struct shape *recent[256];
};

struct dlc_reading {
    struct arena *arena;
    struct diags *diags;
    struct shape_cache *shapes;
    struct file *file;
    struct dlc_file *dlc;
    struct dlc_stream model, params; /* params.name is NULL when there are none */
    struct dlc_bytes payload;        /* the params stream or model.params.bin */
};

/* Set the graphs of r->dlc from streams of that version. ODLC_ERR_LIMIT: a tensor has too many dimensions, or (version
 * 4) strings and attributes share data too often. */
odlc_status dlc_read_v4(struct dlc_reading *r) MUST_USE;
odlc_status dlc_read_v3(struct dlc_reading *r) MUST_USE;
/* Sets dlc->metadata from the entry `dlc.metadata` or a JSON one (`dlc.metadata2.2.0`). ODLC_ERR_LIMIT: the metadata
 * are too large. */
odlc_status dlc_read_metadata(struct dlc_reading *r) MUST_USE;

/* fb_verify of the stream's buffer, which is taken into stream->copy on the way. */
odlc_status dlc_verify_buffer(struct dlc_reading *r, const struct dlc_stream *stream,
                              const struct fb_type *root) MUST_USE;
/* Sets stream->identifier; the buffer must have 8 bytes or more. */
odlc_status dlc_read_identifier(const struct dlc_reading *r, struct dlc_stream *stream) MUST_USE;
/* Reports an error about the container's content; node may be NULL. Gives ODLC_ERR_INVALID. */
odlc_status dlc_invalid(const struct dlc_reading *r, const char *node, const char *format, ...)
    PRINTF_LIKE(3, 4) MUST_USE;
/* `size` bytes from `at` on, which must lie in the bytes. */
struct dlc_bytes dlc_part(const struct dlc_bytes *bytes, uint64_t at, uint64_t size);
/* The bytes of an entry, as zip_bytes gives them, and fails. */
odlc_status dlc_entry_bytes(const struct dlc_reading *r, const struct dlc_entry *entry, struct dlc_bytes *out) MUST_USE;
/* The payload of so many bytes that a vector of the parameters holds, not of the copy. */
struct dlc_bytes dlc_payload(const struct dlc_reading *r, struct fb_vector v, uint64_t size);

/* The shape that a vector of dimensions says, kept as dlc_keep_shape does; name: of the tensor. ODLC_ERR_LIMIT: more
 * than MAX_RANK dimensions; ODLC_ERR_INVALID: their product is too large. */
odlc_status dlc_read_shape(const struct dlc_reading *r, const char *name, struct fb_vector dims,
                           const struct shape **out) MUST_USE;
/* A shape equal to this one that lives as long as the container; equal shapes may be one. */
const struct shape *dlc_keep_shape(const struct dlc_reading *r, const struct shape *shape);
/* The string, or "" for NULL, so that names can be used without asking. */
const char *dlc_text(const char *string);
/* The strings of a vector; the array is the arena's, the strings stay in the buffer. */
const char **dlc_read_strings(struct arena *arena, struct fb_vector v);
/* Makes bytes the view of a tensor; strings are copied and split. ODLC_ERR_INVALID: the tensor has a view already, or
 * the size is not that of its elements. The bytes of a tensor of unknown type are left alone. */
odlc_status dlc_attach(const struct dlc_reading *r, struct dlc_tensor *tensor, const struct dlc_bytes *bytes) MUST_USE;
/* The same bytes in memory, where they stay as they are; those of a mapping stay there. ODLC_ERR_IO: they cannot be
 * read. */
odlc_status dlc_take_in(const struct dlc_reading *r, struct dlc_bytes *bytes) MUST_USE;

/* Bytes of a string tensor's payload, in which strings that end in NUL follow each other. The writer asks, too. */
uint64_t dlc_strings_size(const struct view *view);

#endif
