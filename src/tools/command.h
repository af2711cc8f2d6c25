/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands do first and last. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include "tools/print_diags.h"

/* First in main. Standard streams that are closed are occupied, for a file that is opened would get their numbers, and
 * what is printed would go into it. Faults of the process are guarded against (base/fault.h). */
void command_begin(void);

/* For a command whose result is a file: when whoever reads its standard output or error goes away, it finishes its work
 * instead of being ended by SIGPIPE. */
void command_outlives_readers(void);

/* Before diagnostics are printed. When an input changed while it was read, prints that and gives false: the other
 * diagnostics may come of it, and would mislead. The arena's recovery point must be set. */
bool command_inputs_intact(struct arena *arena, const char *name, enum diag_format format);

/* Behind the diagnostics: says that memory ran out, or with --verbose what the command took. Gives the status. */
odlc_status command_finish(const char *name, enum diag_format format, odlc_status status);

/* Last in main: what the process returns, which is `status`, or `trouble` when standard output could not be written. */
int command_end(const char *name, int status, int trouble);

#endif
