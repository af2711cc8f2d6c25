/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a container: zip, stream headers, metadata; then the version's own reader. */
#include "dlc/read.h"

#include <string.h>

#include "base/reader.h"
#include "dlc/zip.h"

/* ---- streams ---- */

/* The stream's header, of an entry that is long enough or not. */
static odlc_status read_header(const struct dlc_reading *r, const struct dlc_entry *entry, const uint8_t *bytes,
                               uint8_t header[STREAM_HEADER])
{
    size_t size = (size_t)min_u64(entry->size, STREAM_HEADER);
    if (!entry->compressed)
        return file_read(r->file, r->diags, entry->offset, header, size);
    memcpy(header, bytes, size);
    return ODLC_OK;
}

static odlc_status open_stream(struct dlc_reading *r, const struct dlc_entry *entry, struct dlc_stream *stream)
{
    struct dlc_bytes bytes;
    uint8_t first[STREAM_HEADER] = {0};
    TRY(dlc_entry_bytes(r, entry, &bytes));
    TRY(read_header(r, entry, bytes.data, first));
    struct reader header = reader_of(first, min_u64(entry->size, sizeof first));
    uint32_t magic = read_u16(&header), major = read_u16(&header), minor = read_u16(&header);
    if (!header.failed && magic == STREAM_MAGIC && major == 2)
        return diag_error(
            r->diags, ODLC_ERR_UNSUPPORTED,
            AT(.file = r->file->path, .hint = "convert the model again with a tool that writes version 4"),
            "dlc-version-2", "this is a version 2 container, whose layout is not documented");
    if (header.failed || magic != STREAM_MAGIC || entry->size < STREAM_HEADER + 8)
        return diag_error(r->diags, ODLC_ERR_INVALID,
                          AT(.file = r->file->path, .offset = entry->offset, .has_offset = 1,
                             .hint = "a zip with an entry of that name is not yet a DLC container"),
                          "dlc-not-a-container", "entry %s does not start with a stream header", entry->name);
    const struct dlc_bytes whole = dlc_part(&bytes, STREAM_HEADER, entry->size - STREAM_HEADER);
    *stream = (struct dlc_stream){.name = entry->name,
                                  .buffer = {.data = whole.data, .size = whole.size},
                                  .whole = whole,
                                  .offset = entry->offset + STREAM_HEADER,
                                  .major = major,
                                  .minor = minor};
    if (!entry->compressed && (r->file->fd >= 0 || r->file->source)) {
        stream->copy = file_copy_new(r->arena, r->file, stream->offset, stream->buffer.size);
        stream->buffer.data = stream->copy->bytes;
    }
    return dlc_read_identifier(r, stream);
}

static odlc_status open_streams(struct dlc_reading *r)
{
    const struct dlc_entry *model = zip_find(r->dlc->entries, r->dlc->n_entries, "model");
    const struct dlc_entry *params = zip_find(r->dlc->entries, r->dlc->n_entries, "model.params");
    if (!model)
        return diag_error(
            r->diags, ODLC_ERR_INVALID,
            AT(.file = r->file->path, .hint = "a DLC container is a zip file that holds an entry named model"),
            "dlc-not-a-container", "not a DLC container: the zip has no entry named model");
    TRY(open_stream(r, model, &r->model));
    if (strcmp(r->model.identifier, ID_MODEL) != 0)
        return dlc_invalid(r, NULL, "entry model is not identified as " ID_MODEL);
    if (!params)
        return ODLC_OK;
    TRY(open_stream(r, params, &r->params));
    r->payload = r->params.whole;
    return ODLC_OK;
}

odlc_status dlc_read_file(struct arena *arena, struct diags *diags, struct file *file, struct dlc_file **out)
{
    struct dlc_file *dlc = arena_new(arena, struct dlc_file);
    struct dlc_reading r = {.arena = arena, .diags = diags, .file = file, .dlc = dlc};
    r.shapes = arena_new(arena, struct shape_cache);
    struct dlc_entry *entries;
    dlc->file = file;
    dlc->params_format = "none";
    TRY(zip_list(arena, diags, file, &entries, &dlc->n_entries));
    dlc->entries = entries;
    TRY(open_streams(&r));
    TRY(dlc_read_metadata(&r));
    dlc->major = r.model.major;
    dlc->minor = r.model.minor;
    dlc->params_version = r.params.major << 16 | r.params.minor;
    if (dlc->major == 4)
        TRY(dlc_read_v4(&r));
    else if (dlc->major == 3)
        TRY(dlc_read_v3(&r));
    else
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = file->path, .hint = "versions 3 and 4 can be read"),
                          "dlc-version", "this is a version %u.%u container, which is not known", dlc->major,
                          dlc->minor);
    *out = dlc;
    return ODLC_OK;
}

odlc_status dlc_read(struct arena *arena, struct diags *diags, const char *path, struct dlc_file **out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    return dlc_read_file(arena, diags, file, out);
}

odlc_status dlc_read_outline(struct arena *arena, struct diags *diags, struct file *file, struct dlc_file **out)
{
    struct dlc_file *dlc = arena_new(arena, struct dlc_file);
    struct dlc_reading r = {.arena = arena, .diags = diags, .file = file, .dlc = dlc};
    struct dlc_entry *entries;
    const uint8_t *bytes;
    uint8_t first[STREAM_HEADER] = {0};
    dlc->file = file;
    dlc->params_format = "none";
    TRY(zip_list(arena, diags, r.file, &entries, &dlc->n_entries));
    dlc->entries = entries;
    const struct dlc_entry *model = zip_find(entries, dlc->n_entries, "model");
    if (!model)
        return dlc_invalid(&r, NULL, "the zip has no entry named model");
    TRY(zip_bytes(arena, diags, r.file, model, &bytes));
    TRY(read_header(&r, model, bytes, first));
    struct reader header = reader_of(first, min_u64(model->size, sizeof first));
    if (read_u16(&header) != STREAM_MAGIC)
        return dlc_invalid(&r, NULL, "entry model does not start with a stream header");
    dlc->major = read_u16(&header);
    dlc->minor = read_u16(&header);
    TRY(dlc_read_metadata(&r));
    *out = dlc;
    return ODLC_OK;
}

/* ---- looking things up ---- */

const char *dlc_metadata(const struct dlc_file *dlc, const char *key)
{
    for (uint32_t i = 0; i < dlc->n_metadata; i++)
        if (strcmp(dlc->metadata[i].key, key) == 0)
            return dlc->metadata[i].value;
    return NULL;
}

const struct dlc_attr *dlc_attr_find(const struct dlc_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->n_attrs; i++)
        if (strcmp(op->attrs[i].name, name) == 0)
            return &op->attrs[i];
    return NULL;
}

const struct dlc_tensor *dlc_tensor_find(const struct dlc_graph *g, const char *name)
{
    uint32_t index = map_get(&g->tensor_index, name);
    return index == MAP_NONE ? NULL : &g->tensors[index];
}
