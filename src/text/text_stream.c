/* SPDX-License-Identifier: Apache-2.0 */
#include "text/text_stream.h"

#include <stdlib.h>

bool text_stream_open(struct text_stream *text)
{
    *text = (struct text_stream){0};
    text->stream = open_memstream(&text->text, &text->size);
    return text->stream != NULL;
}

/* The C library may close the stream well and have no bytes to give. */
bool text_stream_close(struct text_stream *text)
{
    FILE *stream = text->stream;
    const bool failed = ferror(stream) != 0;
    text->stream = NULL;
    return fclose(stream) == 0 && !failed && text->text;
}

static void text_stream_free(void *object)
{
    struct text_stream *text = object;
    if (text->stream)
        (void)!text_stream_close(text);
    free(text->text);
}

const char *text_written(struct arena *arena, void (*write)(FILE *stream, const void *user), const void *user,
                         size_t *size)
{
    struct text_stream *text = arena_new(arena, struct text_stream);
    arena_defer(arena, text_stream_free, text);
    if (!text_stream_open(text))
        arena_exhausted(arena);
    write(text->stream, user);
    if (!text_stream_close(text))
        arena_exhausted(arena);
    *size = text->size;
    return text->text;
}
