/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics on a stream, for people or for programs. */
#ifndef TOOLS_PRINT_DIAGS_H
#define TOOLS_PRINT_DIAGS_H

#include <stdio.h>

#include "base/diag.h"
#include "text/diag_text.h"

/* The forms of enum odlc_diag_form; text is coloured on a terminal. */
enum diag_format { DIAG_TEXT, DIAG_JSON };

/* `command` stands where a diagnostic has no file. */
void print_diag(FILE *stream, const char *command, const struct odlc_diag *diag, enum diag_format format);
/* Whether a note is about a place in a file, as the other place of the error before it is, and not about how a node was
 * converted. */
bool diag_explains_error(const struct odlc_diag *diag);
void print_diags(FILE *stream, const char *command, const struct odlc_diag *list, size_t count,
                 enum diag_format format);
/* What a command says when not even a diagnostic can be made; gives ODLC_ERR_NOMEM. */
odlc_status print_out_of_memory(const char *command, enum diag_format format);

#endif
