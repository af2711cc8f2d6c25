/* SPDX-License-Identifier: Apache-2.0 */
/* One grammar reads all fields, along the descriptor where it knows them; without one, nothing is written. A message's
 * length is known at its end, so room for it is left, always five bytes, which wire readers take like fewer: the text
 * is read once and no byte is moved. */
#include "converters/tensorflow/source/pbtxt.h"

#include <string.h>

#include "base/reader.h"
#include "converters/tensorflow/source/pbtxt_scan.h"
#include "converters/frontend/wire.h"

#define LENGTH_BYTES 5

struct parse {
    struct arena *arena;
    struct scan scan;
    text wire;
    uint32_t depth;
};

/* ---- writing ---- */

static void put_varint(struct parse *p, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_add_bytes(p->arena, &p->wire, bytes, n);
}

static void put_tag(struct parse *p, const ProtobufCFieldDescriptor *field, enum wire_type type)
{
    put_varint(p, (uint64_t)field->id << 3 | type);
}

static void put_fixed(struct parse *p, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    store_le(bytes, size, value);
    text_add_bytes(p->arena, &p->wire, (const char *)bytes, size);
}

/* Begins a field whose length is not known yet; gives the place of its content. */
static size_t begin_bytes(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    static const char room[LENGTH_BYTES];
    put_tag(p, field, WIRE_BYTES);
    text_add_bytes(p->arena, &p->wire, room, sizeof room);
    return p->wire.count;
}

static void end_bytes(struct parse *p, size_t from)
{
    uint64_t length = p->wire.count - from;
    char *at = p->wire.data + from - LENGTH_BYTES;
    for (unsigned i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        at[i] = (char)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

/* ---- values ---- */

static odlc_status bad_value(struct parse *p, size_t at, const ProtobufCFieldDescriptor *field, const char *what)
{
    return scan_error(&p->scan, at, "pbtxt-value", NULL, "the field '%s' takes %s", field->name, what);
}

static odlc_status read_real(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    struct number n;
    TRY(scan_number(&p->scan, &n));
    if (!n.decimal)
        return bad_value(p, n.at, field, "a decimal number");
    double value = number_real(&p->scan, &n);
    uint64_t bits = 0;
    if (field->type == PROTOBUF_C_TYPE_FLOAT) {
        float narrow = (float)value;
        memcpy(&bits, &narrow, sizeof narrow);
        put_tag(p, field, WIRE_FIXED32);
        put_fixed(p, bits, 4);
    } else {
        memcpy(&bits, &value, sizeof value);
        put_tag(p, field, WIRE_FIXED64);
        put_fixed(p, bits, 8);
    }
    return ODLC_OK;
}

/* The largest magnitude of the field's integers; of negative ones it is one more. */
static uint64_t largest(ProtobufCType type, bool *is_signed)
{
    *is_signed = type == PROTOBUF_C_TYPE_INT32 || type == PROTOBUF_C_TYPE_ENUM || type == PROTOBUF_C_TYPE_INT64;
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM:
        return INT32_MAX;
    case PROTOBUF_C_TYPE_INT64:
        return INT64_MAX;
    case PROTOBUF_C_TYPE_BOOL:
        return 1;
    case PROTOBUF_C_TYPE_UINT64:
        return UINT64_MAX;
    default:
        return UINT32_MAX; /* uint32 and fixed32: the schemas have no others */
    }
}

static odlc_status read_integer(struct parse *p, const ProtobufCFieldDescriptor *field, uint64_t *out)
{
    bool is_signed;
    uint64_t most = largest(field->type, &is_signed);
    struct number n;
    TRY(scan_number(&p->scan, &n));
    if (!n.integer)
        return bad_value(p, n.at, field, "an integer");
    if (n.negative && !is_signed)
        return bad_value(p, n.at, field, "no negative number");
    if (!n.fits || n.magnitude > most + n.negative)
        return bad_value(p, n.at, field,
                         field->type == PROTOBUF_C_TYPE_BOOL ? "true or false" : "no such large number");
    *out = n.negative ? -n.magnitude : n.magnitude;
    return ODLC_OK;
}

/* The descriptor's functions look for names that end in NUL; none is as long as this. */
#define LONGEST_NAME 63
struct name {
    char text[LONGEST_NAME + 1];
};

static odlc_status read_name(struct parse *p, struct name *out)
{
    const char *word;
    size_t length;
    TRY(scan_word(&p->scan, &word, &length));
    *out = (struct name){0};
    memcpy(out->text, word, length <= LONGEST_NAME ? length : 0);
    return ODLC_OK;
}

static bool is_one_of(const struct name *name, const char *const words[3])
{
    return strcmp(name->text, words[0]) == 0 || strcmp(name->text, words[1]) == 0 || strcmp(name->text, words[2]) == 0;
}

/* true and false, and the values of enumerations, by name. */
static odlc_status read_named(struct parse *p, const ProtobufCFieldDescriptor *field, uint64_t *out)
{
    size_t at = p->scan.pos;
    struct name name;
    TRY(read_name(p, &name));
    if (field->type == PROTOBUF_C_TYPE_BOOL) {
        *out = is_one_of(&name, (const char *const[]){"true", "True", "t"});
        bool no = is_one_of(&name, (const char *const[]){"false", "False", "f"});
        return *out || no ? ODLC_OK : bad_value(p, at, field, "true or false");
    }
    if (field->type != PROTOBUF_C_TYPE_ENUM)
        return bad_value(p, at, field, "an integer");
    const ProtobufCEnumDescriptor *names = field->descriptor;
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(names, name.text);
    if (!value)
        return bad_value(p, at, field, arena_printf(p->arena, "a value of %s, or its number", names->short_name));
    *out = (uint64_t)(int64_t)value->value;
    return ODLC_OK;
}

static odlc_status read_varint_value(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    uint64_t value;
    char c = scan_peek(&p->scan);
    if (c == '"' || c == '\'')
        return bad_value(p, p->scan.pos, field, field->type == PROTOBUF_C_TYPE_BOOL ? "true or false" : "an integer");
    TRY(starts_word(c) ? read_named(p, field, &value) : read_integer(p, field, &value));
    put_tag(p, field, field->type == PROTOBUF_C_TYPE_FIXED32 ? WIRE_FIXED32 : WIRE_VARINT);
    if (field->type == PROTOBUF_C_TYPE_FIXED32)
        put_fixed(p, value, 4);
    else
        put_varint(p, value);
    return ODLC_OK;
}

static odlc_status read_text(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    char c = scan_peek(&p->scan);
    size_t at = p->scan.pos, from = begin_bytes(p, field);
    if (c != '"' && c != '\'')
        return bad_value(p, at, field, "a string, in quotation marks");
    TRY(scan_string(&p->scan, p->arena, &p->wire));
    end_bytes(p, from);
    if (field->type == PROTOBUF_C_TYPE_STRING && memchr(p->wire.data + from, 0, p->wire.count - from))
        return bad_value(p, at, field, "a string without NUL bytes");
    return ODLC_OK;
}

/* A value of a field that the descriptor does not know. */
static odlc_status skip_scalar(struct parse *p)
{
    struct number number;
    struct name name;
    char c = scan_peek(&p->scan);
    if (c == '"' || c == '\'')
        return scan_string(&p->scan, p->arena, NULL);
    if (starts_word(c))
        return read_name(p, &name);
    return c == '-' || c == '.' || (c >= '0' && c <= '9') ? scan_number(&p->scan, &number)
                                                          : scan_expected(&p->scan, "a value");
}

static odlc_status read_scalar(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    if (!field)
        return skip_scalar(p);
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_real(p, field);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return read_text(p, field);
    default:
        return read_varint_value(p, field);
    }
}

/* ---- messages ---- */

static odlc_status read_fields(struct parse *p, const ProtobufCMessageDescriptor *message, size_t open, char close);

/* { … } or < … >, whose first character is at the place at work. */
static odlc_status read_message(struct parse *p, const ProtobufCFieldDescriptor *field)
{
    size_t open = p->scan.pos++;
    if (p->depth == WIRE_MAX_DEPTH)
        return scan_error(&p->scan, open, "model-depth", NULL, "messages nest deeper than %d levels", WIRE_MAX_DEPTH);
    p->depth++;
    size_t from = field ? begin_bytes(p, field) : 0;
    TRY(read_fields(p, field ? field->descriptor : NULL, open, p->scan.text[open] == '{' ? '}' : '>'));
    if (field)
        end_bytes(p, from);
    p->depth--;
    return ODLC_OK;
}

static odlc_status read_value(struct parse *p, const ProtobufCFieldDescriptor *field, bool colon)
{
    bool is_message = field && field->type == PROTOBUF_C_TYPE_MESSAGE;
    char c = scan_peek(&p->scan);
    if (c == '{' || c == '<')
        return field && !is_message ? bad_value(p, p->scan.pos, field, "a single value, not a message")
                                    : read_message(p, field);
    if (!colon)
        return scan_expected(&p->scan, is_message ? "'{'" : "':'");
    return is_message ? bad_value(p, p->scan.pos, field, "a message, in braces") : read_scalar(p, field);
}

static odlc_status read_list(struct parse *p, const ProtobufCFieldDescriptor *field, bool colon)
{
    if (field && field->label != PROTOBUF_C_LABEL_REPEATED)
        return bad_value(p, p->scan.pos, field, "one value, not a list");
    p->scan.pos++;
    if (scan_accept(&p->scan, ']'))
        return ODLC_OK;
    do
        TRY(read_value(p, field, colon));
    while (scan_accept(&p->scan, ','));
    return scan_accept(&p->scan, ']') ? ODLC_OK : scan_expected(&p->scan, "',' or ']'");
}

/* The name of an extension or of a type in an Any message: words, points and slashes in brackets. */
static odlc_status skip_bracketed_name(struct parse *p)
{
    p->scan.pos++;
    const char *word;
    size_t length;
    do
        TRY(scan_word(&p->scan, &word, &length));
    while (scan_accept(&p->scan, '.') || scan_accept(&p->scan, '/'));
    return scan_accept(&p->scan, ']') ? ODLC_OK : scan_expected(&p->scan, "']'");
}

/* A field's name; *field stays NULL for what the message does not have. */
static odlc_status read_field_name(struct parse *p, const ProtobufCMessageDescriptor *message, uint64_t *seen,
                                   const ProtobufCFieldDescriptor **field)
{
    size_t at = p->scan.pos;
    struct name name;
    *field = NULL;
    if (scan_peek(&p->scan) == '[')
        return skip_bracketed_name(p);
    TRY(read_name(p, &name));
    *field = message ? protobuf_c_message_descriptor_get_field_by_name(message, name.text) : NULL;
    if (!*field)
        return ODLC_OK;
    uint64_t bit = UINT64_C(1) << (*field - message->fields);
    if ((*field)->label != PROTOBUF_C_LABEL_REPEATED && *seen & bit)
        return scan_error(&p->scan, at, "pbtxt-value", NULL,
                          "the field '%s' can occur once in a message, and occurs again", name.text);
    *seen |= bit;
    return ODLC_OK;
}

/* The fields of a message, and its closing character, or '\0' for the end of the text. */
static odlc_status read_fields(struct parse *p, const ProtobufCMessageDescriptor *message, size_t open, char close)
{
    uint64_t seen = 0;
    const ProtobufCFieldDescriptor *field;
    for (char c = scan_peek(&p->scan); c != close || c == '\0'; c = scan_peek(&p->scan)) {
        if (scan_at_end(&p->scan) && close)
            return scan_error(&p->scan, open, "pbtxt-syntax", "the file may be truncated",
                              "a message has no end: '%c' is missing", close);
        if (scan_at_end(&p->scan))
            return ODLC_OK;
        TRY(read_field_name(p, message, &seen, &field));
        bool colon = scan_accept(&p->scan, ':');
        TRY(scan_peek(&p->scan) == '[' ? read_list(p, field, colon) : read_value(p, field, colon));
        if (!scan_accept(&p->scan, ','))
            scan_accept(&p->scan, ';');
    }
    p->scan.pos++;
    return ODLC_OK;
}

odlc_status pbtxt_to_wire(struct arena *arena, struct diags *diags, const struct file *text,
                          const ProtobufCMessageDescriptor *message, struct file **out)
{
    if (text->size >= PBTXT_MAX_BYTES)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = text->path), "pbtxt-too-large",
                          "texts of models have less than %d GiB", (int)(PBTXT_MAX_BYTES >> 30));
    struct parse p = {.arena = arena};
    scan_begin(&p.scan, diags, text);
    TRY(read_fields(&p, message, 0, '\0'));
    file_drop(text, 0, text->size);
    *out = file_of_memory(arena, text->path, p.wire.data, p.wire.count);
    return ODLC_OK;
}
