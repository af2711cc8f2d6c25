/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/flatbuf.h"

enum { MAX_DEPTH = 64 };

const struct fb_type fb_payload = {NULL, 0};

struct verifier {
    const uint8_t *data;
    uint64_t size;
    /* Bytes that may still be visited. Whoever shares nothing visits each byte once; without a limit, tables that share
       children many times over would take exponential time, and their records memory far beyond the buffer's size. */
    uint64_t budget;
    struct fb_fault *fault;
    struct file_copy *copy; /* what data and size are a part of; NULL: all is there */
    uint64_t start;
};

static bool fail(struct verifier *v, uint64_t offset, const char *what)
{
    *v->fault = (struct fb_fault){offset, what};
    return false;
}

static bool spend(struct verifier *v, uint64_t offset, uint64_t work)
{
    if (work > v->budget)
        return fail(v, offset, "parts shared too often");
    v->budget -= work;
    return true;
}

static bool inside(const struct verifier *v, uint64_t offset, uint64_t size)
{
    return offset <= v->size && size <= v->size - offset;
}

/* Whether bytes inside the buffer can be read: the copy gets them now. */
static bool here(struct verifier *v, uint64_t offset, uint64_t size)
{
    return !v->copy || file_copy_need(v->copy, v->start + offset, size) || fail(v, offset, "not readable");
}

/* The unsigned offset stored at pos, as a position in the buffer. */
static bool follow(struct verifier *v, uint64_t pos, uint64_t *target)
{
    if (!inside(v, pos, 4))
        return fail(v, pos, "offset outside the buffer");
    if (!here(v, pos, 4))
        return false;
    *target = pos + load_le(v->data + pos, 4);
    return inside(v, *target, 4) ? here(v, *target, 4) : fail(v, pos, "offset leads outside the buffer");
}

static bool verify_vector(struct verifier *v, uint64_t pos, uint32_t element, const struct fb_type *type)
{
    uint64_t count = load_le(v->data + pos, 4);
    if (!inside(v, pos + 4, count * element))
        return fail(v, pos, "vector longer than the buffer");
    return spend(v, pos, 4 + count * element) && (type == FB_PAYLOAD || here(v, pos + 4, count * element));
}

static bool verify_string(struct verifier *v, uint64_t pos)
{
    uint64_t length = load_le(v->data + pos, 4);
    if (!inside(v, pos + 4, length + 1))
        return fail(v, pos, "string without its end");
    if (!spend(v, pos, 1 + length / 8) || !here(v, pos + 4, length + 1)) /* writers share them */
        return false;
    if (v->data[pos + 4 + length] != 0)
        return fail(v, pos, "string without its end");
    return memchr(v->data + pos + 4, 0, length) ? fail(v, pos, "string with a NUL inside") : true;
}

static bool verify_table(struct verifier *v, uint64_t pos, const struct fb_type *type, unsigned depth);

/* Vectors of references: each element is an offset to follow. */
static bool verify_references(struct verifier *v, uint64_t pos, const struct fb_field *field, unsigned depth)
{
    if (!verify_vector(v, pos, 4, NULL))
        return false;
    uint64_t count = load_le(v->data + pos, 4), target;
    for (uint64_t i = 0; i < count; i++) {
        if (!follow(v, pos + 4 + 4 * i, &target))
            return false;
        bool good = field->kind == FB_STRINGS ? verify_string(v, target) : verify_table(v, target, field->type, depth);
        if (!good)
            return false;
    }
    return true;
}

static uint32_t field_size(enum fb_kind kind)
{
    return kind == FB_8 ? 1 : kind == FB_64 ? 8 : 4;
}

static bool verify_field(struct verifier *v, uint64_t pos, const struct fb_field *field, unsigned depth)
{
    uint64_t target;
    if (field->kind < FB_STRING)
        return true;
    if (!follow(v, pos, &target))
        return false;
    switch (field->kind) {
    case FB_STRING:
        return verify_string(v, target);
    case FB_TABLE:
        return verify_table(v, target, field->type, depth);
    case FB_BYTES:
        return verify_vector(v, target, 1, field->type);
    case FB_WORDS:
        return verify_vector(v, target, 4, field->type);
    default:
        return verify_references(v, target, field, depth);
    }
}

/* A table starts with the signed distance to its vtable, which may lie before or after it:
 * u16 bytes of the vtable, u16 bytes of the table, then a u16 per slot: where in the table the field is, 0 for absent.
 */
static bool verify_table(struct verifier *v, uint64_t pos, const struct fb_type *type, unsigned depth)
{
    if (depth >= MAX_DEPTH)
        return fail(v, pos, "tables nested too deeply");
    if (!inside(v, pos, 4))
        return fail(v, pos, "table outside the buffer");
    if (!here(v, pos, 4))
        return false;
    int64_t vtable = (int64_t)pos - (int32_t)load_le(v->data + pos, 4);
    if (vtable < 0 || !inside(v, (uint64_t)vtable, 4))
        return fail(v, pos, "vtable outside the buffer");
    if (!here(v, (uint64_t)vtable, 4))
        return false;
    const uint8_t *entries = v->data + vtable;
    uint64_t vtable_size = load_le(entries, 2), table_size = load_le(entries + 2, 2);
    if (vtable_size < 4 || vtable_size % 2 || !inside(v, (uint64_t)vtable, vtable_size))
        return fail(v, (uint64_t)vtable, "vtable with a wrong size");
    if (table_size < 4 || !inside(v, pos, table_size))
        return fail(v, pos, "table longer than the buffer");
    if (!spend(v, pos, table_size) || !here(v, (uint64_t)vtable, vtable_size) || !here(v, pos, table_size))
        return false;
    uint64_t slots = min_u64((vtable_size - 4) / 2, type->n_fields);
    for (uint64_t slot = 0; slot < slots; slot++) {
        uint64_t at = load_le(entries + 4 + 2 * slot, 2);
        const struct fb_field *field = &type->fields[slot];
        if (at == 0 || field->kind == FB_IGNORED)
            continue;
        if (at < 4 || at + field_size(field->kind) > table_size)
            return fail(v, pos, "field outside its table");
        if (!verify_field(v, pos + at, field, depth + 1))
            return false;
    }
    return true;
}

static bool verify(struct verifier *v, const struct fb_type *root)
{
    uint64_t table;
    return follow(v, 0, &table) && verify_table(v, table, root, 0);
}

bool fb_verify(const uint8_t *data, uint64_t size, const struct fb_type *root, struct fb_fault *fault)
{
    struct verifier v = {.data = data, .size = size, .budget = size, .fault = fault};
    return verify(&v, root);
}

bool fb_verify_copy(struct file_copy *copy, uint64_t start, uint64_t size, const struct fb_type *root,
                    struct fb_fault *fault)
{
    struct verifier v = {copy->bytes + start, size, size, fault, copy, start};
    return verify(&v, root);
}
