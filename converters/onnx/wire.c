/* protobuf-c copies every bytes field into its tree, so unpacking a model costs twice its size in memory. The wire
 * bytes are therefore walked first, along the schema's own descriptors, and rewritten without what the tree must not
 * hold: element bytes become Payload entries (where in the file they are), and fields outside the schema are dropped.
 * The walk never touches the bytes it skips, and it checks all that it passes, so that errors come with a place. */
#include "converters/onnx/wire.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* What a Payload says. size 0: nothing. */
struct run {
    uint32_t field;
    uint64_t offset, size;
    bool packed;
};

struct walk {
    struct arena *arena;
    struct diags *diags;
    const struct file *file;
    text out;                          /* the rewritten message */
    const char *trail[WIRE_MAX_DEPTH]; /* names of the fields that lead to the message at work */
    uint32_t depth;
    struct run run; /* elements seen but not yet written */
};

/* One field as it stands on the wire. */
struct wire_field {
    uint64_t at;            /* of its tag */
    uint64_t content, size; /* of its value, without tag and length */
    uint32_t number;
    uint8_t type;
};

static odlc_status walk_message(struct walk *w, const ProtobufCMessageDescriptor *message, uint64_t from, uint64_t to);

uint64_t read_varint(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = read_u8(r);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->failed = true;
    return 0;
}

/* ---- diagnostics ---- */

static odlc_status bad_wire(struct walk *w, uint64_t at, const char *field, const char *what)
{
    text where = {0};
    for (uint32_t i = 0; i < w->depth; i++)
        text_add(w->arena, &where, "%s.", w->trail[i]);
    text_add(w->arena, &where, "%s", field);
    bool named = where.count > 0;
    const char *hint = "the file is damaged or truncated, or is not in ONNX's protobuf form";
    return diag_error(w->diags, ODLC_ERR_INVALID,
                      AT(.file = w->file->path, .offset = at, .has_offset = 1, .hint = hint), "onnx-wire",
                      "not an ONNX model: %s%s%s", what, named ? " in " : "", named ? where.data : "");
}

/* ---- writing ---- */

static void put_varint(struct walk *w, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (char)(value | 0x80);
    bytes[count++] = (char)value;
    text_add_bytes(w->arena, &w->out, bytes, count);
}

static void put_tag(struct walk *w, uint32_t number, uint8_t type)
{
    put_varint(w, (uint64_t)number << 3 | type);
}

#define LENGTH_BYTES 5

/* Leaves room for a length that is known later; a varint may be padded. */
static size_t put_length_later(struct walk *w)
{
    text_add_bytes(w->arena, &w->out, "\0\0\0\0", LENGTH_BYTES);
    return w->out.count;
}

static odlc_status set_length(struct walk *w, size_t start)
{
    size_t length = w->out.count - start;
    if (length > INT32_MAX)
        return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->file->path), "onnx-graph-size",
                          "the graph without its weights is larger than 2 GiB");
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        w->out.data[start - LENGTH_BYTES + i] = (char)((length >> (7 * i) & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
    return ODLC_OK;
}

/* ---- element bytes ---- */

#define NOT_ELEMENTS 0xFF

/* The wire type of a single element, for the fields that hold elements. */
static uint8_t element_wire_type(const ProtobufCMessageDescriptor *message, uint32_t number)
{
    if (message != &onnx__tensor_proto__descriptor)
        return NOT_ELEMENTS;
    switch (number) {
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__FLOAT_DATA:
        return WIRE_FIXED32;
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__DOUBLE_DATA:
        return WIRE_FIXED64;
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__INT32_DATA:
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__INT64_DATA:
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__UINT64_DATA:
        return WIRE_VARINT;
    case ONNX__TENSOR_PROTO__PAYLOAD_FIELD__RAW_DATA:
        return WIRE_BYTES;
    default:
        return NOT_ELEMENTS;
    }
}

/* The number of TensorProto.payload, which files must not set. */
#define PAYLOAD_NUMBER 20000

static odlc_status put_run(struct walk *w)
{
    if (w->run.size == 0)
        return ODLC_OK;
    put_tag(w, PAYLOAD_NUMBER, WIRE_BYTES);
    size_t start = put_length_later(w);
    put_tag(w, 1, WIRE_VARINT);
    put_varint(w, w->run.field);
    put_tag(w, 2, WIRE_VARINT);
    put_varint(w, w->run.offset);
    put_tag(w, 3, WIRE_VARINT);
    put_varint(w, w->run.size);
    put_tag(w, 4, WIRE_VARINT);
    put_varint(w, w->run.packed);
    w->run = (struct run){0};
    return set_length(w, start);
}

/* Elements that follow each other with their tags make one run, so a tensor of a writer that packs nothing costs no
 * more than others. */
static odlc_status add_elements(struct walk *w, const struct wire_field *f)
{
    struct run *run = &w->run;
    bool packed = f->type == WIRE_BYTES;
    if (!packed && run->size > 0 && !run->packed && run->field == f->number && run->offset + run->size == f->at) {
        run->size += f->content + f->size - f->at;
        return ODLC_OK;
    }
    TRY(put_run(w));
    uint64_t offset = packed ? f->content : f->at;
    *run = (struct run){.field = f->number, .offset = offset, .size = f->content + f->size - offset, .packed = packed};
    return ODLC_OK;
}

/* ---- walking ---- */

static odlc_status read_field(struct walk *w, struct reader *r, struct wire_field *f)
{
    f->at = r->pos;
    uint64_t tag = read_varint(r);
    f->number = (uint32_t)(tag >> 3);
    f->type = tag & 7;
    if (r->failed || tag > UINT32_MAX || f->number == 0)
        return bad_wire(w, f->at, "", "a field has no valid tag");
    if (f->type == WIRE_BYTES)
        f->size = read_varint(r);
    f->content = r->pos;
    switch (f->type) {
    case WIRE_VARINT:
        read_varint(r);
        f->size = r->pos - f->content;
        break;
    case WIRE_FIXED64:
        f->size = 8;
        read_bytes(r, 8);
        break;
    case WIRE_FIXED32:
        f->size = 4;
        read_bytes(r, 4);
        break;
    case WIRE_BYTES:
        read_bytes(r, f->size);
        break;
    default:
        return bad_wire(w, f->at, "", "a field has an unknown wire type");
    }
    return r->failed ? bad_wire(w, f->at, "", "a field runs past the end of its message") : ODLC_OK;
}

static uint8_t wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_FIXED32;
    default:
        return WIRE_VARINT; /* the schema has no other fixed-width types */
    }
}

static bool packed_varints_end(const uint8_t *bytes, uint64_t size)
{
    struct reader r = reader_of(bytes, size);
    while (r.pos < r.size && !r.failed)
        read_varint(&r);
    return !r.failed;
}

/* Checks the wire type, and the content of text and of packed lists, so that protobuf-c finds nothing to refuse. */
static odlc_status check_field(struct walk *w, const ProtobufCFieldDescriptor *field, const struct wire_field *f)
{
    const uint8_t *content = w->file->data + f->content;
    uint8_t expected = wire_type_of(field->type);
    if (f->type == expected) {
        if (field->type == PROTOBUF_C_TYPE_STRING && f->size > 0 && memchr(content, 0, f->size))
            return bad_wire(w, f->at, field->name, "a text holds a NUL byte");
        return ODLC_OK;
    }
    if (f->type != WIRE_BYTES || field->label != PROTOBUF_C_LABEL_REPEATED)
        return bad_wire(w, f->at, field->name, "a field has a wire type that its meaning does not allow");
    if (expected == WIRE_FIXED32 ? f->size % 4 != 0 : !packed_varints_end(content, f->size))
        return bad_wire(w, f->at, field->name, "a packed list is broken");
    return ODLC_OK;
}

/* Systems that keep files in huge pages map 2 MiB for the few bytes of a tensor that the walk reads: with tensors of
 * that size the whole file would become resident. */
#define DROP_SIZE (UINT64_C(1) << 20)

static odlc_status walk_field(struct walk *w, const ProtobufCFieldDescriptor *field, const struct wire_field *f)
{
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
        text_add_bytes(w->arena, &w->out, (const char *)w->file->data + f->at, f->content + f->size - f->at);
        return ODLC_OK;
    }
    if (w->depth == WIRE_MAX_DEPTH)
        return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->file->path, .offset = f->at, .has_offset = 1),
                          "onnx-depth", "messages nest deeper than %d levels", WIRE_MAX_DEPTH);
    put_tag(w, f->number, WIRE_BYTES);
    size_t start = put_length_later(w);
    w->trail[w->depth++] = field->name;
    TRY(walk_message(w, field->descriptor, f->content, f->content + f->size));
    w->depth--;
    if (f->size >= DROP_SIZE && field->descriptor == &onnx__tensor_proto__descriptor)
        file_drop(w->file, f->at, f->content + f->size - f->at);
    return set_length(w, start);
}

/* The fields of a message that occurred: one bit per field of the schema, and one for raw_data, which has none there.
 */
#define SEEN_RAW_DATA (UINT64_C(1) << 63)

static odlc_status walk_elements(struct walk *w, const struct wire_field *f, uint8_t element, uint64_t *seen)
{
    if (f->type != element && f->type != WIRE_BYTES)
        return bad_wire(w, f->at, "data", "a field has a wire type that its meaning does not allow");
    if (element == WIRE_BYTES && *seen & SEEN_RAW_DATA)
        return bad_wire(w, f->at, "raw_data", "a field that can occur once occurs again");
    *seen |= element == WIRE_BYTES ? SEEN_RAW_DATA : 0;
    return add_elements(w, f);
}

static odlc_status walk_known(struct walk *w, const ProtobufCMessageDescriptor *message, const struct wire_field *f,
                              uint64_t *seen)
{
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(message, f->number);
    if (!field || f->number == PAYLOAD_NUMBER)
        return ODLC_OK;
    TRY(check_field(w, field, f));
    uint64_t bit = UINT64_C(1) << (field - message->fields);
    if (field->label != PROTOBUF_C_LABEL_REPEATED && *seen & bit)
        return bad_wire(w, f->at, field->name, "a field that can occur once occurs again");
    *seen |= bit;
    return walk_field(w, field, f);
}

static odlc_status walk_message(struct walk *w, const ProtobufCMessageDescriptor *message, uint64_t from, uint64_t to)
{
    struct reader r = reader_of(w->file->data, to);
    r.pos = from;
    uint64_t seen = 0;
    while (r.pos < r.size) {
        struct wire_field f = {0};
        TRY(read_field(w, &r, &f));
        uint8_t element = element_wire_type(message, f.number);
        TRY(element == NOT_ELEMENTS ? walk_known(w, message, &f, &seen) : walk_elements(w, &f, element, &seen));
    }
    return message == &onnx__tensor_proto__descriptor ? put_run(w) : ODLC_OK;
}

/* ---- unpacking ---- */

static void *unpack_alloc(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void unpack_free(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

static odlc_status unpack(struct arena *arena, struct diags *diags, const struct file *file,
                          const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **out)
{
    struct walk w = {.arena = arena, .diags = diags, .file = file};
    TRY(walk_message(&w, descriptor, 0, file->size));
    ProtobufCAllocator allocator = {.alloc = unpack_alloc, .free = unpack_free, .allocator_data = arena};
    const uint8_t *bytes = w.out.count > 0 ? (const uint8_t *)w.out.data : (const uint8_t *)"";
    *out = protobuf_c_message_unpack(descriptor, &allocator, w.out.count, bytes);
    return *out ? ODLC_OK : bad_wire(&w, 0, "", "the messages cannot be unpacked");
}

odlc_status wire_unpack(struct arena *arena, struct diags *diags, const struct file *file, Onnx__ModelProto **out)
{
    ProtobufCMessage *message;
    TRY(unpack(arena, diags, file, &onnx__model_proto__descriptor, &message));
    *out = (Onnx__ModelProto *)message;
    return ODLC_OK;
}

odlc_status wire_unpack_tensor(struct arena *arena, struct diags *diags, const struct file *file,
                               Onnx__TensorProto **out)
{
    ProtobufCMessage *message;
    TRY(unpack(arena, diags, file, &onnx__tensor_proto__descriptor, &message));
    *out = (Onnx__TensorProto *)message;
    return ODLC_OK;
}
