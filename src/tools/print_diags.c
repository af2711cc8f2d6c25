/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/print_diags.h"

#include "tools/terminal.h"

void print_diag(FILE *stream, const char *command, const struct odlc_diag *diag, enum diag_format format)
{
    struct json_out lines = json_out_to(stream, true);
    if (terminal_is_quiet() && diag->severity == ODLC_NOTE && !diag_explains_error(diag))
        return;
    if (format == DIAG_JSON)
        json_diag(&lines, diag);
    else
        diag_print_text(stream, command, diag, diag_style_of(diag->severity, terminal_colours(stream)));
}

bool diag_explains_error(const struct odlc_diag *diag)
{
    return diag->severity == ODLC_NOTE && diag->file && !diag->node;
}

void print_diags(FILE *stream, const char *command, const struct odlc_diag *list, size_t count, enum diag_format format)
{
    for (size_t i = 0; i < count; i++)
        print_diag(stream, command, &list[i], format);
}

odlc_status print_out_of_memory(const char *command, enum diag_format format)
{
    static const struct odlc_diag diag = {.severity = ODLC_ERROR, .code = "no-memory", .message = "memory ran out"};
    print_diag(stderr, command, &diag, format);
    return ODLC_ERR_NOMEM;
}
