/* SPDX-License-Identifier: Apache-2.0 */
/* The container's metadata: `key=value` lines, or JSON in version 4.1. */
#include "dlc/read.h"

#include <string.h>

#include "dlc/zip.h"
#include "text/json.h"

#define JSON_PREFIX "dlc.metadata2"

/* Values of JSON take 40 times their bytes while they are parsed, and each one's key is that of all levels above it. */
enum { MAX_METADATA = 4 << 20, MAX_DEPTH = 32, MAX_KEYS = 64 << 20 };

typedef VEC(struct dlc_meta) meta_list;

static odlc_status read_lines(const struct dlc_reading *r, const uint8_t *bytes, uint64_t size, meta_list *list)
{
    const char *text = (const char *)bytes;
    for (uint64_t at = 0; at < size;) {
        const char *line = text + at, *end = memchr(line, '\n', size - at);
        uint64_t length = end ? (uint64_t)(end - line) : size - at;
        const char *equals = memchr(line, '=', length);
        at += length + 1;
        if (length == 0)
            continue;
        if (!equals || memchr(line, 0, length))
            return dlc_invalid(r, NULL, "a line of dlc.metadata is not of the form key=value");
        size_t key = (size_t)(equals - line);
        struct dlc_meta meta = {arena_strndup(r->arena, line, key),
                                arena_strndup(r->arena, equals + 1, length - key - 1)};
        vec_push(r->arena, list, meta);
    }
    return ODLC_OK;
}

static const char *leaf_text(struct arena *arena, const struct json_value *item)
{
    if (item->kind == JSON_STRING)
        return item->string;
    if (item->kind == JSON_NUMBER)
        return arena_printf(arena, "%.17g", item->number);
    return item->kind == JSON_NULL ? "null" : item->truth ? "true" : "false";
}

struct flattening {
    const struct dlc_reading *r;
    meta_list list;
    uint64_t key_bytes; /* so far */
};

/* Leaves become "a.b.0.c" = text. */
static odlc_status flatten(struct flattening *f, const struct json_value *item, const char *path, unsigned depth)
{
    struct arena *arena = f->r->arena;
    if (depth > MAX_DEPTH)
        return dlc_invalid(f->r, NULL, "the metadata is nested more than %d levels deep", MAX_DEPTH);
    if (item->kind != JSON_OBJECT && item->kind != JSON_ARRAY) {
        vec_push(arena, &f->list, (struct dlc_meta){path, leaf_text(arena, item)});
        return ODLC_OK;
    }
    unsigned index = 0;
    for (const struct json_value *child = item->child; child; child = child->next, index++) {
        const char *key = child->key ? child->key : arena_printf(arena, "%u", index);
        f->key_bytes += strlen(path) + strlen(key) + 1;
        if (f->key_bytes > MAX_KEYS)
            return diag_error(f->r->diags, ODLC_ERR_LIMIT, AT(.file = f->r->file->path), "dlc-metadata",
                              "the metadata's keys take more than %d MiB", MAX_KEYS >> 20);
        TRY(flatten(f, child, arena_printf(arena, "%s%s%s", path, *path ? "." : "", key), depth + 1));
    }
    return ODLC_OK;
}

/* What the line form calls converter-command, converter-version, …: readers of both forms can ask for one name. */
static void add_line_names(const struct dlc_reading *r, meta_list *list)
{
    static const char *const names[][2] = {
        {"dlcGenerationInfo.0.converterCommand.tool", "converter-command"},
        {"dlcGenerationInfo.0.converterCommand.converterVersion", "converter-version"},
        {"dlcGenerationInfo.0.quantizerCommand.tool", "quantizer-command"},
    };
    size_t count = list->count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COUNT_OF(names); k++)
            if (strcmp(list->data[i].key, names[k][0]) == 0)
                vec_push(r->arena, list, (struct dlc_meta){names[k][1], list->data[i].value});
}

static odlc_status read_json(const struct dlc_reading *r, const char *name, const uint8_t *bytes, uint64_t size,
                             meta_list *list)
{
    struct diags faults; /* the entry's name says enough: nobody writes the text by hand */
    struct json json = {0};
    struct flattening f = {.r = r};
    diags_init(&faults, r->arena);
    odlc_status status = source_init(&json.source, r->arena, &faults, name, (const char *)bytes, size);
    if (status == ODLC_OK)
        json_scan(&json);
    if (status != ODLC_OK || json.source.errors)
        return dlc_invalid(r, NULL, "entry %s is not valid JSON", name);
    TRY(flatten(&f, json.root, "", 0));
    *list = f.list;
    add_line_names(r, list);
    return ODLC_OK;
}

static const struct dlc_entry *find_json(const struct dlc_file *dlc)
{
    for (uint32_t i = 0; i < dlc->n_entries; i++)
        if (strncmp(dlc->entries[i].name, JSON_PREFIX, strlen(JSON_PREFIX)) == 0)
            return &dlc->entries[i];
    return NULL;
}

odlc_status dlc_read_metadata(struct dlc_reading *r)
{
    struct dlc_file *dlc = r->dlc;
    const struct dlc_entry *lines = zip_find(dlc->entries, dlc->n_entries, "dlc.metadata");
    const struct dlc_entry *entry = lines ? lines : find_json(dlc);
    if (!entry)
        return ODLC_OK;
    if (entry->size > MAX_METADATA)
        return diag_error(r->diags, ODLC_ERR_LIMIT, AT(.file = r->file->path), "dlc-metadata",
                          "the metadata is larger than %d MiB", MAX_METADATA >> 20);
    const uint8_t *bytes;
    meta_list list = {0};
    TRY(zip_copy(r->arena, r->diags, r->file, entry, &bytes));
    if (lines)
        TRY(read_lines(r, bytes, entry->size, &list));
    else
        TRY(read_json(r, entry->name, bytes, entry->size, &list));
    dlc->metadata = list.data;
    dlc->n_metadata = (uint32_t)list.count;
    return ODLC_OK;
}
