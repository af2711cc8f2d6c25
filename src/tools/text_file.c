/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/text_file.h"

#include <stdlib.h>

bool text_file_open(struct text_file *file)
{
    *file = (struct text_file){0};
    file->stream = open_memstream(&file->text, &file->size);
    return file->stream != NULL;
}

odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_file *file, const char *path)
{
    struct out_file *out;
    odlc_status status = ODLC_ERR_NOMEM;
    const bool whole = ferror(file->stream) == 0;
    if (fclose(file->stream) == 0 && whole)
        status = out_create(arena, diags, path, &out);
    if (status == ODLC_OK)
        status = out_write(out, file->text, file->size);
    if (status == ODLC_OK)
        status = out_commit(out);
    free(file->text);
    return status;
}
