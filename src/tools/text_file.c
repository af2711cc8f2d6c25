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

odlc_status text_put(struct arena *arena, struct diags *diags, const char *path, const void *bytes, size_t size)
{
    struct out_file *out;
    if (strcmp(path, "-") == 0) {
        if (fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0)
            return ODLC_OK;
        return diag_error(diags, ODLC_ERR_IO, AT(.file = NULL), "io", "the result could not be written");
    }
    TRY(out_create(arena, diags, path, &out));
    TRY(out_write(out, bytes, size));
    return out_commit(out);
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
    const odlc_status status =
        text_file_close(file) ? text_put(arena, diags, path, file->text, file->size) : ODLC_ERR_NOMEM;
    free(file->text);
    return status;
}
