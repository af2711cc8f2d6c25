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
    struct zip_part part = {.zip = zip};
    uint8_t *windows = arena_alloc(arena, (uint64_t)ZIP_RUNS * ZIP_WINDOW);
    for (size_t i = 0; i < ZIP_RUNS; i++)
        part.runs[i].window = windows + i * ZIP_WINDOW;
    return part;
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

/* Bytes at the run's end go to the file. They are written before their CRC is computed: when they are of a mapped file
 * that became shorter, the write says so, and the CRC would need them. */
static odlc_status write_at_end(struct zip_part *part, struct zip_run *run, const void *bytes, size_t size)
{
    part->error = out_write_at(part->zip->out, entry_at_work(part->zip)->offset + run->end, bytes, size);
    if (part->error)
        return ODLC_ERR_IO;
    run->crc = crc32_gzip_refl(run->crc, bytes, size);
    run->end += size;
    part->written += size;
    return ODLC_OK;
}

static odlc_status write_window(struct zip_part *part, struct zip_run *run)
{
    size_t waiting = run->waiting;
    run->waiting = 0;
    return waiting ? write_at_end(part, run, run->window, waiting) : ODLC_OK;
}

static odlc_status end_run(struct zip_part *part, struct zip_run *run)
{
    TRY(write_window(part, run));
    if (run->crc)
        part->crc ^= moved_on(run->crc, entry_at_work(part->zip)->size - run->end);
    run->crc = 0;
    return ODLC_OK;
}

/* The run that goes on at the offset: in place of the one that was not written to for the longest time, unless one ends
 * there. */
static odlc_status run_for(struct zip_part *part, uint64_t offset, struct zip_run **run)
{
    struct zip_run *oldest = part->runs;
    for (size_t i = 0; i < ZIP_RUNS; i++) {
        *run = &part->runs[i];
        if ((*run)->last_use && (*run)->end + (*run)->waiting == offset)
            return ODLC_OK;
        if ((*run)->last_use < oldest->last_use)
            oldest = *run;
    }
    TRY(end_run(part, oldest));
    oldest->end = offset;
    *run = oldest;
    return ODLC_OK;
}

/* Bytes up to the window's end, at most. */
static size_t room_in_window(const struct zip_part *part, const struct zip_run *run, size_t size)
{
    uint64_t at = entry_at_work(part->zip)->offset + run->end + run->waiting;
    return min_u64(ZIP_WINDOW - at % ZIP_WINDOW, size);
}

odlc_status zip_part_write(struct zip_part *part, uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    struct zip_run *run;
    TRY(run_for(part, offset, &run));
    run->last_use = ++part->uses;
    for (size_t n; size; size -= n, p += n) {
        n = room_in_window(part, run, size);
        if (n == ZIP_WINDOW) {
            TRY(write_at_end(part, run, p, n));
            continue;
        }
        memcpy(run->window + run->waiting, p, n);
        run->waiting += n;
        if (room_in_window(part, run, ZIP_WINDOW) == ZIP_WINDOW)
            TRY(write_window(part, run));
    }
    return ODLC_OK;
}

odlc_status zip_part_write_mapped(struct zip_part *part, uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    struct zip_run *run;
    TRY(run_for(part, offset, &run));
    run->last_use = ++part->uses;
    TRY(write_window(part, run));
    for (size_t n; size; size -= n, p += n) {
        n = room_in_window(part, run, size);
        TRY(write_at_end(part, run, p, n));
    }
    return ODLC_OK;
}

odlc_status zip_part_flush(struct zip_part *part)
{
    for (size_t i = 0; i < ZIP_RUNS; i++)
        TRY(end_run(part, &part->runs[i]));
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
        crc ^= parts[i].crc;
        TRY(out_skip(zip->out, parts[i].written));
    }
    zip->crc = crc;
    return ODLC_OK;
}
