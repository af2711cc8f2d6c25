/* The report of dlc-info, from the container to its three forms. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <stdio.h>

#include "base/vec.h"
#include "opendlc/container.h"
#include "tools/table.h"
#include "tools/value_text.h"

struct info_options {
    const char *nodes;  /* only nodes whose names match this pattern of fnmatch(3); NULL: all */
    bool all_encodings; /* every channel of per-axis encodings */
    bool memory;
};

/* The columns Id, Name, Type, Inputs, Outputs, Out Dims, Runtimes, Parameters, one row a node. */
struct table info_node_table(struct arena *arena, const struct odlc_graph *graph, const struct info_options *options);
bool info_node_selected(const struct odlc_op *op, const struct info_options *options);

void info_print_text(FILE *stream, struct arena *arena, const odlc_container *container,
                     const struct info_options *options);
void info_print_json(FILE *stream, const odlc_container *container, const struct info_options *options);

/* ---- pieces of the report ---- */

/* Numbers cut, not rounded: 999, 353k, 8216M. */
const char *short_number(struct arena *arena, uint64_t number);

#endif
