/* Opening a container: zip, stream headers, metadata; then the version's own reader. */
#include "dlc/read.h"

#include <string.h>

#include "base/reader.h"
#include "dlc/zip.h"

odlc_status dlc_invalid(const struct dlc_reading *r, const char *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(r->arena, format, args);
    va_end(args);
    return diag_error(r->diags, ODLC_ERR_INVALID, AT(.file = r->file->path, .node = node), "dlc-invalid", "%s",
                      message);
}

const char *dlc_text(const char *string)
{
    return string ? string : "";
}

const char **dlc_read_strings(struct arena *arena, struct fb_vector v)
{
    const char **strings = arena_array(arena, const char *, v.count);
    for (uint32_t i = 0; i < v.count; i++)
        strings[i] = fb_string_at(v, i);
    return strings;
}

const struct shape *dlc_keep_shape(const struct dlc_reading *r, const struct shape *shape)
{
    uint64_t hash = shape->rank;
    for (uint32_t i = 0; i < shape->rank; i++)
        hash = (hash ^ (uint64_t)shape->dims[i]) * 0x9E3779B97F4A7C15u;
    const struct shape **slot = &r->shapes->recent[hash >> 56];
    if (!*slot || !shape_equal(*slot, shape))
        *slot = arena_memdup(r->arena, shape, sizeof *shape);
    return *slot;
}

odlc_status dlc_read_shape(const struct dlc_reading *r, const char *name, struct fb_vector dims,
                           const struct shape **out)
{
    struct shape shape = {.rank = dims.count};
    if (dims.count > MAX_RANK)
        return diag_error(r->diags, ODLC_ERR_LIMIT, AT(.file = r->file->path, .attribute = name), "dlc-rank",
                          "tensor %s has %u dimensions, more than %d", name, dims.count, MAX_RANK);
    for (uint32_t i = 0; i < dims.count; i++)
        shape.dims[i] = fb_word_at(dims, i);
    if (shape_too_large(&shape))
        return dlc_invalid(r, NULL, "tensor %s has impossible dimensions", name);
    *out = dlc_keep_shape(r, &shape);
    return ODLC_OK;
}

/* ---- payloads ---- */

uint64_t dlc_strings_size(const struct view *view)
{
    uint64_t count = shape_count(&view->shape), size = 0;
    for (uint64_t i = 0; i < count; i++)
        size += strlen(view->strings[view->splat ? 0 : i]) + 1;
    return size;
}

static odlc_status attach_strings(const struct dlc_reading *r, struct dlc_tensor *tensor, const uint8_t *bytes,
                                  uint64_t size)
{
    uint64_t count = shape_count(tensor->shape), found = 0;
    if (r->payload.file) /* whoever has the pointers relies on the NULs */
        bytes = arena_memdup(r->arena, bytes, size);
    if (count > size) /* each has its NUL */
        return dlc_invalid(r, NULL, "string tensor %s has fewer strings than elements", tensor->name);
    const char **strings = arena_array(r->arena, const char *, count);
    for (uint64_t at = 0; at < size; found++) {
        const uint8_t *end = memchr(bytes + at, 0, size - at);
        if (!end || found == count)
            return dlc_invalid(r, NULL, "string tensor %s does not hold one NUL-terminated string per element",
                               tensor->name);
        strings[found] = (const char *)bytes + at;
        at = (uint64_t)(end - bytes) + 1;
    }
    if (found != count)
        return dlc_invalid(r, NULL, "string tensor %s has fewer strings than elements", tensor->name);
    struct view *view = arena_new(r->arena, struct view);
    *view = view_of(NULL, DT_STRING, tensor->shape);
    view->strings = strings;
    tensor->view = view;
    return ODLC_OK;
}

/* Whether the data of a constant are those of its type. In files of 4.1 a quantizer left constants of Float_16 with the
 * room of the Float_32 that they were before: the halves stand at its start, and what follows them is not used. */
static bool data_fit(const struct dlc_reading *r, const struct dlc_tensor *tensor, uint64_t size)
{
    uint64_t wanted = shape_count(tensor->shape) * dtype_size((enum dtype)tensor->dtype);
    if (size == wanted)
        return true;
    if (tensor->dtype != DT_FLOAT16 || size % 2 || size / 2 != wanted)
        return false;
    diag_warn(
        r->diags,
        AT(.file = r->file->path, .attribute = tensor->name, .hint = "dlc-info --tensor shows whether they make sense"),
        "dlc-data-size",
        "tensor %s has %llu bytes of data where Float_16 %s takes %llu: those at the start are its elements, the "
        "rest is not used",
        tensor->name, (unsigned long long)size, shape_text(r->arena, tensor->shape), (unsigned long long)wanted);
    return true;
}

odlc_status dlc_attach(const struct dlc_reading *r, struct dlc_tensor *tensor, const uint8_t *bytes, uint64_t size)
{
    if (tensor->view)
        return dlc_invalid(r, NULL, "tensor %s has data twice", tensor->name);
    if (tensor->dtype == DT_STRING)
        return attach_strings(r, tensor, bytes, size);
    if (tensor->dtype == DT_NONE)
        return ODLC_OK; /* an unknown type: its bytes have no meaning here */
    if (!data_fit(r, tensor, size))
        return dlc_invalid(r, NULL, "tensor %s has %llu bytes of data, %s%s takes %llu", tensor->name,
                           (unsigned long long)size, dtype_info(tensor->dtype)->name,
                           shape_text(r->arena, tensor->shape),
                           (unsigned long long)(shape_count(tensor->shape) * dtype_size(tensor->dtype)));
    struct view *view = arena_new(r->arena, struct view);
    *view = view_of(bytes, (enum dtype)tensor->dtype, tensor->shape);
    view->file = r->payload.file;
    tensor->view = view;
    return ODLC_OK;
}

/* ---- streams ---- */

odlc_status dlc_verify_buffer(struct dlc_reading *r, const struct dlc_stream *stream, const struct fb_type *root)
{
    struct fb_fault fault;
    struct file_copy *copy = stream->copy;
    const struct fb_buffer *buffer = &stream->buffer;
    if (copy ? fb_verify_copy(copy, stream->start, buffer->size, root, &fault)
             : fb_verify(buffer->data, buffer->size, root, &fault))
        return ODLC_OK;
    if (copy && copy->error)
        return file_read_error(r->file, r->diags, copy->error);
    return diag_error(r->diags, ODLC_ERR_INVALID,
                      AT(.file = r->file->path, .offset = stream->offset + fault.offset, .has_offset = 1),
                      "dlc-flatbuffer", "entry %s is damaged: %s", stream->name, fault.what);
}

const uint8_t *dlc_payload(const struct dlc_reading *r, struct fb_vector v)
{
    return r->params.mapped + (fb_bytes(v) - r->params.buffer.data);
}

odlc_status dlc_read_identifier(const struct dlc_reading *r, struct dlc_stream *stream)
{
    if (stream->copy && !file_copy_need(stream->copy, stream->start, 8))
        return file_read_error(r->file, r->diags, stream->copy->error);
    memcpy(stream->identifier, stream->buffer.data + 4, 4);
    return ODLC_OK;
}

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
    const uint8_t *bytes;
    uint8_t first[STREAM_HEADER] = {0};
    TRY(zip_bytes(r->arena, r->diags, r->file, entry, &bytes));
    TRY(read_header(r, entry, bytes, first));
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
    *stream = (struct dlc_stream){.name = entry->name,
                                  .buffer = {.data = bytes + STREAM_HEADER, .size = entry->size - STREAM_HEADER},
                                  .mapped = bytes + STREAM_HEADER,
                                  .offset = entry->offset + STREAM_HEADER,
                                  .major = major,
                                  .minor = minor};
    if (!entry->compressed && r->file->fd >= 0) {
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
    r->payload = (struct dlc_bytes){r->params.mapped, r->params.buffer.size, params->compressed ? NULL : r->file};
    return ODLC_OK;
}

odlc_status dlc_read_mapped(struct arena *arena, struct diags *diags, struct file *file, struct dlc_file **out)
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
    return dlc_read_mapped(arena, diags, file, out);
}

odlc_status dlc_read_outline(struct arena *arena, struct diags *diags, const char *path, struct dlc_file **out)
{
    struct dlc_file *dlc = arena_new(arena, struct dlc_file);
    struct dlc_reading r = {.arena = arena, .diags = diags, .dlc = dlc};
    struct dlc_entry *entries;
    const uint8_t *bytes;
    uint8_t first[STREAM_HEADER] = {0};
    TRY(file_map(arena, diags, path, &r.file));
    dlc->file = r.file;
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
