/* The zip around a container's streams. Facts: docs/dlc-format.md; PKWARE's APPNOTE for the rest. */
#ifndef DLC_ZIP_H
#define DLC_ZIP_H

#include "dlc/record.h"

/* ---- reading ---- */

/* Lists the central directory; every entry's local header and extent are checked. */
odlc_status zip_list(struct arena *arena, struct diags *diags, const struct file *file, struct dlc_entry **entries,
                     uint32_t *count) MUST_USE;
/* NULL when there is none of that name. */
const struct dlc_entry *zip_find(const struct dlc_entry *entries, uint32_t count, const char *name);
/* The entry's bytes: the mapping itself when it is stored, inflated into the arena otherwise. */
odlc_status zip_bytes(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      const uint8_t **bytes) MUST_USE;
/* The same in memory that nobody else writes to. */
odlc_status zip_copy(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                     const uint8_t **bytes) MUST_USE;
/* Compares a stored entry with its CRC, reading through a buffer instead of the mapping. Compressed ones are checked by
 * zip_bytes. */
odlc_status zip_check(struct diags *diags, const struct file *file, const struct dlc_entry *entry) MUST_USE;

/* Compares the local header's method, CRC and sizes with the central directory's. */
odlc_status zip_check_header(struct diags *diags, const struct file *file, const struct dlc_entry *entry) MUST_USE;

/* ---- writing: stored entries, ZIP64 throughout, a fixed time ---- */

enum { ZIP_MAX_ENTRIES = 3 };

struct zip_writer {
    struct diags *diags;
    const char *path;
    struct out_file *out;
    struct dlc_entry entries[ZIP_MAX_ENTRIES];
    uint64_t headers[ZIP_MAX_ENTRIES]; /* offsets of the local headers */
    uint32_t count;
    uint32_t crc; /* of the entry at work */
};

/* alignment: of the entry's first byte in the file; 1 for none, 256 at most. */
odlc_status zip_begin(struct zip_writer *zip, const char *name, uint64_t size, uint32_t alignment) MUST_USE;
odlc_status zip_write(struct zip_writer *zip, const void *bytes, size_t size) MUST_USE;
odlc_status zip_zeros(struct zip_writer *zip, uint64_t size) MUST_USE;
/* The rest of the entry can come in any order and from several threads: each writes what it makes through a part of its
 * own, and all parts together write every byte once. */
struct zip_part {
    const struct zip_writer *zip;
    uint8_t *buffer;  /* ZIP_PART_BUFFER bytes; small pieces that follow each other are written together */
    uint64_t at;      /* of the buffer in the entry */
    size_t buffered;  /* bytes */
    uint64_t run_end; /* of the bytes that follow each other in the entry and whose CRC is at work */
    uint32_t run_crc;
    uint32_t crc;     /* what the bytes written so far add to the entry's CRC */
    uint64_t written; /* bytes */
    int error;        /* errno of the first write that failed, or 0 */
};

enum { ZIP_PART_BUFFER = 128 * 1024 };

struct zip_part zip_part_new(struct arena *arena, const struct zip_writer *zip);
/* Writes to an offset in the entry; ODLC_ERR_IO and part->error when that fails. Uses no arena and no diagnostics. */
odlc_status zip_part_write(struct zip_part *part, uint64_t offset, const void *bytes, size_t size) MUST_USE;
odlc_status zip_part_flush(struct zip_part *part) MUST_USE;
/* Before the first part is written to: what the entry got so far goes to the file. */
odlc_status zip_parts_begin(struct zip_writer *zip) MUST_USE;
/* Once the parts are flushed. */
odlc_status zip_parts_end(struct zip_writer *zip, const struct zip_part *parts, uint32_t count) MUST_USE;

/* Ends the entry, which must have got exactly its size. */
odlc_status zip_end(struct zip_writer *zip) MUST_USE;
odlc_status zip_finish(struct zip_writer *zip) MUST_USE;

#endif
