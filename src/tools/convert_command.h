/* A command that converts a model: all of it but what is peculiar to a framework. Its table of options begins with the
 * row CONVERT_OPT_INPUT, and includes tools/convert_options.def. */
#ifndef TOOLS_CONVERT_COMMAND_H
#define TOOLS_CONVERT_COMMAND_H

#include "opendlc/convert.h"
#include "tools/options.h"

enum {
    CONVERT_OPT_INPUT = 2000, /* a command's own ids are below */
    CONVERT_OPT_OUTPUT,
    CONVERT_OPT_UDO,
    CONVERT_OPT_OP_PACKAGE,
    CONVERT_OPT_DRY_RUN,
    CONVERT_OPT_MODEL_VERSION,
    CONVERT_OPT_COPYRIGHT,
    CONVERT_OPT_FORMAT,
    CONVERT_OPT_THREADS,
    CONVERT_OPT_DEPFILE,
    CONVERT_OPT_JSON,
    CONVERT_OPT_DUMP,
    CONVERT_OPT_QUIET,
    CONVERT_OPT_DEBUG,
    CONVERT_OPT_IGNORED /* from here: accepted without effect */
};

struct convert_command {
    struct command command;
    odlc_status (*convert)(const struct odlc_convert_options *options, struct odlc_conversion **conversion);
    /* Prints what the command's own options ask for; NULL: it has none. */
    void (*report)(const struct options *options, const struct odlc_conversion *conversion);
};

/* All of main. */
int convert_main(const struct convert_command *self, int argc, char **argv);

#endif
