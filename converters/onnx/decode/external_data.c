/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors whose elements are in files beside the model, in its folder and below. */
#include "converters/onnx/decode/external_data.h"

#include <errno.h>
#include <inttypes.h>

#include "converters/frontend/model_folder.h"

struct external {
    struct arena *arena;
    struct diags *diags;
    struct model_folder *folder;
    struct map index; /* location, as it is given and cleaned → files */
    VEC(struct file *) files;
};

/* The external_data entries of one tensor. */
struct external_range {
    const char *location;
    uint64_t offset, length;
    bool has_length;
};

struct external *external_create(struct arena *arena, struct diags *diags, const char *model_path, bool follow_links)
{
    struct external *x = arena_new(arena, struct external);
    x->arena = arena;
    x->diags = diags;
    x->folder = model_folder_with(arena, diags, model_path, follow_links);
    map_init(&x->index, arena);
    return x;
}

/* ---- opening ---- */

/* The location without empty and "." parts; NULL when it is absolute, climbs, or names nothing. */
static const char *clean_location(struct arena *arena, const char *location)
{
    if (location[0] == '/')
        return NULL;
    text clean = {0};
    for (const char *part = location; *part;) {
        size_t length = strcspn(part, "/");
        if (length == 2 && memcmp(part, "..", 2) == 0)
            return NULL;
        if (length > 0 && !(length == 1 && *part == '.'))
            text_add(arena, &clean, "%s%.*s", clean.count > 0 ? "/" : "", (int)length, part);
        part += length + (part[length] == '/');
    }
    return clean.count > 0 ? clean.data : NULL;
}

static odlc_status escapes(struct decode *d, const struct odlc_diag *place, const char *location, const char *hint)
{
    struct odlc_diag at = *place;
    at.hint = hint;
    return decode_error(d, ODLC_ERR_INVALID, &at, "onnx-external-path",
                        "external data '%s' leads out of the model's folder", location);
}

static odlc_status map_external(struct decode *d, const char *full, const char *location, const struct odlc_diag *place,
                                struct file **file)
{
    struct external *x = d->external;
    if (file_in_memory(x->diags, full))
        return file_map(x->arena, x->diags, full, file);
    int fd = model_folder_open(x->folder, full);
    if (fd < 0 && model_folder_is_left(errno))
        return escapes(d, place, location, MODEL_FOLDER_HINT);
    if (fd < 0)
        return decode_error(d, ODLC_ERR_IO, place, "onnx-external", "cannot open external data '%s': %s", location,
                            strerror(errno));
    odlc_status mapped = file_map_fd(x->arena, x->diags, full, fd, file);
    return mapped == ODLC_OK ? ODLC_OK : decode_failed(d, mapped);
}

static odlc_status external_file(struct decode *d, const char *location, const struct odlc_diag *place,
                                 const struct file **out)
{
    struct external *x = d->external;
    uint32_t known = map_get(&x->index, location);
    const char *path = known == MAP_NONE ? clean_location(d->memory.scratch, location) : NULL;
    if (known == MAP_NONE && !path)
        return escapes(d, place, location, "external data must be in the model's folder or below");
    if (known == MAP_NONE)
        known = map_get(&x->index, path);
    if (known != MAP_NONE) {
        *out = x->files.data[known];
        return ODLC_OK;
    }
    const char *full = arena_printf(x->arena, "%s%s", x->folder->path, path);
    struct file *file;
    TRY(map_external(d, full, location, place, &file));
    map_put(&x->index, arena_strdup(x->arena, path), (uint32_t)x->files.count);
    map_put(&x->index, arena_strdup(x->arena, location), (uint32_t)x->files.count);
    vec_push(x->arena, &x->files, file);
    *out = file;
    return ODLC_OK;
}

void external_list(const struct external *x, struct fw_model *model)
{
    for (size_t i = 0; i < x->files.count; i++)
        vec_push(x->arena, &model->files, x->files.data[i]->path);
}

/* ---- what a tensor says ---- */

static bool parse_decimal(const char *digits, uint64_t *out)
{
    uint64_t value = 0;
    if (!*digits)
        return false;
    for (; *digits; digits++)
        if (*digits < '0' || *digits > '9' || ckd_mul(&value, value, 10) || ckd_add(&value, value, *digits - '0'))
            return false;
    *out = value;
    return true;
}

/* The key and the value of an entry; "" where it lacks one. */
static void read_entry(struct decode *d, const struct wire_field *entry, const char **key, const char **value)
{
    struct wire w = wire_in(d->file, entry);
    struct wire_field f;
    *key = *value = "";
    while (wire_next(&w, &f)) {
        const char **text = f.number == ENTRY_KEY ? key : f.number == ENTRY_VALUE ? value : NULL;
        if (text)
            *text = arena_strndup(d->memory.scratch, wire_bytes(d->file, &f), f.size);
    }
}

/* The `checksum` of the whole file is optional in ONNX, no known writer gives it, and it is not verified here. */
static odlc_status read_range(struct decode *d, const struct wire_field *tensor, const struct odlc_diag *place,
                              struct external_range *out)
{
    struct external_range range = {0};
    struct wire w = wire_in(d->file, tensor);
    struct wire_field entry;
    while (wire_next_of(&w, TENSOR_EXTERNAL_DATA, &entry)) {
        const char *key, *value;
        bool ok = true;
        read_entry(d, &entry, &key, &value);
        if (strcmp(key, "location") == 0) {
            range.location = value;
        } else if (strcmp(key, "offset") == 0) {
            ok = parse_decimal(value, &range.offset);
        } else if (strcmp(key, "length") == 0) {
            ok = parse_decimal(value, &range.length);
            range.has_length = true;
        }
        if (!ok)
            return decode_error(d, ODLC_ERR_INVALID, place, "onnx-external",
                                "external data has the %s '%s', which is no "
                                "byte count",
                                key, value);
    }
    if (!range.location)
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-external", "external data has no location");
    *out = range;
    return ODLC_OK;
}

static odlc_status find_range(struct decode *d, const struct wire_field *tensor, uint64_t size,
                              const struct odlc_diag *place, const uint8_t **bytes, const struct file **file)
{
    struct external_range range = {0};
    const struct file *found = NULL;
    uint64_t end;
    TRY(read_range(d, tensor, place, &range));
    TRY(external_file(d, range.location, place, &found));
    if (range.has_length && range.length != size)
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-tensor-size",
                            "external data has %" PRIu64 " bytes for a tensor that needs %" PRIu64, range.length, size);
    if (ckd_add(&end, range.offset, size) || end > found->size)
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-external-range",
                            "external data '%s' ends at byte %" PRIu64 ", before offset %" PRIu64 " + %" PRIu64
                            " bytes",
                            range.location, found->size, range.offset, size);
    *bytes = size > 0 ? found->data + range.offset : (const uint8_t *)"";
    *file = found;
    return ODLC_OK;
}

odlc_status external_bytes(struct decode *d, const struct wire_field *tensor, uint64_t size,
                           const struct odlc_diag *place, const uint8_t **bytes, const struct file **file)
{
    struct arena_mark mark = arena_mark(d->memory.scratch);
    odlc_status status = find_range(d, tensor, size, place, bytes, file);
    arena_rewind(d->memory.scratch, mark);
    return status;
}
