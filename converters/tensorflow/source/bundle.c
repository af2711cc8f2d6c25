/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/bundle.h"

#include <inttypes.h>

#include "converters/tensorflow/source/bundle_entry.h"
#include "converters/tensorflow/source/bundle_slices.h"
#include "tensorflow.pb-c.h"

/* The newest form of bundles that is known, and the largest number that a shard's name has room for. */
enum { BUNDLE_VERSION = 1, MAX_SHARDS = 99999, LITTLE_ENDIAN_DATA = 0 };

enum { HEADER_NUM_SHARDS = 1, HEADER_ENDIANNESS = 2, HEADER_VERSION = 3, VERSION_MIN_CONSUMER = 2 };

/* ---- opening ---- */

static int64_t read_min_consumer(const struct file *message, const struct wire_field *version)
{
    struct wire w = wire_in(message, version);
    struct wire_field f;
    return wire_next_of(&w, VERSION_MIN_CONSUMER, &f) ? (int32_t)f.value : 0;
}

static odlc_status read_header(struct bundle *b)
{
    const struct table_entry *from = table_find(&b->table, "", 0);
    struct file message;
    struct wire_field f;
    int64_t n_shards = 0, endianness = LITTLE_ENDIAN_DATA, min_consumer = 0;
    if (!from)
        return diag_error(b->diags, ODLC_ERR_INVALID, AT(.file = b->index->path, .hint = BUNDLE_DAMAGED),
                          "checkpoint-index", "the index has no header, so that it is no checkpoint's");
    TRY(bundle_open_value(b, from, "", &tensorflow__bundle_header_proto__descriptor, &message));
    for (struct wire w = wire_of(&message, 0, message.size); wire_next(&w, &f);) {
        if (f.number == HEADER_NUM_SHARDS)
            n_shards = (int32_t)f.value;
        else if (f.number == HEADER_ENDIANNESS)
            endianness = (int32_t)f.value;
        else if (f.number == HEADER_VERSION)
            min_consumer = read_min_consumer(&message, &f);
    }
    if (endianness != LITTLE_ENDIAN_DATA)
        return diag_error(b->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = b->index->path, .hint = "save the variables on a little-endian machine"),
                          "checkpoint-endianness", "the checkpoint was saved on a big-endian machine");
    if (min_consumer > BUNDLE_VERSION)
        return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.file = b->index->path), "checkpoint-version",
                          "the checkpoint asks for version %" PRId64 " of its form, and version %d is the newest known",
                          min_consumer, BUNDLE_VERSION);
    if (n_shards < 0 || n_shards > MAX_SHARDS)
        return diag_error(b->diags, ODLC_ERR_INVALID, AT(.file = b->index->path, .hint = BUNDLE_DAMAGED),
                          "checkpoint-index", "the checkpoint has %" PRId64 " shards, not 0 to %d", n_shards,
                          MAX_SHARDS);
    b->n_shards = (uint32_t)n_shards;
    return ODLC_OK;
}

odlc_status bundle_open(struct arena *arena, struct diags *diags, struct model_folder *folder, const char *prefix,
                        struct bundle **out)
{
    struct bundle *b = arena_new(arena, struct bundle);
    b->arena = arena;
    b->diags = diags;
    b->folder = folder;
    b->prefix = arena_strdup(arena, prefix);
    map_init(&b->shard_index, arena);
    TRY(bundle_open_file(b, arena_printf(arena, "%s.index", prefix),
                         "a checkpoint is PREFIX.index and PREFIX.data-00000-of-00001, in one folder", &b->index));
    TRY(table_read(arena, diags, b->index, &b->table));
    TRY(read_header(b));
    for (size_t i = 0; i < b->table.count; i++) /* keys of slices begin with a NUL byte */
        if (b->table.entries[i].key[0] != '\0')
            vec_push(arena, &b->keys, b->table.entries[i].key);
    b->views = arena_array(arena, const struct view *, b->table.count);
    *out = b;
    return ODLC_OK;
}

const char *const *bundle_keys(const struct bundle *b, size_t *count)
{
    *count = b->keys.count;
    return b->keys.data;
}

const char *const *bundle_files(const struct bundle *b, size_t *count)
{
    *count = b->paths.count;
    return b->paths.data;
}

/* ---- tensors ---- */

static odlc_status load_view(struct bundle *b, const struct table_entry *from, struct view *out)
{
    struct bundle_entry e;
    TRY(bundle_read_entry(b, from, from->key, &e));
    return e.n_slices > 0 ? bundle_load_slices(b, &e, out) : bundle_load(b, &e, out);
}

/* NULL when there is none. The header and slices go by no name. */
static const struct table_entry *find_tensor(const struct bundle *b, const char *key)
{
    return *key ? table_find(&b->table, key, strlen(key)) : NULL;
}

odlc_status bundle_find(struct bundle *b, const char *key, bool *found, struct view *out)
{
    const struct table_entry *from = find_tensor(b, key);
    *found = from != NULL;
    if (!from)
        return ODLC_OK;
    const struct view **known = &b->views[from - b->table.entries];
    if (!*known) {
        struct view view;
        TRY(load_view(b, from, &view));
        *known = arena_memdup(b->arena, &view, sizeof view);
    }
    *out = **known;
    return ODLC_OK;
}

odlc_status bundle_find_bytes(struct bundle *b, const char *key, bool *found, struct file *out)
{
    const struct table_entry *from = find_tensor(b, key);
    struct bundle_entry e;
    *found = from != NULL;
    if (!from)
        return ODLC_OK;
    TRY(bundle_read_entry(b, from, from->key, &e));
    return bundle_load_bytes(b, &e, out);
}
