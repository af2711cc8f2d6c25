/* SPDX-License-Identifier: Apache-2.0 */
/* A private copy of a part of a mapped file, made a piece at a time, on demand. A program that writes to the file in
 * place changes a mapping under a reader who has checked the bytes; a copy stays as checked. Pieces that nobody asks
 * for take no memory and are not read. */
#ifndef BASE_FILE_COPY_H
#define BASE_FILE_COPY_H

#include "base/file.h"

struct file_copy {
    const struct file *file;
    uint64_t offset; /* of the part in the file */
    uint64_t size;
    uint64_t room;  /* bytes at its start that can be here: all of them, unless the file has a source */
    uint8_t *bytes; /* of the part; valid where file_copy_need was called */
    uint64_t *have; /* a bit for each piece */
    int error;      /* errno of the first read that failed, as file_read_at gives it; 0 */
};

/* The part must lie in the file. The copy goes with the arena. */
struct file_copy *file_copy_new(struct arena *arena, const struct file *file, uint64_t offset, uint64_t size);
/* Reads the pieces of these bytes, which must lie in the part, unless they are there already. False when they cannot be
 * read (copy->error). For one thread. */
bool file_copy_need(struct file_copy *copy, uint64_t at, uint64_t size);

#endif
