/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "text/diag_text.h"

size_t odlc_diag_format(const struct odlc_diag *diag, enum odlc_diag_form form, const char *nowhere, char *out,
                        size_t size)
{
    char *whole = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&whole, &length);
    if (!stream)
        return 0;
    struct json_out line = json_out_to(stream, true);
    if (form == ODLC_DIAG_JSON)
        json_diag(&line, diag);
    else
        diag_print_text(stream, nowhere ? nowhere : "opendlc", diag, diag_style_of(diag->severity, false));
    const bool is_whole = !ferror(stream);
    if (fclose(stream) != 0 || !is_whole)
        length = 0;
    if (size > 0 && whole) {
        const size_t kept = length < size ? length : size - 1;
        memcpy(out, whole, kept);
        out[kept] = '\0';
    }
    free(whole);
    return length;
}
