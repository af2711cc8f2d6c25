/* SPDX-License-Identifier: Apache-2.0 */
/* The graph as text, for people, golden tests and --dump_ir. Grammar: docs/graphs-and-passes.md. */
#ifndef OP_GRAPH_TEXT_H
#define OP_GRAPH_TEXT_H

#include "base/diag.h"
#include "ir/graph.h"
#include "op/registry.h"

/* In the arena. Constants of up to 16 elements show their values; of larger ones only the type is printed, and parsing
 * gives zeros. */
const char *graph_print(struct arena *arena, const struct graph *g);

/* Parses what graph_print prints, with the registry's rows. Errors, ODLC_ERR_INVALID, carry line and column. */
odlc_status graph_parse(struct arena *arena, struct diags *diags, const struct op_registry *registry, const char *text,
                        struct graph **out) MUST_USE;

#endif
