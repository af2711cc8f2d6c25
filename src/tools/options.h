/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, parsed along a table of options (option_rows.h).
 *
 * Understood spellings: --name v, --name=v, any unique prefix of a long name or alias, and for the short forms (which
 * may have several letters, as in -udo) -s v and -s=v. An argument counts as an option when it starts with '-' and is
 * neither "-" alone nor a negative number; a value that looks like an option is given with '='. What no option
 * takes is an operand: the value of the rows that say so, in their order, or what the command does with operands, or an
 * error. A list of values ends only at the next option; behind "--" are operands alone. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdio.h>

#include "base/diag.h"
#include "tools/option_rows.h"

/* One use of an option. */
struct option_use {
    const struct option *option;
    const char *const *values; /* borrowed from argv */
    size_t n_values;
};

struct options {
    const struct command *command;
    VEC(struct option_use) uses; /* in the order of the command line; ignored options are not listed */
    VEC(const char *) operands;
};

/* Parses argv[1 …]. Everything that is wrong is reported at once; ODLC_ERR_USAGE then. argv must outlive the result. */
odlc_status options_parse(struct arena *arena, struct diags *diags, const struct command *command, int argc,
                          char *const *argv, struct options *out) MUST_USE;

/* Whether an argument names the option, in whatever command line: for what to do when the line cannot be parsed. */
bool options_mention(struct arena *arena, const struct command *command, int argc, char *const *argv, int id) MUST_USE;

bool options_given(const struct options *options, int id);
/* The first value of the last use; absent when the option was not given or has no value. */
const char *options_value(const struct options *options, int id, const char *absent);
/* The values of all uses of an id, in the order given. */
void options_values(struct arena *arena, const struct options *options, int id, const char *const **out, size_t *count);
/* The same of values that are lists, separated by commas. */
void options_names(struct arena *arena, const struct options *options, int id, const char *const **out, size_t *count);
/* What a container records of a command: the tool and its options in the order of the table, but for those that say
 * nothing about the container: only where it goes, how fast, and with what words. */
const char *options_text(struct arena *arena, const struct options *options);
/* The same options without the tool and without one of them: " a=b c=d". */
const char *options_text_but(struct arena *arena, const struct options *options, int id);
/* The value as an integer in [low, high]; *out stays when the option was not given, or given without a value. */
odlc_status options_int(const struct options *options, struct diags *diags, int id, int64_t low, int64_t high,
                        int64_t *out) MUST_USE;

/* Handles --help, --version and --completion, which print to stdout. False: go on with the command. */
bool options_answered(const struct options *options);
void options_print_help(FILE *stream, const struct command *command);
/* What the process returns: 0 only for success, 2 for wrong usage, 1 for everything else. */
int exit_status(odlc_status status);

#endif
