/* SPDX-License-Identifier: Apache-2.0 */
#include "encoding/encoding_file.h"

#include <string.h>

#include "base/file.h"
#include "encoding/encoding_entry.h"

static bool same_entry(const struct encoding_entry *a, const struct encoding_entry *b)
{
    if (a->kind != b->kind || a->bits != b->bits || a->count != b->count || a->per_channel != b->per_channel ||
        a->axis != b->axis)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->encodings[i].scale != b->encodings[i].scale || a->encodings[i].offset != b->encodings[i].offset)
            return false;
    return true;
}

/* A tensor may stand among activations and params, with one encoding. */
static void add_entry(struct encoding_reader *r, struct map *names, const struct encoding_entry *entry)
{
    struct encoding_file *file = r->file;
    uint32_t first = map_add(names, entry->name, (uint32_t)file->entries.count);
    if (first == MAP_NONE)
        vec_push(r->arena, &file->entries, *entry);
    else if (!same_entry(&file->entries.data[first], entry)) {
        encoding_wrong(r, ODLC_ERR_INVALID, entry->place, "tensor %s has two encodings", entry->name);
        json_note(file->json, file->entries.data[first].place, "encoding-first", "this is the other one");
    }
}

/* {"tensor": …, …} */
static void read_object(struct encoding_reader *r, struct map *names, const struct json_value *section)
{
    for (const struct json_value *value = json_child(section); value; value = value->next) {
        struct encoding_entry entry = {.name = value->key, .place = value, .axis = ENCODING_NO_AXIS};
        if (encoding_read_ranges(r, value, &entry))
            add_entry(r, names, &entry);
    }
}

/* [{"name": "tensor", …}, …] */
static void read_list(struct encoding_reader *r, struct map *names, const struct json_value *section,
                      encoding_read_fn *read)
{
    for (const struct json_value *value = json_child(section); value; value = value->next) {
        const struct json_value *name = json_member(value, "name");
        struct encoding_entry entry = {.place = value, .axis = ENCODING_NO_AXIS};
        if (!json_is(name, JSON_STRING)) {
            encoding_wrong(r, ODLC_ERR_INVALID, value, "an encoding of a list is an object with a name");
            continue;
        }
        entry.name = name->string;
        if (read(r, value, &entry))
            add_entry(r, names, &entry);
    }
}

static void read_section(struct encoding_reader *r, struct map *names, const struct json_value *section)
{
    if (json_is(section, JSON_OBJECT))
        read_object(r, names, section);
    else if (json_is(section, JSON_ARRAY))
        read_list(r, names, section, encoding_read_scales);
    else
        encoding_wrong(r, ODLC_ERR_INVALID, section, "%s is neither an object nor a list", section->key);
}

/* ["layer", …] */
static void read_excluded(struct encoding_reader *r, const struct json_value *list)
{
    if (list && !json_is(list, JSON_ARRAY) && !json_is(list, JSON_NULL)) {
        encoding_wrong(r, ODLC_ERR_INVALID, list, "excluded_layers is no list of names");
        return;
    }
    for (const struct json_value *name = list ? json_child(list) : NULL; name; name = name->next)
        if (json_is(name, JSON_STRING))
            vec_push(r->arena, &r->file->excluded, name->string);
        else
            encoding_wrong(r, ODLC_ERR_INVALID, name, "a name of excluded_layers is no string");
}

static void read_root(struct encoding_reader *r, const struct json_value *root)
{
    static const char *const sections[] = {"activation_encodings", "param_encodings"};
    const struct json_value *list = json_member(root, "encodings");
    struct map names;
    map_init(&names, r->arena);
    if (json_is(list, JSON_ARRAY)) {
        read_list(r, &names, list, encoding_read_onnx);
        return;
    }
    bool seen = false;
    read_excluded(r, json_member(root, "excluded_layers"));
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        const struct json_value *section = json_member(root, sections[i]);
        if (section)
            read_section(r, &names, section);
        seen |= section != NULL;
    }
    if (!seen)
        encoding_wrong(r, ODLC_ERR_INVALID, root,
                       "this is no file of encodings: it has neither activation_encodings nor param_encodings, nor "
                       "a list encodings");
}

odlc_status encoding_file_read(struct arena *arena, struct diags *diags, const char *path, struct encoding_file **out)
{
    struct file *bytes;
    TRY(file_map(arena, diags, path, &bytes));
    if (bytes->size > SOURCE_MAX_BYTES)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "encodings-too-large",
                          "a file of encodings may have %zu MiB", SOURCE_MAX_BYTES >> 20);
    struct encoding_file *file = arena_new(arena, struct encoding_file);
    TRY(json_parse(arena, diags, path, (const char *)bytes->data, bytes->size, &file->json));
    struct encoding_reader r = {.arena = arena, .file = file};
    read_root(&r, file->json->root);
    if (file->json->source.errors > 0)
        return r.status == ODLC_OK ? ODLC_ERR_INVALID : r.status;
    *out = file;
    return ODLC_OK;
}
