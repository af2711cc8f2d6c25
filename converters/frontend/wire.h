/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a model file as protobuf messages. They are checked first, all of them, and then read in place, message
 * by message: no copy of the model, as a tree or otherwise, is ever made. */
#ifndef CONVERTERS_FRONTEND_WIRE_H
#define CONVERTERS_FRONTEND_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "base/file.h"
#include "base/reader.h"

/* Messages nest at most this deep (a graph in an attribute of a node takes three levels). */
#define WIRE_MAX_DEPTH 100
/* Bytes of a text, which is a name in all schemas here: names are put together, and repeated for each trip of a loop.
 */
#define WIRE_MAX_TEXT 65536

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* One field as it stands on the wire. */
struct wire_field {
    uint64_t at;            /* of its tag, in the file */
    uint64_t content, size; /* of its value, without tag and length, in the file */
    uint64_t value;         /* of a varint */
    uint32_t number;
    uint8_t type;
};

/* What files of a framework are. */
struct wire_schema {
    const char *what; /* "an ONNX model" */
    const char *form; /* "ONNX's protobuf form" */
    /* Fields that hold the elements of tensors, which are not looked at: of this message, with the wire type of a
     * single element. One of WIRE_BYTES may occur once. */
    const ProtobufCMessageDescriptor *tensor;
    struct wire_elements {
        uint32_t number;
        uint8_t type;
    } elements[16]; /* number 0: no more */
};

/* Checks that the whole file is such a message: fields lie within their messages, have the wire type that the schema
 * says, occur once where they may, and texts hold no NUL bytes. */
odlc_status wire_check(struct diags *diags, const struct file *file, const struct wire_schema *schema,
                       const ProtobufCMessageDescriptor *message) MUST_USE;

/* A message that is being read, field by field. Pages are dropped behind it. */
struct wire {
    const struct file *file;
    struct reader r;
    uint64_t dropped; /* up to where */
};

struct wire wire_of(const struct file *file, uint64_t from, uint64_t to);
/* The message in a field. */
static inline struct wire wire_in(const struct file *file, const struct wire_field *f)
{
    return wire_of(file, f->content, f->content + f->size);
}

/* The next field; false after the last one, and where a file is no longer what was checked. */
bool wire_next(struct wire *w, struct wire_field *f);

static inline const char *wire_bytes(const struct file *file, const struct wire_field *f)
{
    return (const char *)file->data + f->content;
}

/* The fields of one number within a message: they lie between two places, and most often there is nothing else. */
struct section {
    uint64_t from, to; /* in the file */
    size_t count;
};
static inline void section_add(struct section *s, const struct wire_field *f)
{
    if (s->count++ == 0)
        s->from = f->at;
    s->to = f->content + f->size;
}

enum { SECTIONS = 32 };
struct sections {
    struct section of[SECTIONS]; /* by number */
};
/* Finds them without looking into fields. */
struct sections wire_sections(const struct file *file, uint64_t from, uint64_t to);
static inline struct sections wire_sections_of(const struct file *file, const struct wire_field *message)
{
    return wire_sections(file, message->content, message->content + message->size);
}
struct wire wire_section(const struct file *file, const struct sections *s, uint32_t number);
/* The one field of that number; of size 0 when there is none. */
struct wire_field wire_only(const struct file *file, const struct sections *s, uint32_t number);
/* The text in a field, copied to the arena; "" for one of size 0. */
const char *wire_text(struct arena *arena, const struct file *file, const struct wire_field *f);
/* The next field of that number; false after the last one. */
bool wire_next_of(struct wire *w, uint32_t number, struct wire_field *f);

/* The elements of a list over all fields of its number, packed or not. */
struct wire_list {
    struct wire w;
    uint32_t number;
    struct reader packed; /* the rest of a packed field */
    unsigned width;       /* of an element in bytes; 0: a varint */
    bool failed;
};
struct wire_list wire_list_of(struct wire message, uint32_t number, unsigned width);
/* The next element's bits; false after the last one, or with failed set where the bytes end within an element. */
bool wire_list_next(struct wire_list *list, uint64_t *bits);
/* The number of elements, all well-formed; UINT64_MAX when they are not. */
uint64_t wire_list_count(struct wire_list list);

/* A base-128 varint; past the end or longer than 64 bits it fails the reader and gives 0. */
uint64_t read_long_varint(struct reader *r);
static inline uint64_t read_varint(struct reader *r)
{
    if (!r->failed && r->pos < r->size && r->data[r->pos] < 0x80)
        return r->data[r->pos++];
    return read_long_varint(r);
}

#endif
