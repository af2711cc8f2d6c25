/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are too many for memory: they are put into files without names, where they are mapped, and go with the
 * arena. */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include "base/file.h"

struct spill;

/* A spill whose files will be in the folder of the file `beside`, an output of the work. */
struct spill *spill_beside(struct arena *arena, struct diags *diags, const char *beside);

/* Room for some bytes, [at, at + size) of the file. */
struct spill_room {
    const struct out_file *out;
    const struct file *file; /* sees what is written; only what was written may be read */
    uint64_t at;
};

/* ODLC_ERR_IO, with a diagnostic, like spill_write: there is no room. */
odlc_status spill_take(struct spill *spill, uint64_t size, struct spill_room *out) MUST_USE;
/* Writes bytes to their place in the room. */
odlc_status spill_write(const struct spill_room *room, uint64_t offset, const void *bytes, size_t size) MUST_USE;

#endif
