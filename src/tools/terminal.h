/* SPDX-License-Identifier: Apache-2.0 */
/* What the stream of a report is: how wide its lines may be, whether it shows colours, and whether there is more on it
 * than results. */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stdio.h>

#include "text/text_table.h"

/* Columns of the terminal; 0 when the stream is no terminal, or it does not tell. */
size_t terminal_columns(FILE *stream);
/* Columns: those that the environment's COLUMNS asks for, otherwise those of the terminal; 0 without a limit, as for
 * files and pipes. */
size_t terminal_width(FILE *stream);
/* True on a terminal that has colours, unless the environment's NO_COLOR is set to anything (no-color.org). */
bool terminal_colours(FILE *stream);

/* Both of them. */
struct text_form terminal_form(FILE *stream);

/* The command was told to say results, errors and warnings alone: no notes, summary or progress. */
void terminal_be_quiet(void);
bool terminal_is_quiet(void);
/* The command was told to say what it took. */
void terminal_be_verbose(void);
bool terminal_is_verbose(void);

#endif
