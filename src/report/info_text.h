/* SPDX-License-Identifier: Apache-2.0 */
/* The report of dlc-info as text, and its table of nodes as CSV. */
#ifndef REPORT_INFO_TEXT_H
#define REPORT_INFO_TEXT_H

#include <stdio.h>

#include "report/info_json.h"

/* What can be said of a container, whose graphs are left out where they could not be read. */
void info_print_text(FILE *stream, struct arena *arena, const odlc_container *container,
                     const struct info_options *options);

/* Takes a part of the CSV. */
typedef odlc_status info_write_fn(void *user, const void *bytes, size_t size);
/* The table of nodes as CSV (RFC 4180), in parts; fails as `write` does. */
odlc_status info_write_csv(struct arena *arena, const odlc_container *container, const struct info_options *options,
                           info_write_fn *write, void *user) MUST_USE;

/* ---- pieces of the report ---- */

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

/* Numbers cut, not rounded: 999, 353k, 8216M. */
const char *short_number(struct arena *arena, uint64_t number);

#endif
