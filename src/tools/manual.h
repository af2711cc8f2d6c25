/* SPDX-License-Identifier: Apache-2.0 */
/* The section OPTIONS of a command's man page, made from its table. docs/NAME.1 has the rest of the page. */
#ifndef TOOLS_MANUAL_H
#define TOOLS_MANUAL_H

#include <stdio.h>

#include "tools/option_rows.h"

/* Prints, below each heading, every option with its spellings, aliases included, its values, its sentence of the help
 * and what there is `more`. In texts, `x` is bold and *x* is italic, and a line break begins a paragraph. */
void manual_print_options(FILE *stream, const struct command *command);

#endif
