/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of all versions use: shapes, payloads, verified flatbuffers. */
#include "dlc/read.h"

#include <string.h>

#include "dlc/zip.h"
#include "ir/nibbles.h"

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

struct dlc_bytes dlc_part(const struct dlc_bytes *bytes, uint64_t at, uint64_t size)
{
    return (struct dlc_bytes){bytes->data ? bytes->data + at : NULL, size, bytes->file, bytes->offset + at};
}

odlc_status dlc_entry_bytes(const struct dlc_reading *r, const struct dlc_entry *entry, struct dlc_bytes *out)
{
    const uint8_t *bytes;
    TRY(zip_bytes(r->arena, r->diags, r->file, entry, &bytes));
    *out = (struct dlc_bytes){bytes, entry->size, entry->compressed ? NULL : r->file, entry->offset};
    return ODLC_OK;
}

odlc_status dlc_take_in(const struct dlc_reading *r, struct dlc_bytes *bytes)
{
    if (!bytes->file || !bytes->file->source)
        return ODLC_OK;
    uint8_t *copy = arena_alloc(r->arena, bytes->size);
    TRY(file_read(bytes->file, r->diags, bytes->offset, copy, bytes->size));
    *bytes = (struct dlc_bytes){copy, bytes->size, NULL, 0};
    return ODLC_OK;
}

static odlc_status attach_strings(const struct dlc_reading *r, struct dlc_tensor *tensor, struct dlc_bytes from)
{
    TRY(dlc_take_in(r, &from));
    uint64_t count = shape_count(tensor->shape), found = 0, size = from.size;
    const uint8_t *bytes = from.data;
    if (from.file) /* whoever has the pointers relies on the NULs */
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

static struct view stored_view(const struct dlc_bytes *bytes, const struct dlc_tensor *tensor)
{
    struct view view = view_of(bytes->data, (enum dtype)tensor->dtype, tensor->shape);
    view.file = bytes->file;
    view.offset = bytes->offset;
    return view;
}

/* Elements of four bits that are packed: where each row of an encoding per channel starts anew, or without gaps. */
static bool unpack(const struct dlc_reading *r, const struct dlc_tensor *tensor, const struct dlc_bytes *bytes,
                   struct view *out)
{
    const uint64_t size = bytes->size;
    const bool is_signed = tensor->dtype == DT_SFXP4, per_axis = tensor->quant && tensor->quant->per_axis;
    if (!is_signed && tensor->dtype != DT_UFXP4)
        return false;
    const bool by_row = size == nibbles_size(tensor->shape, per_axis) ? per_axis : !per_axis;
    if (size != nibbles_size(tensor->shape, by_row))
        return false;
    if (!bytes->data) {
        *out = stored_view(bytes, tensor);
        out->packing = by_row ? PACKED_NIBBLES_BY_ROW : PACKED_NIBBLES;
        return true;
    }
    uint8_t *elements = arena_alloc(r->arena, shape_count(tensor->shape));
    nibbles_unpack(elements, bytes->data, tensor->shape, by_row, is_signed);
    *out = view_of(elements, (enum dtype)tensor->dtype, tensor->shape);
    return true;
}

odlc_status dlc_attach(const struct dlc_reading *r, struct dlc_tensor *tensor, const struct dlc_bytes *bytes)
{
    const uint64_t size = bytes->size;
    if (tensor->view)
        return dlc_invalid(r, NULL, "tensor %s has data twice", tensor->name);
    if (tensor->dtype == DT_STRING)
        return attach_strings(r, tensor, *bytes);
    if (tensor->dtype == DT_NONE)
        return ODLC_OK; /* an unknown type: its bytes have no meaning here */
    struct view *view = arena_new(r->arena, struct view);
    tensor->view = view;
    if (unpack(r, tensor, bytes, view))
        return ODLC_OK;
    if (!data_fit(r, tensor, size))
        return dlc_invalid(r, NULL, "tensor %s has %llu bytes of data, %s%s takes %llu", tensor->name,
                           (unsigned long long)size, dtype_info(tensor->dtype)->name,
                           shape_text(r->arena, tensor->shape),
                           (unsigned long long)(shape_count(tensor->shape) * dtype_size(tensor->dtype)));
    *view = stored_view(bytes, tensor);
    return ODLC_OK;
}

/* ---- flatbuffers ---- */

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

struct dlc_bytes dlc_payload(const struct dlc_reading *r, struct fb_vector v, uint64_t size)
{
    return dlc_part(&r->params.whole, (uint64_t)(fb_bytes(v) - r->params.buffer.data), size);
}

odlc_status dlc_read_identifier(const struct dlc_reading *r, struct dlc_stream *stream)
{
    if (stream->copy && !file_copy_need(stream->copy, stream->start, 8))
        return file_read_error(r->file, r->diags, stream->copy->error);
    memcpy(stream->identifier, stream->buffer.data + 4, 4);
    return ODLC_OK;
}
