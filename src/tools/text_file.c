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

odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_file *file, const char *path)
{
    struct out_file *out;
    odlc_status status = ODLC_ERR_NOMEM;
    const bool whole = ferror(file->stream) == 0;
    const bool closed = fclose(file->stream) == 0 && whole, streams = closed && strcmp(path, "-") == 0;
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
