/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/npy_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { TILE = 4096, HEADER_ALIGNMENT = 64, HEADER_START = 10 };

bool tensor_is_quantized(const struct odlc_tensor *tensor)
{
    return tensor->n_encodings && tensor->element == ODLC_CLASS_FIXED;
}

/* NumPy's name of the stored type. The types' own names end in their bits; those of fewer than 8 take a byte each. */
static const char *descriptor(struct arena *arena, const struct odlc_tensor *tensor)
{
    const char *bits = strrchr(tensor->dtype, '_');
    unsigned long bytes = bits ? (strtoul(bits + 1, NULL, 10) + 7) / 8 : 1;
    char order = bytes == 1 ? '|' : '<', kind = 'u';
    if (tensor->element == ODLC_CLASS_BOOL)
        kind = 'b';
    else if (tensor->element == ODLC_CLASS_FLOAT)
        kind = 'f';
    else if (tensor->element == ODLC_CLASS_INT || (tensor->element == ODLC_CLASS_FIXED && *tensor->dtype == 's'))
        kind = 'i';
    return arena_printf(arena, "%c%c%lu", order, kind, bytes);
}

static odlc_status write_header(struct arena *arena, struct out_file *out, const struct odlc_tensor *tensor,
                                const char *type)
{
    text header = {0};
    text_add(arena, &header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (uint32_t i = 0; i < tensor->rank; i++)
        text_add(arena, &header, "%s%" PRId64 "%s", i ? ", " : "", tensor->dims[i], tensor->rank == 1 ? "," : "");
    text_add(arena, &header, "), }");
    size_t length = strlen(header.data), end = HEADER_START + length + 1;
    size_t padding = (HEADER_ALIGNMENT - end % HEADER_ALIGNMENT) % HEADER_ALIGNMENT;
    text_add(arena, &header, "%*s\n", (int)padding, "");
    length += padding + 1;
    const uint8_t start[HEADER_START] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, length & 0xFF, (length >> 8) & 0xFF};
    TRY(out_write(out, start, sizeof start));
    return out_write(out, header.data, length);
}

static odlc_status write_reals(struct out_file *out, const struct odlc_tensor *tensor)
{
    double values[TILE];
    float narrowed[TILE];
    for (uint64_t first = 0; first < tensor->count; first += TILE) {
        size_t count = tensor->count - first < TILE ? (size_t)(tensor->count - first) : TILE;
        odlc_tensor_reals(tensor, first, count, values);
        for (size_t i = 0; i < count; i++)
            narrowed[i] = (float)values[i];
        TRY(out_write(out, narrowed, count * sizeof *narrowed));
    }
    return ODLC_OK;
}

static odlc_status write_stored(struct out_file *out, const odlc_container *container, const struct odlc_tensor *tensor)
{
    enum { PIECE = 4 << 20 };
    for (uint64_t at = 0; at < tensor->data_size; at += PIECE) {
        uint64_t left = tensor->data_size - at;
        TRY(out_write(out, (const char *)tensor->data + at, left < PIECE ? (size_t)left : PIECE));
        odlc_container_release(container);
    }
    return ODLC_OK;
}

odlc_status npy_write(struct arena *arena, struct diags *diags, const char *path, const odlc_container *container,
                      const struct odlc_tensor *tensor, bool real)
{
    struct out_file *out;
    if (!odlc_tensor_readable(tensor))
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = tensor->name), "dump-no-data",
                          "the container has no data for tensor %s", tensor->name);
    if (tensor->element == ODLC_CLASS_STRING)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = tensor->name), "dump-strings",
                          "tensor %s holds strings, which are not written as .npy", tensor->name);
    TRY(out_create(arena, diags, path, &out));
    TRY(write_header(arena, out, tensor, real ? "<f4" : descriptor(arena, tensor)));
    if (real)
        TRY(write_reals(out, tensor));
    else
        TRY(write_stored(out, container, tensor));
    return out_commit(out);
}
