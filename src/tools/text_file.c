/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/text_file.h"

#include <stdlib.h>
#include <string.h>

bool text_file_open(struct text_file *file)
{
    *file = (struct text_file){0};
    file->stream = open_memstream(&file->text, &file->size);
    return file->stream != NULL;
}

static odlc_status write_stream(struct diags *diags, const struct text_file *file)
{
    if (fwrite(file->text, 1, file->size, stdout) == file->size && fflush(stdout) == 0)
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_IO, AT(.file = NULL), "io", "standard output cannot be written");
}

/* Whether all that was written is there. The C library may close the stream well and have no bytes to give. */
static bool text_file_close(struct text_file *file)
{
    FILE *stream = file->stream;
    bool failed = ferror(stream) != 0;
    file->stream = NULL;
    return fclose(stream) == 0 && !failed && file->text;
}

static void text_file_free(void *object)
{
    struct text_file *file = object;
    if (file->stream)
        (void)text_file_close(file);
    free(file->text);
}

const char *text_written(struct arena *arena, void (*write)(FILE *stream, const void *user), const void *user,
                         size_t *size)
{
    struct text_file *file = arena_new(arena, struct text_file);
    arena_defer(arena, text_file_free, file);
    if (!text_file_open(file))
        arena_exhausted(arena);
    write(file->stream, user);
    if (!text_file_close(file))
        arena_exhausted(arena);
    *size = file->size;
    return file->text;
}

odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_file *file, const char *path)
{
    struct out_file *out;
    odlc_status status = ODLC_ERR_NOMEM;
    const bool closed = text_file_close(file), streams = closed && strcmp(path, "-") == 0;
    if (streams)
        status = write_stream(diags, file);
    else if (closed)
        status = out_create(arena, diags, path, &out);
    if (status == ODLC_OK && !streams)
        status = out_write(out, file->text, file->size);
    if (status == ODLC_OK && !streams)
        status = out_commit(out);
    free(file->text);
    return status;
}
