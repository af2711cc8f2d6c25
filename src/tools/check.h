/* SPDX-License-Identifier: Apache-2.0 */
/* The report of udo-check in its two forms. */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <stdio.h>

#include "base/vec.h"
#include "opendlc/convert.h"
#include "opendlc/udo.h"

/* A node of the model that a definition claims. */
struct check_node {
    const char *name;
    const struct odlc_udo_report *report; /* NULL: the conversion failed before it looked at the node */
};

struct check_nodes {
    struct check_node *data; /* in the model's order */
    size_t count, capacity;
};

struct tried_ops; /* trial/trial_packages.h */

struct check_report {
    const char *const *files;
    size_t n_files;
    const struct odlc_udo_definition *definitions;
    size_t n_definitions;
    struct check_nodes *nodes;                /* one list a definition: the nodes that it claims */
    const char *model;                        /* NULL: none was given */
    const struct odlc_conversion *conversion; /* NULL: no model, or it was not looked at */
    bool looked_at;                           /* the conversion got as far as the model's nodes */
    bool convertible;                         /* the conversion went through */
    size_t errors, warnings;
    const struct tried_ops *tried; /* NULL: no package was given */
};

void check_print_text(FILE *stream, struct arena *arena, const struct check_report *r);
void check_print_json(FILE *stream, const struct check_report *r);

/* check_trials.c: what packages were found to do. */
struct json_out;
void check_print_trials(FILE *stream, const struct tried_ops *tried);
void check_write_trials(struct json_out *j, const struct tried_ops *tried);

/* Starts the command anew with the library that counts memory requests, where there is one; returns if there is none,
 * or if it is there already. */
void check_count_allocations(struct arena *arena, char **argv);

#endif
