/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/bundle_entry.h"

#include <inttypes.h>
#include <stdio.h>

#include "converters/tensorflow/source/crc32c.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_types.h"
#include "tensorflow.pb-c.h"

static odlc_status bad_entry(struct bundle *b, odlc_status status, const struct bundle_entry *e, const char *code,
                             const char *what)
{
    return diag_error(b->diags, status,
                      AT(.file = b->index->path, .hint = status == ODLC_ERR_INVALID ? BUNDLE_DAMAGED : NULL), code,
                      "tensor '%s' %s", e->key, what);
}

/* ---- what the index says ---- */

static odlc_status read_shape(struct bundle *b, struct bundle_entry *e, const struct wire_field *message)
{
    struct wire w = wire_in(&e->message, message);
    struct wire_field f, size;
    while (wire_next(&w, &f)) {
        if (f.number == SHAPE_UNKNOWN_RANK && f.value)
            return bad_entry(b, ODLC_ERR_INVALID, e, "checkpoint-entry", "has no known shape");
        if (f.number != SHAPE_DIM)
            continue;
        if (e->shape.rank == MAX_RANK)
            return bad_entry(b, ODLC_ERR_UNSUPPORTED, e, "checkpoint-rank",
                             arena_printf(b->arena, "has more than %d dimensions", MAX_RANK));
        struct wire dim = wire_in(&e->message, &f);
        e->shape.dims[e->shape.rank++] = wire_next_of(&dim, DIM_SIZE, &size) ? (int64_t)size.value : 0;
    }
    return ODLC_OK;
}

odlc_status bundle_read_entry(struct bundle *b, const struct table_entry *from, const char *key,
                              struct bundle_entry *out)
{
    struct bundle_entry e = {.key = key};
    struct wire_field f;
    int64_t code = 0;
    TRY(bundle_open_value(b, from, key, &tensorflow__bundle_entry_proto__descriptor, &e.message));
    for (struct wire w = wire_of(&e.message, 0, e.message.size); wire_next(&w, &f);) {
        if (f.number == BUNDLE_DTYPE)
            code = (int64_t)f.value;
        else if (f.number == BUNDLE_SHAPE)
            TRY(read_shape(b, &e, &f));
        else if (f.number == BUNDLE_SHARD)
            e.shard = (int32_t)f.value;
        else if (f.number == BUNDLE_OFFSET)
            e.offset = (int64_t)f.value;
        else if (f.number == BUNDLE_SIZE)
            e.size = (int64_t)f.value;
        else if (f.number == BUNDLE_CRC)
            e.crc = (uint32_t)load_le(e.message.data + f.content, 4);
        else if (f.number == BUNDLE_SLICE)
            e.n_slices++;
    }
    e.dtype = tf_dtype(code);
    if (e.dtype == DT_NONE)
        return bad_entry(b, ODLC_ERR_UNSUPPORTED, &e, "checkpoint-dtype",
                         arena_printf(b->arena, "is of the type %s, which is not supported", tf_dtype_name(code)));
    if (shape_too_large(&e.shape))
        return bad_entry(b, ODLC_ERR_INVALID, &e, "checkpoint-entry",
                         arena_printf(b->arena, "has the impossible shape %s", shape_text(b->arena, &e.shape)));
    *out = e;
    return ODLC_OK;
}

/* ---- where the bytes are ---- */

static odlc_status bad_data(struct bundle *b, const struct bundle_entry *e, const struct file *shard, const char *what)
{
    return diag_error(b->diags, ODLC_ERR_INVALID,
                      AT(.file = shard->path, .offset = (uint64_t)e->offset, .has_offset = 1, .hint = BUNDLE_DAMAGED),
                      "checkpoint-data", "the checkpoint is damaged: tensor '%s' %s", e->key, what);
}

static odlc_status open_shard(struct bundle *b, const struct bundle_entry *e, const struct file **out)
{
    char name[sizeof ".data-00000-of-00000"];
    if (e->shard < 0 || e->shard >= b->n_shards)
        return diag_error(b->diags, ODLC_ERR_INVALID, AT(.file = b->index->path, .hint = BUNDLE_DAMAGED),
                          "checkpoint-entry", "tensor '%s' is in shard %" PRId64 " of %" PRIu32, e->key, e->shard,
                          b->n_shards);
    snprintf(name, sizeof name, ".data-%05u-of-%05u", (unsigned)e->shard % 100000, (unsigned)b->n_shards % 100000);
    uint32_t known = map_get(&b->shard_index, name);
    if (known == MAP_NONE) {
        const struct file *shard;
        TRY(bundle_open_file(b, arena_printf(b->arena, "%s%s", b->prefix, name),
                             arena_printf(b->arena,
                                          "tensor '%s' is in this part of the checkpoint: all of its files belong "
                                          "in one folder",
                                          e->key),
                             &shard));
        known = (uint32_t)b->shards.count;
        vec_push(b->arena, &b->shards, shard);
        b->shard_bytes += shard->size;
        map_put(&b->shard_index, arena_strdup(b->arena, name), known);
    }
    *out = b->shards.data[known];
    return ODLC_OK;
}

odlc_status bundle_locate(struct bundle *b, const struct bundle_entry *e, const struct file **shard)
{
    int64_t end;
    const struct file *file;
    if (e->dtype != DT_STRING && (uint64_t)e->size != shape_count(&e->shape) * dtype_size(e->dtype))
        return diag_error(b->diags, ODLC_ERR_INVALID, AT(.file = b->index->path, .hint = BUNDLE_DAMAGED),
                          "checkpoint-entry", "tensor '%s' of %s%s has %" PRId64 " bytes", e->key,
                          dtype_info(e->dtype)->name, shape_text(b->arena, &e->shape), e->size);
    TRY(open_shard(b, e, &file));
    if (e->offset < 0 || e->size < 0 || ckd_add(&end, e->offset, e->size) || (uint64_t)end > file->size)
        return bad_data(b, e, file, "lies beyond the end of the file");
    *shard = file;
    return ODLC_OK;
}

/* Tensors lie side by side, and each is read once, but for the one that says how variables are called. Where thousands
 * of them are the same bytes, reading each would take time that the files are too small for. */
static odlc_status note_load(struct bundle *b, const struct bundle_entry *e, const struct file *shard)
{
    enum { MAX_READINGS = 2 };
    b->loaded_bytes += (uint64_t)e->size;
    return b->loaded_bytes <= MAX_READINGS * b->shard_bytes ? ODLC_OK
                                                            : bad_data(b, e, shard, "shares its bytes with others");
}

/* Adds bytes of a shard to a CRC, a piece at a time, so that little of them is ever resident. */
static odlc_status add_range(struct bundle *b, const struct file *shard, uint64_t offset, uint64_t size, uint32_t *crc)
{
    enum { PIECE = 1 << 20 };
    while (size > 0) {
        uint64_t piece = min_u64(size, PIECE);
        if (!file_populate(shard, offset, piece))
            return diag_error(b->diags, ODLC_ERR_IO, AT(.file = shard->path), "io",
                              "it became shorter while it was read");
        *crc = crc32c_add(*crc, shard->data + offset, piece);
        file_drop(shard, offset, piece);
        offset += piece;
        size -= piece;
    }
    return ODLC_OK;
}

/* ---- strings ---- */

/* A tensor of strings in its shard: their lengths as varints, a CRC of these, and their bytes. */
struct strings {
    struct reader lengths, bytes;
};

/* Checks the form, and the CRCs: that of the lengths is of fixed-width numbers. */
static odlc_status open_strings(struct bundle *b, const struct bundle_entry *e, const struct file *shard,
                                struct strings *out)
{
    uint64_t count = shape_count(&e->shape), total = 0;
    struct reader r = reader_of(shard->data + e->offset, (uint64_t)e->size);
    uint32_t crc = 0;
    uint8_t fixed[8];
    for (uint64_t i = 0; i < count && !r.failed; i++) {
        uint64_t length = read_varint(&r);
        unsigned width = length <= UINT32_MAX ? 4 : 8;
        store_le(fixed, width, length);
        crc = crc32c_add(crc, fixed, width);
        if (ckd_add(&total, total, length))
            r.failed = true;
    }
    out->lengths = reader_of(r.data, r.pos);
    uint32_t stored = read_u32(&r);
    if (r.failed || total != r.size - r.pos)
        return bad_data(b, e, shard, "does not have the strings that its shape asks for");
    if (stored != crc32c_mask(crc))
        return bad_data(b, e, shard, "has strings whose lengths are not those that were saved");
    out->bytes = reader_of(r.data + r.pos, total);
    store_le(fixed, 4, stored);
    crc = crc32c_add(crc, fixed, 4);
    TRY(add_range(b, shard, (uint64_t)e->offset + r.pos, total, &crc));
    if (crc32c_mask(crc) != e->crc)
        return bad_data(b, e, shard, "does not have the checksum that is stored for it");
    return ODLC_OK;
}

static odlc_status load_strings(struct bundle *b, const struct bundle_entry *e, const struct file *shard,
                                struct view *out)
{
    struct strings s;
    TRY(open_strings(b, e, shard, &s));
    uint64_t count = shape_count(&e->shape);
    const char **strings = arena_array(b->arena, const char *, count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length = read_varint(&s.lengths);
        const char *bytes = (const char *)read_bytes(&s.bytes, length);
        if (!bytes)
            return bad_data(b, e, shard, "changed while it was read");
        if (memchr(bytes, 0, length))
            return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.file = shard->path), "checkpoint-nul",
                              "tensor '%s' has a string with a NUL byte, which containers cannot hold", e->key);
        strings[i] = arena_strndup(b->arena, bytes, length);
    }
    *out = view_of(NULL, DT_STRING, &e->shape);
    out->strings = strings;
    file_drop(shard, (uint64_t)e->offset, (uint64_t)e->size);
    return ODLC_OK;
}

odlc_status bundle_load(struct bundle *b, const struct bundle_entry *e, struct view *out)
{
    const struct file *shard;
    uint32_t crc = 0;
    TRY(bundle_locate(b, e, &shard));
    TRY(note_load(b, e, shard));
    if (e->dtype == DT_STRING)
        return load_strings(b, e, shard, out);
    TRY(add_range(b, shard, (uint64_t)e->offset, (uint64_t)e->size, &crc));
    if (crc32c_mask(crc) != e->crc)
        return bad_data(b, e, shard, "does not have the checksum that is stored for it");
    *out = view_of(e->size > 0 ? shard->data + e->offset : (const uint8_t *)"", e->dtype, &e->shape);
    out->file = shard;
    return ODLC_OK;
}

odlc_status bundle_load_bytes(struct bundle *b, const struct bundle_entry *e, struct file *out)
{
    const struct file *shard;
    struct strings s;
    if (e->dtype != DT_STRING || e->n_slices > 0 || shape_count(&e->shape) != 1)
        return bad_entry(b, ODLC_ERR_INVALID, e, "checkpoint-entry", "is not one string");
    TRY(bundle_locate(b, e, &shard));
    TRY(note_load(b, e, shard));
    TRY(open_strings(b, e, shard, &s));
    *out = (struct file){.path = shard->path, .fd = -1, .data = s.bytes.data, .size = s.bytes.size};
    return ODLC_OK;
}
