/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/zip.h"

#include <isa-l/crc.h>
#include <string.h>

#include "base/reader.h"

enum {
    VERSION = 45,      /* ZIP64 */
    DATE = 1 << 5 | 1, /* 1 January 1980, 0:00: the same input must give the same bytes */
    EXTRA_ZIP64 = 1,
    EXTRA_ALIGN = 0xD935, /* in use elsewhere for padding: u16 alignment, then zeros */
    LOCAL_SIZE = 30,
    MAX_RECORD = 512 /* of the records built here: fixed parts, a name of this program's own and short extras */
};

/* A small record under construction. */
struct record {
    uint8_t bytes[MAX_RECORD];
    size_t size;
};

static void put(struct record *r, unsigned bytes, uint64_t value)
{
    store_le(r->bytes + r->size, bytes, value);
    r->size += bytes;
}

static void put_name(struct record *r, const char *name)
{
    memcpy(r->bytes + r->size, name, strlen(name));
    r->size += strlen(name);
}

/* The bytes of the padding field that bring the data to a multiple of alignment; a field has at least 6. */
static uint32_t padding(uint64_t data_at, uint32_t alignment)
{
    uint64_t short_by = align_up(data_at, alignment) - data_at;
    while (short_by != 0 && short_by < 6)
        short_by += alignment;
    return (uint32_t)short_by;
}

odlc_status zip_begin(struct zip_writer *zip, const char *name, uint64_t size, uint32_t alignment)
{
    struct record r = {.size = 0};
    uint64_t at = out_offset(zip->out);
    uint32_t pad = padding(at + LOCAL_SIZE + strlen(name) + 20, alignment);
    put(&r, 4, 0x04034B50);
    put(&r, 2, VERSION);
    put(&r, 2, 0); /* flags */
    put(&r, 2, 0); /* method: stored */
    put(&r, 2, 0); /* time */
    put(&r, 2, DATE);
    put(&r, 4, 0); /* CRC, patched by zip_end */
    put(&r, 4, UINT32_MAX);
    put(&r, 4, UINT32_MAX);
    put(&r, 2, strlen(name));
    put(&r, 2, 20 + pad);
    put_name(&r, name);
    put(&r, 2, EXTRA_ZIP64);
    put(&r, 2, 16);
    put(&r, 8, size);
    put(&r, 8, size);
    if (pad) {
        put(&r, 2, EXTRA_ALIGN);
        put(&r, 2, pad - 4);
        put(&r, 2, alignment);
        r.size += pad - 6; /* the record was zeroed */
    }
    zip->headers[zip->count] = at;
    zip->entries[zip->count] = (struct dlc_entry){.name = name, .offset = at + r.size, .size = size, .packed = size};
    zip->crc = 0;
    return out_write(zip->out, r.bytes, r.size);
}

odlc_status zip_write(struct zip_writer *zip, const void *bytes, size_t size)
{
    zip->crc = crc32_gzip_refl(zip->crc, bytes, size);
    return out_write(zip->out, bytes, size);
}

odlc_status zip_zeros(struct zip_writer *zip, uint64_t size)
{
    static const uint8_t zeros[64];
    for (uint64_t n; size; size -= n) {
        n = min_u64(size, sizeof zeros);
        TRY(zip_write(zip, zeros, n));
    }
    return ODLC_OK;
}

/* In the ZIP64 field, behind its number and length. */
static odlc_status set_size(struct zip_writer *zip, struct dlc_entry *entry)
{
    uint8_t sizes[16];
    entry->size = entry->packed = out_offset(zip->out) - entry->offset;
    store_le(sizes, 8, entry->size);
    store_le(sizes + 8, 8, entry->size);
    return out_patch(zip->out, zip->headers[zip->count] + LOCAL_SIZE + strlen(entry->name) + 4, sizes, sizeof sizes);
}

odlc_status zip_end(struct zip_writer *zip)
{
    struct dlc_entry *entry = &zip->entries[zip->count];
    if (entry->size == ZIP_OPEN)
        TRY(set_size(zip, entry));
    if (out_offset(zip->out) != entry->offset + entry->size)
        return diag_error(zip->diags, ODLC_ERR_INTERNAL, AT(.file = zip->path), "dlc-zip",
                          "entry %s did not get the size that was laid out for it", entry->name);
    entry->crc = zip->crc;
    uint8_t crc[4];
    store_le(crc, 4, entry->crc);
    return out_patch(zip->out, zip->headers[zip->count++] + 14, crc, sizeof crc);
}

static odlc_status write_central(struct zip_writer *zip, uint32_t i)
{
    struct record r = {.size = 0};
    const struct dlc_entry *entry = &zip->entries[i];
    put(&r, 4, 0x02014B50);
    put(&r, 2, VERSION); /* made by: MS-DOS attributes, as in the vendor's files */
    put(&r, 2, VERSION);
    put(&r, 2, 0);
    put(&r, 2, 0);
    put(&r, 2, 0);
    put(&r, 2, DATE);
    put(&r, 4, entry->crc);
    put(&r, 4, UINT32_MAX);
    put(&r, 4, UINT32_MAX);
    put(&r, 2, strlen(entry->name));
    put(&r, 2, 28);
    put(&r, 2, 0); /* comment */
    put(&r, 2, 0); /* disk */
    put(&r, 2, 0); /* internal attributes */
    put(&r, 4, 0); /* external attributes */
    put(&r, 4, UINT32_MAX);
    put_name(&r, entry->name);
    put(&r, 2, EXTRA_ZIP64);
    put(&r, 2, 24);
    put(&r, 8, entry->size);
    put(&r, 8, entry->size);
    put(&r, 8, zip->headers[i]);
    return out_write(zip->out, r.bytes, r.size);
}

odlc_status zip_finish(struct zip_writer *zip)
{
    struct record r = {.size = 0};
    uint64_t directory = out_offset(zip->out);
    for (uint32_t i = 0; i < zip->count; i++)
        TRY(write_central(zip, i));
    uint64_t end = out_offset(zip->out), size = end - directory;
    put(&r, 4, 0x06064B50);
    put(&r, 8, 44); /* bytes of this record after this field */
    put(&r, 2, VERSION);
    put(&r, 2, VERSION);
    put(&r, 4, 0);
    put(&r, 4, 0);
    put(&r, 8, zip->count);
    put(&r, 8, zip->count);
    put(&r, 8, size);
    put(&r, 8, directory);
    put(&r, 4, 0x07064B50); /* its locator */
    put(&r, 4, 0);
    put(&r, 8, end);
    put(&r, 4, 1);
    put(&r, 4, 0x06054B50); /* the classical end record */
    put(&r, 2, 0);
    put(&r, 2, 0);
    put(&r, 2, zip->count);
    put(&r, 2, zip->count);
    put(&r, 4, size);
    put(&r, 4, UINT32_MAX);
    put(&r, 2, 0);
    return out_write(zip->out, r.bytes, r.size);
}
