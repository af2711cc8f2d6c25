/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows in memory, and then is written as a whole. */
#ifndef TOOLS_TEXT_FILE_H
#define TOOLS_TEXT_FILE_H

#include <stdio.h>

#include "base/file.h"

struct text_file {
    FILE *stream; /* to be written to */
    char *text;
    size_t size;
};

/* Writes a file that appears when it is complete, or standard output for "-". As out_create; ODLC_ERR_IO. */
odlc_status text_put(struct arena *arena, struct diags *diags, const char *path, const void *bytes,
                     size_t size) MUST_USE;

/* False: there is no memory. */
bool text_file_open(struct text_file *file);
/* Writes the file, or standard output for "-", and gives the text's memory back in any case. ODLC_ERR_NOMEM: the text
 * did not fit; and as out_create. */
odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_file *file,
                            const char *path) MUST_USE;

/* What a function writes into a stream; freed with the arena, which is exhausted when there is no memory. */
const char *text_written(struct arena *arena, void (*write)(FILE *stream, const void *user), const void *user,
                         size_t *size);

#endif
