/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts of shells, made from a command's option table: spellings, and what each value can be. */
#ifndef TOOLS_COMPLETION_H
#define TOOLS_COMPLETION_H

#include <stdio.h>

#include "tools/option_rows.h"

/* Is there a script for this shell: bash, zsh or fish? Known, too, and told to nobody but the build, is man: what is
 * made then is the section OPTIONS of the man page (manual.h). */
bool completion_known(const char *shell);

/* Prints the script for a shell that is known. */
void completion_print(FILE *stream, const struct command *command, const char *shell);

#endif
