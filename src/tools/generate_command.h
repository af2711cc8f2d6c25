/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that generate packages share: configs are read, described, and written as folders. */
#ifndef TOOLS_GENERATE_COMMAND_H
#define TOOLS_GENERATE_COMMAND_H

#include "gen/gen.h"
#include "tools/command.h"
#include "tools/options.h"

/* A generator, while it runs. */
struct generate_session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    const struct generate_command *of;
};

/* What a generator has of its own. */
struct generate_command {
    const struct command *self;
    int output, force, debug;     /* the ids of its options */
    const char *default_variable; /* of the environment: the folder where none is given; NULL: none */
    odlc_status (*describe)(struct generate_session *s, struct gen_packages *out); /* reads the configs */
};

/* Runs it; the exit status. */
int generate_main(const struct generate_command *of, int argc, char **argv);

#endif
