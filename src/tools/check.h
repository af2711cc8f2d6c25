/* The report of udo-check in its two forms. */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <stdio.h>

#include "base/vec.h"
#include "opendlc/convert.h"
#include "opendlc/udo.h"

struct check_report {
    const char *const *files;
    size_t n_files;
    const struct odlc_udo_definition *definitions;
    size_t n_definitions;
    const char *model;                        /* NULL: none was given */
    const struct odlc_conversion *conversion; /* NULL: no model, or it was not looked at */
    bool convertible;                         /* the conversion went through */
    size_t errors, warnings;
};

/* A node of the model that a definition claims. */
struct check_node {
    const char *name;
    const struct odlc_udo_report *report; /* NULL: the conversion failed before it looked at the node */
};

/* The nodes that definition i claims, in the model's order. */
const struct check_node *check_nodes(struct arena *arena, const struct check_report *r, size_t i, size_t *count);

void check_print_text(FILE *stream, struct arena *arena, const struct check_report *r);
void check_print_json(FILE *stream, struct arena *arena, const struct check_report *r);

#endif
