/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/text_file.h"

#include <stdlib.h>
#include <string.h>

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

odlc_status text_file_write(struct arena *arena, struct diags *diags, struct text_stream *text, const char *path)
{
    const odlc_status status =
        text_stream_close(text) ? text_put(arena, diags, path, text->text, text->size) : ODLC_ERR_NOMEM;
    free(text->text);
    return status;
}
