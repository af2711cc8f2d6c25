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
/* Ends the entry, which must have got exactly its size. */
odlc_status zip_end(struct zip_writer *zip) MUST_USE;
odlc_status zip_finish(struct zip_writer *zip) MUST_USE;

#endif
