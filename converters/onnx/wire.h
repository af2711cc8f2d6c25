/* The bytes of a model file as protobuf messages. They are checked first, all of them, and then read in place, message
 * by message: no copy of the model, as a tree or otherwise, is ever made. */
#ifndef CONVERTERS_ONNX_WIRE_H
#define CONVERTERS_ONNX_WIRE_H

#include "base/file.h"
#include "base/reader.h"

/* Messages nest at most this deep (a graph in an attribute of a node takes three levels). */
#define WIRE_MAX_DEPTH 100

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* One field as it stands on the wire. */
struct wire_field {
    uint64_t at;            /* of its tag, in the file */
    uint64_t content, size; /* of its value, without tag and length, in the file */
    uint64_t value;         /* of a varint */
    uint32_t number;
    uint8_t type;
};

/* Checks the whole file as a model, or as a tensor: fields lie within their messages, have the wire type that the
 * schema says, occur once where they may, and texts hold no NUL bytes. Tensors' elements are not looked at. */
odlc_status wire_check_model(struct diags *diags, const struct file *file) MUST_USE;
odlc_status wire_check_tensor(struct diags *diags, const struct file *file) MUST_USE;

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

/* A base-128 varint; past the end or longer than 64 bits it fails the reader and gives 0. */
uint64_t read_long_varint(struct reader *r);
static inline uint64_t read_varint(struct reader *r)
{
    if (!r->failed && r->pos < r->size && r->data[r->pos] < 0x80)
        return r->data[r->pos++];
    return read_long_varint(r);
}

#endif
