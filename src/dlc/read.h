/* Between the parts of the reader. */
#ifndef DLC_READ_H
#define DLC_READ_H

#include "dlc/record.h"
#include "dlc/schema.h"

/* A stream of the zip behind its header: a flatbuffer that has been verified. Its tables are read in memory that nobody
 * else writes to; payloads stay in the file's mapping, whose bytes may be any and may change between two looks. */
struct dlc_stream {
    const char *name;
    struct fb_buffer buffer; /* the bytes that were verified are there, payloads are not */
    const uint8_t *mapped;   /* the flatbuffer, all of it */
    struct file_copy *copy;  /* that the buffer's bytes are a part of, or NULL: they are mapped */
    uint64_t start;          /* of the buffer in the copy */
    uint64_t offset;         /* of the buffer in the file, for messages */
    uint32_t major, minor;
    char identifier[5];
};

/* The bytes that payloads are views of. */
struct dlc_bytes {
    const uint8_t *data;
    uint64_t size;
    const struct file *file; /* NULL: inflated into memory */
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
    struct dlc_bytes payload;        /* what holds the bytes: the params stream or model.params.bin */
};

odlc_status dlc_read_v4(struct dlc_reading *r) MUST_USE;
odlc_status dlc_read_v3(struct dlc_reading *r) MUST_USE;
/* Sets dlc->metadata from the entry `dlc.metadata` or a JSON one (`dlc.metadata2.2.0`). */
odlc_status dlc_read_metadata(struct dlc_reading *r) MUST_USE;

/* Everything behind dlc_read, for a file that is mapped already. */
odlc_status dlc_read_mapped(struct arena *arena, struct diags *diags, struct file *file,
                            struct dlc_file **out) MUST_USE;

odlc_status dlc_verify_buffer(struct dlc_reading *r, const struct dlc_stream *stream,
                              const struct fb_type *root) MUST_USE;
/* Sets stream->identifier, of a buffer of 8 bytes or more. */
odlc_status dlc_read_identifier(const struct dlc_reading *r, struct dlc_stream *stream) MUST_USE;
/* An error about the container's content; node may be NULL. */
odlc_status dlc_invalid(const struct dlc_reading *r, const char *node, const char *format, ...)
    PRINTF_LIKE(3, 4) MUST_USE;
/* A vector of payload bytes of the parameters, where they are mapped. */
const uint8_t *dlc_payload(const struct dlc_reading *r, struct fb_vector v);

/* A dims vector as shape: rank and product are checked. */
odlc_status dlc_read_shape(const struct dlc_reading *r, const char *name, struct fb_vector dims,
                           const struct shape **out) MUST_USE;
/* An equal shape that stays as long as the container. */
const struct shape *dlc_keep_shape(const struct dlc_reading *r, const struct shape *shape);
/* "" for an absent string, so that names can be used without asking. */
const char *dlc_text(const char *string);
/* Copies a vector of strings' pointers. */
const char **dlc_read_strings(struct arena *arena, struct fb_vector v);
/* Gives the tensor its bytes: sizes are checked, strings are split. */
odlc_status dlc_attach(const struct dlc_reading *r, struct dlc_tensor *tensor, const uint8_t *bytes,
                       uint64_t size) MUST_USE;

/* The encoded form of strings, shared with the writer: each ends in NUL, one behind the other. */
uint64_t dlc_strings_size(const struct view *view);

#endif
