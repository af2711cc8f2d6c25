/* SPDX-License-Identifier: Apache-2.0 */
/* The report of dlc-info, from the container to its three forms. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <stdio.h>

#include "base/diag.h"
#include "report/info_json.h"
#include "tools/text_table.h"
#include "report/value_text.h"

/* The rows of a graph's nodes: the user data of info_make_node. */
struct info_nodes {
    const struct odlc_graph *graph;
    const struct info_options *options;
};

/* The columns Id, Name, Type, Inputs, Outputs, Out Dims, Runtimes, Parameters, and Target where one is given; without
 * rows. */
struct table info_node_table(const struct info_options *options);
/* The row of one node, or none when it is not selected. */
table_row_fn info_make_node;
/* The same of the compact form: Id, Name, Type, Out Dims, Params, MACs, and Target where one is given. */
struct table info_compact_table(const struct info_options *options);
table_row_fn info_make_compact_node;
/* A line for each processor of the bits. */
void info_add_targets(struct arena *arena, struct table *table, struct cell *cell, const struct odlc_op *op,
                      unsigned targets);

void info_print_text(FILE *stream, struct arena *arena, const odlc_container *container,
                     const struct info_options *options);

/* What can be said of a container whose graphs cannot be read. */
void info_print_outline(FILE *stream, struct arena *arena, const odlc_container *container);

/* ---- one tensor ---- */

struct info_tensor {
    const struct odlc_graph *graph;
    const struct odlc_op *owner; /* of an attribute's tensor, or a layer's weights; NULL for tensors of the graph */
    const struct odlc_tensor *tensor;
};

/* By its name; weights of version 3 as layer:name. An unknown name is an error that suggests a near one. */
odlc_status info_find_tensor(struct arena *arena, struct diags *diags, const odlc_container *container,
                             const char *name, struct info_tensor *out) MUST_USE;
void info_print_tensor(FILE *stream, struct arena *arena, const struct info_tensor *which);
void info_print_tensor_json(FILE *stream, const odlc_container *container, const struct info_tensor *which);

/* ---- findings ---- */

/* The container's diagnostics and a line that says how many findings there are. */
void info_print_findings(FILE *stream, const char *command, struct arena *arena, const char *path,
                         const odlc_container *container);
void info_print_findings_json(FILE *stream, const char *path, const odlc_container *container);

/* ---- pieces of the report ---- */

/* Fitted to the stream's width; headers are bold where there are colours. Changes the table. */
void info_print_table(FILE *stream, struct arena *arena, struct table *table);

/* Numbers cut, not rounded: 999, 353k, 8216M. */
const char *short_number(struct arena *arena, uint64_t number);

#endif
