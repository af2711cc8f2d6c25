/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/npy_out.h"

#include "base/file.h"
#include "tools/npy_header.h"

enum { TILE = 4096 };

static odlc_status write_header(struct arena *arena, struct out_file *out, const struct odlc_tensor *tensor,
                                const char *type)
{
    text header = {0};
    npy_add_header(arena, &header, type, tensor->rank, tensor->dims);
    return out_write(out, header.data, header.count);
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
    TRY(write_header(arena, out, tensor, real ? "<f4" : npy_type(arena, tensor->dtype)));
    if (real)
        TRY(write_reals(out, tensor));
    else
        TRY(write_stored(out, container, tensor));
    return out_commit(out);
}
