/* SPDX-License-Identifier: Apache-2.0 */
/* A command that converts a model: all of it but what is peculiar to a framework. Its table of options has the rows of
 * tools/convert_rows.def that are for CONVERTERS. */
#ifndef TOOLS_CONVERT_COMMAND_H
#define TOOLS_CONVERT_COMMAND_H

#include "opendlc/convert.h"
#include "tools/options.h"

struct convert_command {
    struct command command;
    /* Conversion by the command's own front end alone: the other one would double the program and its start. */
    odlc_status (*convert)(const struct odlc_convert_options *options, struct odlc_conversion **out);
    /* Prints what the command's own options ask for; NULL: it has none. */
    void (*report)(const struct options *options, const struct odlc_conversion *conversion);
};

/* All of main. */
int convert_main(const struct convert_command *self, int argc, char **argv);

#endif
