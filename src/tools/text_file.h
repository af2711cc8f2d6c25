/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows in memory, and then is written as a whole. */
#ifndef TOOLS_TEXT_FILE_H
#define TOOLS_TEXT_FILE_H

#include "base/file.h"
#include "text/text_stream.h"

/* Writes a file that appears when it is complete, or standard output for "-". As out_create; ODLC_ERR_IO. */
odlc_status text_put(struct arena *arena, struct diags *diags, const char *path, const void *bytes,
                     size_t size) MUST_USE;

/* Writes what was written into the stream to a file, or to standard output for "-", and gives the text's memory back in
 * any case. ODLC_ERR_NOMEM: the text did not fit; and as out_create. */
odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_stream *text,
                            const char *path) MUST_USE;

#endif
