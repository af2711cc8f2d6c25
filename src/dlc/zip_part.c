/* SPDX-License-Identifier: Apache-2.0 */
/* The CRC of bytes that do not come in order: that of A and B one after the other is the CRC of A, moved on by the
 * length of B, XOR the CRC of B. So each run of bytes adds its CRC, moved on to the end of the entry, and the order in
 * which that happens does not matter. */
#include <isa-l/crc.h>
#include <string.h>
#include <zlib.h>

#include "dlc/zip.h"

enum { WORTH_RESERVING = 1024 * 1024 }; /* bytes */

struct zip_part zip_part_new(struct arena *arena, const struct zip_writer *zip)
{
    return (struct zip_part){.zip = zip, .buffer = arena_alloc(arena, ZIP_PART_BUFFER)};
}

static uint32_t moved_on(uint32_t crc, uint64_t length)
{
    return (uint32_t)crc32_combine(crc, 0, (z_off_t)length);
}

/* A CRC is linear: that of the entry changes by the CRC of what the bytes and the zeros differ in (one of nothing but
 * these bits, which begins with 0 and is not inverted), moved on. */
odlc_status zip_fill(struct zip_writer *zip, uint64_t offset, const void *bytes, size_t size)
{
    const uint64_t at = zip->entries[zip->count].offset + offset;
    const uint32_t change = ~crc32_gzip_refl(UINT32_MAX, bytes, size);
    zip->crc ^= moved_on(change, out_offset(zip->out) - (at + size));
    return out_patch(zip->out, at, bytes, size);
}

static const struct dlc_entry *entry_at_work(const struct zip_writer *zip)
{
    return &zip->entries[zip->count];
}

static void end_run(struct zip_part *part)
{
    if (part->run_crc)
        part->crc ^= moved_on(part->run_crc, entry_at_work(part->zip)->size - part->run_end);
    part->run_crc = 0;
}

/* The bytes are written before their CRC is computed: when they are of a mapped file that became shorter, the write
 * says so, and the CRC would need them. */
static odlc_status write_through(struct zip_part *part, uint64_t offset, const void *bytes, size_t size)
{
    enum { STEP = 64 * 1024 }; /* what was written is still in the cache when its CRC is computed */
    const uint8_t *p = bytes;
    uint64_t entry = entry_at_work(part->zip)->offset;
    if (part->run_end != offset)
        end_run(part);
    part->run_end = offset;
    for (size_t n; size; size -= n, p += n) {
        uint64_t at = entry + part->run_end;
        n = min_u64(STEP - at % STEP, size);
        part->error = out_write_at(part->zip->out, at, p, n);
        if (part->error)
            return ODLC_ERR_IO;
        part->run_crc = crc32_gzip_refl(part->run_crc, p, n);
        part->run_end += n;
        part->written += n;
    }
    return ODLC_OK;
}

odlc_status zip_part_flush(struct zip_part *part)
{
    size_t buffered = part->buffered;
    part->buffered = 0;
    return write_through(part, part->at, part->buffer, buffered);
}

odlc_status zip_part_write(struct zip_part *part, uint64_t offset, const void *bytes, size_t size)
{
    if (part->buffered && (part->at + part->buffered != offset || size > ZIP_PART_BUFFER - part->buffered))
        TRY(zip_part_flush(part));
    if (size >= ZIP_PART_BUFFER / 2 && !part->buffered)
        return write_through(part, offset, bytes, size);
    if (!part->buffered)
        part->at = offset;
    if (size)
        memcpy(part->buffer + part->buffered, bytes, size);
    part->buffered += size;
    return ODLC_OK;
}

odlc_status zip_parts_begin(struct zip_writer *zip)
{
    const struct dlc_entry *entry = entry_at_work(zip);
    if (entry->size >= WORTH_RESERVING)
        out_reserve(zip->out, entry->offset + entry->size);
    return out_flush(zip->out);
}

odlc_status zip_parts_end(struct zip_writer *zip, const struct zip_part *parts, uint32_t count)
{
    const struct dlc_entry *entry = entry_at_work(zip);
    uint32_t crc = moved_on(zip->crc, entry->offset + entry->size - out_offset(zip->out));
    for (uint32_t i = 0; i < count; i++) {
        struct zip_part part = parts[i];
        end_run(&part);
        crc ^= part.crc;
        TRY(out_skip(zip->out, part.written));
    }
    zip->crc = crc;
    return ODLC_OK;
}
