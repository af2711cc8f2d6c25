/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that writes into memory. */
#ifndef TEXT_TEXT_STREAM_H
#define TEXT_TEXT_STREAM_H

#include <stdio.h>

#include "base/arena.h"

struct text_stream {
    FILE *stream; /* to be written to */
    char *text;   /* once it is closed: what was written, with a NUL behind it, for free */
    size_t size;  /* without the NUL */
};

/* False: there is no memory. */
bool text_stream_open(struct text_stream *text);
/* Whether all that was written is there. The text is to be freed in any case. */
bool text_stream_close(struct text_stream *text) MUST_USE;

/* What a function writes into a stream; freed with the arena, which is exhausted when there is no memory. */
const char *text_written(struct arena *arena, void (*write)(FILE *stream, const void *user), const void *user,
                         size_t *size);

#endif
