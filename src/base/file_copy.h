/* A private copy of a part of a mapped file, made a piece at a time of what is asked for. Whoever writes to the file in
 * place changes a mapping under its reader, who has checked it before; the copy stays as it was checked. What is not
 * asked for takes no memory and is not read. */
#ifndef BASE_FILE_COPY_H
#define BASE_FILE_COPY_H

#include "base/file.h"

struct file_copy {
    const struct file *file;
    uint64_t offset; /* of the part in the file */
    uint64_t size;
    uint8_t *bytes; /* where each of them is once it was asked for */
    uint64_t *have; /* a bit for each piece */
    int error;      /* errno of the first read that failed, as file_read_at gives it; 0 */
};

/* The part must lie in the file. The copy goes with the arena. */
struct file_copy *file_copy_new(struct arena *arena, const struct file *file, uint64_t offset, uint64_t size);
/* Sees to it that these bytes, which must lie in the part, are there. False when they cannot be read. For one thread.
 */
bool file_copy_need(struct file_copy *copy, uint64_t at, uint64_t size);

#endif
