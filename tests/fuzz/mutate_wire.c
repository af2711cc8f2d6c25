/* SPDX-License-Identifier: Apache-2.0 */
/* A message is listed as its fields at all depths, each with the place of its bytes. A change replaces the bytes of a
 * field or adds some; then the list is made anew, because all places behind the change have moved. Lists are short and
 * made quickly: contents of texts, packed lists and tensors are not looked into until they are to be changed. */
#include "mutate_wire.h"

#include <stdlib.h>

#include "base/vec.h"
#include "converters/frontend/wire.h"

#define NONE UINT32_MAX
enum { MAX_ELEMENTS = 4096, MAX_ADOPTED = 4, MAX_VARINT = 10 };

struct place {
    const ProtobufCMessageDescriptor *message; /* that it is a field of */
    const ProtobufCFieldDescriptor *field;     /* NULL: not in the schema */
    uint64_t at, length_at, content, end;      /* of the tag, the length, the value; behind it */
    uint64_t value;                            /* of a varint */
    uint32_t kind;                             /* a hash of message and number */
    uint32_t parent;                           /* place of the message, NONE for the outermost one */
    uint32_t number;
    uint8_t type;
};

struct tree {
    struct arena *arena;
    const struct wire_language *language;
    struct file file; /* of the bytes, as the functions of wire.h want it */
    uint8_t *bytes;
    uint64_t size, max_size;
    VEC(struct place) places; /* in the order of their tags */
    const struct tree *donor; /* where other values come from: itself, or another message */
    uint64_t random;
};

/* ---- chance ---- */

static uint32_t below(struct tree *t, uint64_t n)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return n ? (uint32_t)((t->random >> 16) % n) : 0;
}

static uint64_t mix(uint64_t seed)
{
    seed = (seed + UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (seed ^ seed >> 31) | 1;
}

/* ---- listing ---- */

static bool is_message(const struct place *p)
{
    return p->field && p->field->type == PROTOBUF_C_TYPE_MESSAGE && p->type == WIRE_BYTES;
}

static bool is_text(const struct place *p)
{
    return p->field && p->type == WIRE_BYTES &&
           (p->field->type == PROTOBUF_C_TYPE_STRING || p->field->type == PROTOBUF_C_TYPE_BYTES);
}

static uint32_t kind_of(const ProtobufCMessageDescriptor *message, uint32_t number)
{
    uint32_t hash = number * 0x9E3779B1u;
    for (const char *c = message->name; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    return hash | 1; /* 0 stands for any kind */
}

static void list_message(struct tree *t, const ProtobufCMessageDescriptor *message, uint64_t from, uint64_t to,
                         uint32_t parent, unsigned depth)
{
    struct wire w = wire_of(&t->file, from, to);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        struct reader tag = reader_of(t->bytes, t->size);
        tag.pos = f.at;
        read_varint(&tag);
        struct place p = {.message = message,
                          .field = protobuf_c_message_descriptor_get_field(message, f.number),
                          .at = f.at,
                          .length_at = tag.pos,
                          .content = f.content,
                          .end = f.content + f.size,
                          .value = f.type == WIRE_VARINT ? f.value : 0,
                          .kind = kind_of(message, f.number),
                          .parent = parent,
                          .number = f.number,
                          .type = f.type};
        uint32_t index = (uint32_t)t->places.count;
        vec_push(t->arena, &t->places, p);
        if (is_message(&p) && depth < WIRE_MAX_DEPTH)
            list_message(t, p.field->descriptor, p.content, p.end, index, depth + 1);
    }
}

static void list_places(struct tree *t)
{
    t->file = (struct file){.path = "", .fd = -1, .data = t->bytes, .size = t->size};
    t->places.count = 0;
    list_message(t, t->language->message, 0, t->size, NONE, 0);
}

/* ---- choosing ---- */

/* What a place must have; 0 and NULL: anything. */
struct filter {
    uint32_t kind;
    const ProtobufCMessageDescriptor *message, *content; /* that it is in, that it holds */
    bool text;
};

static bool passes(const struct place *p, const struct filter *f)
{
    return (!f->kind || p->kind == f->kind) && (!f->message || p->message == f->message) &&
           (!f->content || (is_message(p) && p->field->descriptor == f->content)) && (!f->text || is_text(p));
}

/* One of the places that pass, NONE when there is none. */
static uint32_t choose(struct tree *t, const struct tree *from, struct filter filter)
{
    uint32_t chosen = NONE;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < from->places.count; i++)
        if (passes(&from->places.data[i], &filter) && below(t, ++seen) == 0)
            chosen = i;
    return chosen;
}

/* Half of the time each kind of field has the same chance, however often it occurs. */
static uint32_t choose_any(struct tree *t, const struct tree *from)
{
    if (from->places.count == 0 || below(t, 2))
        return from->places.count ? below(t, from->places.count) : NONE;
    uint32_t salt = below(t, UINT32_MAX), best = 0, kind = 0;
    for (uint32_t i = 0; i < from->places.count; i++) {
        uint32_t rank = (from->places.data[i].kind ^ salt) * 0x85EBCA6Bu;
        if (rank >= best) {
            best = rank;
            kind = from->places.data[i].kind;
        }
    }
    return choose(t, from, (struct filter){.kind = kind});
}

/* ---- changing bytes ---- */

static void put(struct tree *t, text *b, const void *bytes, uint64_t size)
{
    if (size)
        text_add_bytes(t->arena, b, bytes, size);
}

static void put_varint(struct tree *t, text *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(t, b, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(t, b, &(uint8_t){(uint8_t)value}, 1);
}

static void put_number(struct tree *t, text *b, unsigned width, uint64_t value)
{
    uint8_t bytes[8];
    store_le(bytes, 8, value);
    if (width)
        put(t, b, bytes, width);
    else
        put_varint(t, b, value);
}

static void replace(struct tree *t, uint64_t at, uint64_t old, const void *bytes, uint64_t size)
{
    memmove(t->bytes + at + size, t->bytes + at + old, t->size - at - old);
    if (size)
        memcpy(t->bytes + at, bytes, size);
    t->size = t->size - old + size;
}

/* Replaces bytes of a message and sets the lengths of all that it is in. False when there is no room. */
static bool splice(struct tree *t, uint32_t parent, uint64_t at, uint64_t old, const text *new)
{
    uint64_t depth = 0;
    for (uint32_t p = parent; p != NONE; p = t->places.data[p].parent)
        depth++;
    if (t->size - old + new->count + depth * MAX_VARINT > t->max_size)
        return false;
    replace(t, at, old, new->data, new->count);
    uint64_t grown = new->count - old; /* may wrap, and does so back again */
    for (uint32_t p = parent; p != NONE; p = t->places.data[p].parent) {
        const struct place *around = &t->places.data[p];
        text length = {0};
        put_varint(t, &length, around->end - around->content + grown);
        replace(t, around->length_at, around->content - around->length_at, length.data, length.count);
        grown += length.count - (around->content - around->length_at);
    }
    list_places(t);
    return true;
}

static text field_of(struct tree *t, uint32_t number, uint8_t type, const void *content, uint64_t size)
{
    text b = {0};
    put_varint(t, &b, (uint64_t)number << 3 | type);
    if (type == WIRE_BYTES)
        put_varint(t, &b, size);
    put(t, &b, content, size);
    return b;
}

/* False, too, when that is what it is already. */
static bool set_content(struct tree *t, uint32_t index, uint8_t type, const void *content, uint64_t size)
{
    const struct place *p = &t->places.data[index];
    if (p->type == type && p->end - p->content == size && (!size || memcmp(t->bytes + p->content, content, size) == 0))
        return false;
    text b = field_of(t, p->number, type, content, size);
    return splice(t, p->parent, p->at, p->end - p->at, &b);
}

/* Gives a field the value of another one, which may be of another message. */
static bool set_like(struct tree *t, uint32_t index, const struct tree *from, uint32_t other)
{
    if (other == NONE)
        return false;
    const struct place *o = &from->places.data[other];
    return set_content(t, index, o->type, from->bytes + o->content, o->end - o->content);
}

static bool remove_field(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    return splice(t, p->parent, p->at, p->end - p->at, &(text){0});
}

/* ---- values ---- */

static const uint64_t numbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   7,
                                   8,
                                   9,
                                   16,
                                   32,
                                   100,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7FFF,
                                   0x8000,
                                   0xFFFF,
                                   0x10000,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   0xFFFFFFFF,
                                   0x100000000,
                                   INT64_MAX,
                                   (uint64_t)INT64_MIN,
                                   (uint64_t)INT64_MIN + 1,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_MAX - 2,
                                   UINT64_MAX - 7,
                                   (uint64_t)INT32_MIN,
                                   1u << 20,
                                   UINT64_C(1) << 40,
                                   UINT64_C(1) << 62};
static const float floats[] = {0, -0.0f, 1, -1, 0.5f, 2, 1e-30f, 1e30f, 3e38f, 1e-45f, 2147483648.0f, 1.5f};
static const uint32_t not_finite[] = {0x7F800000, 0xFF800000, 0x7FC00000};

static uint64_t float_bits(struct tree *t, unsigned width)
{
    uint32_t bits = not_finite[below(t, COUNT_OF(not_finite))];
    uint64_t wide;
    float f;
    memcpy(&f, &bits, 4);
    if (below(t, 4))
        f = floats[below(t, COUNT_OF(floats))];
    double d = f;
    memcpy(&bits, &f, 4);
    memcpy(&wide, &d, 8);
    return width == 4 ? bits : wide;
}

/* Bytes of a number of a fixed width, 0 for a varint. */
static unsigned width_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return 4;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return 8;
    default:
        return 0;
    }
}

static uint8_t wire_type_of(const ProtobufCFieldDescriptor *field)
{
    return width_of(field) == 8 ? WIRE_FIXED64 : width_of(field) ? WIRE_FIXED32 : WIRE_VARINT;
}

static uint64_t other_number(struct tree *t, const ProtobufCFieldDescriptor *field, uint64_t old)
{
    bool is_float = field->type == PROTOBUF_C_TYPE_FLOAT || field->type == PROTOBUF_C_TYPE_DOUBLE;
    const ProtobufCEnumDescriptor *values = field->type == PROTOBUF_C_TYPE_ENUM ? field->descriptor : NULL;
    switch (below(t, 8)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return old ^ UINT64_C(1) << below(t, 64);
    case 3:
        return 0 - old;
    case 4:
    case 5:
        return is_float ? float_bits(t, width_of(field)) : below(t, 32);
    default:
        if (values && values->n_values)
            return (uint64_t)values->values[below(t, values->n_values)].value;
        return is_float ? float_bits(t, width_of(field)) : numbers[below(t, COUNT_OF(numbers))];
    }
}

static bool change_number(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    text b = {0};
    if (!below(t, 4))
        return set_like(t, index, t->donor, choose(t, t->donor, (struct filter){.kind = p->kind}));
    uint64_t old = p->type == WIRE_VARINT ? p->value : load_le(t->bytes + p->content, (unsigned)(p->end - p->content));
    put_number(t, &b, width_of(p->field), other_number(t, p->field, old));
    return set_content(t, index, wire_type_of(p->field), b.data, b.count);
}

/* A packed list of which elements are changed, repeated, swapped or left out. */
static bool change_list(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    struct reader r = reader_of(t->bytes + p->content, p->end - p->content);
    unsigned width = width_of(p->field);
    VEC(uint64_t) values = {0};
    text b = {0};
    while (r.pos < r.size && !r.failed && values.count < MAX_ELEMENTS)
        vec_push(t->arena, &values, width ? read_le(&r, width) : read_varint(&r));
    uint32_t at = below(t, values.count), other = below(t, values.count), what = below(t, 6);
    if (values.count == 0) {
        vec_push(t->arena, &values, other_number(t, p->field, 0));
    } else if (what == 0) {
        values.data[at] = values.data[--values.count];
    } else if (what == 1) {
        vec_push(t->arena, &values, values.data[at]);
    } else if (what == 2) {
        uint64_t first = values.data[at];
        values.data[at] = values.data[other];
        values.data[other] = first;
    } else {
        values.data[at] = other_number(t, p->field, values.data[at]);
    }
    for (size_t i = 0; i < values.count; i++)
        put_number(t, &b, width, values.data[i]);
    return set_content(t, index, WIRE_BYTES, b.data, b.count);
}

/* Bytes that the schema says nothing of, as the elements of tensors: numbers in them become others, the end moves. */
static bool change_payload(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    uint64_t size = p->end - p->content, step = UINT64_C(1) << below(t, 4);
    uint32_t what = below(t, 8);
    if (what == 0 || size < step)
        return set_like(t, index, t->donor, choose(t, t->donor, (struct filter){.kind = p->kind}));
    if (what == 1)
        return set_content(t, index, WIRE_BYTES, t->bytes + p->content, size - step);
    if (what == 2) {
        text b = {0};
        put(t, &b, t->bytes + p->content, size);
        put(t, &b, t->bytes + p->content, step);
        return set_content(t, index, WIRE_BYTES, b.data, b.count);
    }
    for (uint32_t i = below(t, 3) + 1; i > 0; i--) {
        uint64_t number = numbers[below(t, COUNT_OF(numbers))];
        if (step >= 4 && !below(t, 3))
            number = float_bits(t, (unsigned)step);
        store_le(t->bytes + p->content + below(t, size / step) * step, (unsigned)step, number);
    }
    list_places(t);
    return true;
}

static const struct wire_words *words_of(const struct tree *t, const ProtobufCMessageDescriptor *message,
                                         const ProtobufCFieldDescriptor *field)
{
    size_t length = strlen(message->short_name);
    for (size_t i = 0; i < t->language->n_words; i++) {
        const char *name = t->language->words[i].field;
        if (strncmp(name, message->short_name, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, field->name) == 0)
            return &t->language->words[i];
    }
    return NULL;
}

static bool spoil_text(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    text b = {0};
    put(t, &b, t->bytes + p->content, p->end - p->content);
    uint8_t byte = (uint8_t)(below(t, 4) ? ' ' + below(t, 95) : 1 + below(t, 255));
    if (b.count == 0 || !below(t, 3))
        put(t, &b, &byte, 1);
    else if (below(t, 2))
        b.data[below(t, b.count)] = (char)byte;
    else
        b.count = below(t, b.count);
    return set_content(t, index, WIRE_BYTES, b.data, b.count);
}

/* A name becomes another one of the file, which rewires edges, or a word that the reader may know. */
static bool change_text(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    const struct wire_words *words = words_of(t, p->message, p->field);
    uint32_t what = below(t, 8);
    if (words && words->count && what < 3) {
        const char *word = words->words[below(t, words->count)];
        return set_content(t, index, WIRE_BYTES, word, strlen(word));
    }
    struct filter filter = {.kind = what < 4 ? p->kind : 0, .message = what < 6 ? p->message : NULL, .text = true};
    return what == 7 ? spoil_text(t, index) : set_like(t, index, t->donor, choose(t, t->donor, filter));
}

/* ---- moving fields about ---- */

/* The texts of a field that came from elsewhere become, some of them, those of this message. */
static void adopt(struct tree *t, uint32_t index)
{
    for (unsigned i = 0; i < MAX_ADOPTED && index < t->places.count; i++) {
        uint64_t end = t->places.data[index].end;
        uint32_t last = index, chosen;
        while (last + 1 < t->places.count && t->places.data[last + 1].at < end)
            last++;
        chosen = index + below(t, last - index + 1);
        if (is_text(&t->places.data[chosen]))
            set_like(t, chosen, t,
                     choose(t, t, (struct filter){.message = t->places.data[chosen].message, .text = true}));
    }
}

/* A message becomes another of its type, wherever that is. */
static bool change_message(struct tree *t, uint32_t index)
{
    const ProtobufCMessageDescriptor *content = t->places.data[index].field->descriptor;
    if (!set_like(t, index, t->donor, choose(t, t->donor, (struct filter){.content = content})))
        return false;
    adopt(t, index);
    return true;
}

/* A copy of a field that can be repeated, before another of its kind or at the end of a message that may have it. */
static bool insert_copy(struct tree *t, uint32_t from)
{
    const struct place *o = &t->donor->places.data[from];
    if (o->field && o->field->label != PROTOBUF_C_LABEL_REPEATED)
        return false;
    text copy = field_of(t, o->number, o->type, t->donor->bytes + o->content, o->end - o->content);
    uint32_t before = choose(t, t, (struct filter){.kind = o->kind});
    if (before != NONE && splice(t, t->places.data[before].parent, t->places.data[before].at, 0, &copy)) {
        adopt(t, before);
        return true;
    }
    uint32_t in = choose(t, t, (struct filter){.content = o->message});
    if (in == NONE && o->message != t->language->message)
        return false;
    return splice(t, in, in == NONE ? t->size : t->places.data[in].end, 0, &copy);
}

/* Two fields of a kind change places. */
static bool swap_fields(struct tree *t, uint32_t index)
{
    uint32_t other = choose(t, t, (struct filter){.kind = t->places.data[index].kind});
    uint32_t first = index < other ? index : other, second = index < other ? other : index;
    struct place a = t->places.data[first], b = t->places.data[second];
    if (b.at < a.end)
        return false;
    text content = {0};
    put(t, &content, t->bytes + b.content, b.end - b.content);
    if (!set_like(t, second, t, first)) /* what stands before it keeps its number in the list */
        return false;
    return set_content(t, first, b.type, content.data, content.count);
}

/* A field that the schema has and the message may not. */
static bool add_field(struct tree *t)
{
    uint32_t in = choose_any(t, t);
    while (in != NONE && !is_message(&t->places.data[in]))
        in = t->places.data[in].parent;
    const ProtobufCMessageDescriptor *message =
        in == NONE ? t->language->message : t->places.data[in].field->descriptor;
    if (message->n_fields == 0)
        return false;
    const ProtobufCFieldDescriptor *field = &message->fields[below(t, message->n_fields)];
    text content = {0};
    uint8_t type = wire_type_of(field);
    const struct wire_words *words = words_of(t, message, field);
    struct filter like = {.text = field->type != PROTOBUF_C_TYPE_MESSAGE,
                          .content = field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL};
    if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING ||
        field->type == PROTOBUF_C_TYPE_BYTES) {
        uint32_t other = choose(t, t->donor, like);
        const char *word = words && words->count ? words->words[below(t, words->count)] : NULL;
        type = WIRE_BYTES;
        if (word && below(t, 2))
            put(t, &content, word, strlen(word));
        else if (other != NONE)
            put(t, &content, t->donor->bytes + t->donor->places.data[other].content,
                t->donor->places.data[other].end - t->donor->places.data[other].content);
    } else {
        put_number(t, &content, width_of(field), other_number(t, field, 0));
    }
    text whole = field_of(t, field->id, type, content.data, content.count);
    return splice(t, in, in == NONE ? t->size : t->places.data[in].end, 0, &whole);
}

/* ---- entry ---- */

static bool change_value(struct tree *t, uint32_t index)
{
    const struct place *p = &t->places.data[index];
    if (is_message(p))
        return change_message(t, index);
    if (is_text(p))
        return change_text(t, index);
    if (p->field && p->field->type != PROTOBUF_C_TYPE_MESSAGE)
        return p->type == WIRE_BYTES ? change_list(t, index) : change_number(t, index);
    return p->type == WIRE_BYTES && change_payload(t, index);
}

static bool change(struct tree *t)
{
    uint32_t what = below(t, 16), index = choose_any(t, t);
    if (what == 0 || index == NONE)
        return add_field(t);
    if (what == 1)
        return remove_field(t, index);
    if (what == 2)
        return swap_fields(t, index);
    if (what < 5) {
        uint32_t from = choose_any(t, t->donor);
        return from != NONE && insert_copy(t, from);
    }
    return change_value(t, index);
}

static struct tree tree_of(struct arena *arena, const struct wire_language *language, uint8_t *bytes, size_t size,
                           size_t max_size, unsigned seed)
{
    struct tree t = {
        .arena = arena, .language = language, .bytes = bytes, .size = size, .max_size = max_size, .random = mix(seed)};
    list_places(&t);
    return t;
}

size_t mutate_wire(uint8_t *bytes, size_t size, size_t max_size, unsigned seed, const struct wire_language *language)
{
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)))
        abort();
    struct tree t = tree_of(arena, language, bytes, size, max_size, seed);
    t.donor = &t;
    uint32_t wanted = below(&t, 3) + 1;
    for (uint32_t attempts = 0; wanted && attempts < 20; attempts++)
        wanted -= change(&t);
    arena_destroy(arena);
    return t.size;
}

size_t cross_wire(const uint8_t *bytes, size_t size, const uint8_t *others, size_t others_size, uint8_t *out,
                  size_t max_size, unsigned seed, const struct wire_language *language)
{
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)))
        abort();
    if (size > max_size) {
        arena_destroy(arena);
        return 0;
    }
    memcpy(out, bytes, size);
    struct tree t = tree_of(arena, language, out, size, max_size, seed);
    struct tree donor = tree_of(arena, language, (uint8_t *)(uintptr_t)others, others_size, others_size, seed);
    t.donor = &donor;
    uint32_t wanted = below(&t, 4) + 1;
    for (uint32_t attempts = 0; wanted && attempts < 20; attempts++) {
        uint32_t from = choose_any(&t, &donor), index = choose_any(&t, &t);
        if (from != NONE && below(&t, 2))
            wanted -= insert_copy(&t, from);
        else if (index != NONE)
            wanted -= change_value(&t, index);
    }
    arena_destroy(arena);
    return t.size;
}
