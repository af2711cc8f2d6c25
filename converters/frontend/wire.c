/* SPDX-License-Identifier: Apache-2.0 */
/* Model files are larger than memory, so they are mapped, and nothing but what is asked for is touched: the bytes of
 * tensors are stepped over. The check walks along the schema's own descriptors and finds all that is wrong, with its
 * place; readers after it need not ask. */
#include "converters/frontend/wire.h"

#include <string.h>

#include "base/file_kind.h"

/* Systems that keep files in huge pages map 2 MiB for the few bytes that are read of a tensor: without dropping pages
 * behind, a whole file could become resident. */
#define DROP_SIZE (UINT64_C(1) << 20)

/* A message that was found to be sound: the same bytes are, where they are the same message. */
struct sound {
    const ProtobufCMessageDescriptor *message; /* NULL: none */
    uint64_t at;
    uint32_t size, depth;
};
enum { SOUND = 64, SHORT = 48 /* bytes of such a message: an attribute that many nodes have */ };

struct walk {
    struct diags *diags;
    const struct file *file;
    const struct wire_schema *schema;
    const char *trail[WIRE_MAX_DEPTH]; /* names of the fields that lead to the message at work */
    uint32_t depth;
    uint64_t dropped;          /* pages are, up to here */
    struct sound sound[SOUND]; /* short ones, by size and end: the latest ones */
};

static odlc_status walk_message(struct walk *w, const ProtobufCMessageDescriptor *message, uint64_t from, uint64_t to);

uint64_t read_long_varint(struct reader *r)
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

/* ---- fields ---- */

/* What is wrong with the field that begins at the reader's place, or NULL. */
static const char *read_field(struct reader *r, struct wire_field *f)
{
    f->at = r->pos;
    uint64_t tag = read_varint(r);
    f->number = (uint32_t)(tag >> 3);
    f->type = tag & 7;
    if (r->failed || tag > UINT32_MAX || f->number == 0)
        return "a field has no valid tag";
    f->size = f->type == WIRE_BYTES ? read_varint(r) : 0;
    f->content = r->pos;
    switch (f->type) {
    case WIRE_VARINT:
        f->value = read_varint(r);
        f->size = r->pos - f->content;
        break;
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        f->size = f->type == WIRE_FIXED64 ? 8 : 4;
        read_bytes(r, f->size);
        break;
    case WIRE_BYTES:
        read_bytes(r, f->size);
        break;
    default:
        return "a field has an unknown wire type";
    }
    return r->failed ? "a field runs past the end of its message" : NULL;
}

static void drop_behind(const struct file *file, uint64_t *dropped, uint64_t at)
{
    if (at - *dropped < DROP_SIZE)
        return;
    file_drop(file, *dropped, at - *dropped);
    *dropped = at;
}

struct wire wire_of(const struct file *file, uint64_t from, uint64_t to)
{
    struct wire w = {.file = file, .r = reader_of(file->data, to), .dropped = from};
    w.r.pos = from;
    return w;
}

bool wire_next(struct wire *w, struct wire_field *f)
{
    if (w->r.failed || w->r.pos >= w->r.size)
        return false;
    drop_behind(w->file, &w->dropped, w->r.pos);
    return read_field(&w->r, f) == NULL;
}

struct sections wire_sections(const struct file *file, uint64_t from, uint64_t to)
{
    struct sections s = {0};
    struct wire w = wire_of(file, from, to);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number < SECTIONS)
            section_add(&s.of[f.number], &f);
    }
    return s;
}

struct wire wire_section(const struct file *file, const struct sections *s, uint32_t number)
{
    return wire_of(file, s->of[number].from, s->of[number].to);
}

const char *wire_text(struct arena *arena, const struct file *file, const struct wire_field *f)
{
    return f->size > 0 ? arena_strndup(arena, wire_bytes(file, f), f->size) : "";
}

bool wire_next_of(struct wire *w, uint32_t number, struct wire_field *f)
{
    while (wire_next(w, f))
        if (f->number == number)
            return true;
    return false;
}

struct wire_field wire_only(const struct file *file, const struct sections *s, uint32_t number)
{
    struct wire w = wire_section(file, s, number);
    struct wire_field f;
    return wire_next_of(&w, number, &f) ? f : (struct wire_field){0};
}

struct wire_list wire_list_of(struct wire message, uint32_t number, unsigned width)
{
    return (struct wire_list){.w = message, .number = number, .width = width};
}

bool wire_list_next(struct wire_list *list, uint64_t *bits)
{
    while (list->packed.pos == list->packed.size) {
        struct wire_field f;
        if (!wire_next_of(&list->w, list->number, &f))
            return false;
        const uint8_t *content = list->w.file->data + f.content;
        if (f.type == WIRE_BYTES) {
            list->packed = reader_of(content, f.size);
            continue;
        }
        *bits = list->width ? load_le(content, list->width) : f.value;
        list->failed = list->width && f.size != list->width; /* it was checked, but files can change */
        return !list->failed;
    }
    *bits = list->width ? read_le(&list->packed, list->width) : read_varint(&list->packed);
    list->failed = list->packed.failed;
    return !list->failed;
}

uint64_t wire_list_count(struct wire_list list)
{
    uint64_t count = 0, bits;
    while (wire_list_next(&list, &bits))
        count++;
    return list.failed ? UINT64_MAX : count;
}

/* ---- diagnostics ---- */

static odlc_status bad_wire(struct walk *w, uint64_t at, const char *field, const char *what)
{
    text where = {0};
    for (uint32_t i = 0; i < w->depth; i++)
        text_add(w->diags->arena, &where, "%s.", w->trail[i]);
    text_add(w->diags->arena, &where, "%s", field);
    bool named = where.count > 0;
    const char *damaged =
        arena_printf(w->diags->arena, "the file is damaged or truncated, or is not in %s", w->schema->form);
    const char *hint = file_kind_hint(w->diags->arena, w->file->data, w->file->size, w->schema->what, damaged);
    return diag_error(w->diags, ODLC_ERR_INVALID,
                      AT(.file = w->file->path, .offset = at, .has_offset = 1, .hint = hint), "model-wire",
                      "not %s: %s%s%s", w->schema->what, what, named ? " in " : "", named ? where.data : "");
}

/* ---- the check ---- */

#define NOT_ELEMENTS 0xFF

/* The wire type of a single element, for the fields that hold elements. */
static uint8_t element_wire_type(const struct walk *w, const ProtobufCMessageDescriptor *message, uint32_t number)
{
    if (message != w->schema->tensor)
        return NOT_ELEMENTS;
    for (size_t i = 0; i < COUNT_OF(w->schema->elements) && w->schema->elements[i].number; i++)
        if (w->schema->elements[i].number == number)
            return w->schema->elements[i].type;
    return NOT_ELEMENTS;
}

static uint8_t wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
        return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_FIXED64;
    default:
        return WIRE_VARINT; /* the schemas have no other fixed-width types */
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
        if (field->type == PROTOBUF_C_TYPE_STRING && f->size > WIRE_MAX_TEXT)
            return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->file->path, .offset = f->at, .has_offset = 1),
                              "model-text", "a %s has %llu bytes, more than %d", field->name,
                              (unsigned long long)f->size, WIRE_MAX_TEXT);
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

/* Where such a message may stand among those that were found to be sound. */
static struct sound *place_sound(struct walk *w, const struct wire_field *f)
{
    const uint8_t *end = w->file->data + f->content + f->size;
    return &w->sound[(f->size * 7 + end[-1] * 5u + (f->size > 2 ? end[-3] * 3u : 0)) % SOUND];
}

static bool is_sound(const struct walk *w, const struct sound *known, const ProtobufCMessageDescriptor *message,
                     const struct wire_field *f)
{
    return known->message == message && known->size == f->size && known->depth == w->depth &&
           memcmp(w->file->data + known->at, w->file->data + f->content, f->size) == 0;
}

static odlc_status walk_short(struct walk *w, const ProtobufCMessageDescriptor *message, const struct wire_field *f)
{
    struct sound *known = place_sound(w, f);
    if (!is_sound(w, known, message, f))
        TRY(walk_message(w, message, f->content, f->content + f->size));
    *known = (struct sound){message, f->content, (uint32_t)f->size, w->depth};
    return ODLC_OK;
}

static odlc_status walk_field(struct walk *w, const ProtobufCFieldDescriptor *field, const struct wire_field *f)
{
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return ODLC_OK;
    if (w->depth == WIRE_MAX_DEPTH)
        return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->file->path, .offset = f->at, .has_offset = 1),
                          "model-depth", "messages nest deeper than %d levels", WIRE_MAX_DEPTH);
    w->trail[w->depth++] = field->name;
    if (f->size > 0 && f->size <= SHORT)
        TRY(walk_short(w, field->descriptor, f));
    else
        TRY(walk_message(w, field->descriptor, f->content, f->content + f->size));
    w->depth--;
    return ODLC_OK;
}

/* The fields of a message that occurred: one bit per field of the schema, and one for bytes of elements. */
#define SEEN_ELEMENTS (UINT64_C(1) << 63)

static odlc_status walk_elements(struct walk *w, const struct wire_field *f, uint8_t element, uint64_t *seen)
{
    if (f->type != element && f->type != WIRE_BYTES)
        return bad_wire(w, f->at, "data", "a field has a wire type that its meaning does not allow");
    if (element == WIRE_BYTES && *seen & SEEN_ELEMENTS)
        return bad_wire(w, f->at, "data", "a field that can occur once occurs again");
    *seen |= element == WIRE_BYTES ? SEEN_ELEMENTS : 0;
    return ODLC_OK;
}

/* Schemas number most fields without gaps: the first look is where the field is then. */
static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *message, uint32_t number)
{
    if (number <= message->n_fields && message->fields[number - 1].id == number)
        return &message->fields[number - 1];
    return protobuf_c_message_descriptor_get_field(message, number);
}

static odlc_status walk_known(struct walk *w, const ProtobufCMessageDescriptor *message, const struct wire_field *f,
                              uint64_t *seen)
{
    const ProtobufCFieldDescriptor *field = field_of(message, f->number);
    if (!field)
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
        struct wire_field f;
        const char *fault = read_field(&r, &f);
        if (fault)
            return bad_wire(w, f.at, "", fault);
        uint8_t element = element_wire_type(w, message, f.number);
        TRY(element == NOT_ELEMENTS ? walk_known(w, message, &f, &seen) : walk_elements(w, &f, element, &seen));
        drop_behind(w->file, &w->dropped, r.pos);
    }
    return ODLC_OK;
}

odlc_status wire_check(struct diags *diags, const struct file *file, const struct wire_schema *schema,
                       const ProtobufCMessageDescriptor *message)
{
    struct walk w = {.diags = diags, .file = file, .schema = schema};
    return walk_message(&w, message, 0, file->size);
}
