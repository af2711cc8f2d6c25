/* SPDX-License-Identifier: Apache-2.0 */
/* The zip around a container's streams. Facts: docs/dlc-format.md; PKWARE's APPNOTE for the rest.
 *
 * Reading fails with ODLC_ERR_IO when the file cannot be read or has become shorter, writing when the file cannot be
 * written. */
#ifndef DLC_ZIP_H
#define DLC_ZIP_H

#include "dlc/record.h"

/* ---- reading ---- */

/* Lists the central directory; the names of *entries lie in the arena. Checked is that each entry and its local header
 * lie in the file, and that no name stands twice. ODLC_ERR_INVALID: the zip is damaged, or the file is no zip;
 * ODLC_ERR_LIMIT: too many entries; ODLC_ERR_UNSUPPORTED: an entry is encrypted or packed by an unknown method. */
odlc_status zip_list(struct arena *arena, struct diags *diags, const struct file *file, struct dlc_entry **entries,
                     uint32_t *count) MUST_USE;
/* The entry of that name, or NULL. */
const struct dlc_entry *zip_find(const struct dlc_entry *entries, uint32_t count, const char *name);
/* The bytes of an entry: of a stored one the mapping itself (NULL: the file is not mapped), of a compressed one
 * inflated into the arena. ODLC_ERR_LIMIT: inflated, the entry is too large for a file of this size; ODLC_ERR_INVALID:
 * the entry cannot be inflated, or differs from its CRC (which is not compared with stored ones). */
odlc_status zip_bytes(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      const uint8_t **bytes) MUST_USE;
/* zip_bytes into the arena, of a stored entry, too: nobody else writes there. Fails as zip_bytes does. */
odlc_status zip_copy(struct arena *arena, struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                     const uint8_t **bytes) MUST_USE;
/* How far a look through several entries is, in bytes. */
struct zip_reading {
    const struct progress *progress; /* who wants to know; NULL: nobody */
    uint64_t done, total;
};
/* Compares a stored entry with its CRC, through a buffer instead of the mapping. ODLC_ERR_INVALID: they differ.
 * Compressed entries are compared by zip_bytes. reading: what is told, and advanced; NULL: nobody is told.
 * ODLC_ERR_STOPPED: they asked for it. */
odlc_status zip_check(struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                      struct zip_reading *reading) MUST_USE;
/* The end of it, for who computes the CRC of the bytes on the way. Fails as zip_check does. */
odlc_status zip_compare_crc(struct diags *diags, const struct file *file, const struct dlc_entry *entry,
                            uint32_t crc) MUST_USE;

/* Compares the local header's method, CRC and sizes with the central directory's. ODLC_ERR_INVALID: they differ. */
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

#define ZIP_OPEN UINT64_MAX /* the size that an entry gets */

/* Begins an entry of `size` bytes, whose name must outlive the writer. alignment: of the entry's first byte in the
 * file; a power of two, 1 for none, 256 at most. ZIP_MAX_ENTRIES entries at most. */
odlc_status zip_begin(struct zip_writer *zip, const char *name, uint64_t size, uint32_t alignment) MUST_USE;
/* Appends to the entry at work. */
odlc_status zip_write(struct zip_writer *zip, const void *bytes, size_t size) MUST_USE;
odlc_status zip_zeros(struct zip_writer *zip, uint64_t size) MUST_USE;
/* Puts bytes in the place of zeros that the entry at work has at that offset. */
odlc_status zip_fill(struct zip_writer *zip, uint64_t offset, const void *bytes, size_t size) MUST_USE;
/* Bytes wait for those behind them until a piece of the file is full, which is written at less cost than its parts. */
enum { ZIP_WINDOW = 64 * 1024, ZIP_RUNS = 16 };

/* Bytes that follow each other in the entry. */
struct zip_run {
    uint8_t *window;   /* ZIP_WINDOW bytes */
    size_t waiting;    /* bytes in it, which are not written yet */
    uint64_t end;      /* in the entry, of those that are written */
    uint64_t last_use; /* 0: none */
    uint32_t crc;      /* of those that are written */
};

/* The rest of an entry can come in any order and from several threads: each thread writes through a zip_part of its
 * own, and all parts together write every byte once. A part goes on with several runs by turns, as the tiles of a
 * filter do. */
struct zip_part {
    const struct zip_writer *zip;
    struct zip_run runs[ZIP_RUNS];
    uint64_t uses;
    uint32_t crc;     /* the share of the runs that ended in the entry's CRC */
    uint64_t written; /* bytes */
    int error;        /* errno of the first write that failed, or 0 */
};

struct zip_part zip_part_new(struct arena *arena, const struct zip_writer *zip);
/* Writes to an offset in the entry. All three set part->error when they fail, with ODLC_ERR_IO, and use neither an
 * arena nor diagnostics. */
odlc_status zip_part_write(struct zip_part *part, uint64_t offset, const void *bytes, size_t size) MUST_USE;
/* The same for bytes of a mapped file, which the system alone touches before they are written: EFAULT when the file
 * became shorter. */
odlc_status zip_part_write_mapped(struct zip_part *part, uint64_t offset, const void *bytes, size_t size) MUST_USE;
/* All bytes are written afterwards. */
odlc_status zip_part_flush(struct zip_part *part) MUST_USE;
/* Before the first part is written to: the bytes that zip_write took so far go to the file. */
odlc_status zip_parts_begin(struct zip_writer *zip) MUST_USE;
/* After the last part was flushed: the entry goes on behind the bytes of all parts, and its CRC has theirs. */
odlc_status zip_parts_end(struct zip_writer *zip, const struct zip_part *parts, uint32_t count) MUST_USE;

/* Ends the entry, and patches its CRC, and a size that was open, into the local header. ODLC_ERR_INTERNAL: the entry
 * did not get exactly its size.
 */
odlc_status zip_end(struct zip_writer *zip) MUST_USE;
/* Writes the central directory behind the last entry. */
odlc_status zip_finish(struct zip_writer *zip) MUST_USE;

#endif
