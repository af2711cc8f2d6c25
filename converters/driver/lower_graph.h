/* SPDX-License-Identifier: Apache-2.0 */
/* The model's graph becomes an IR graph: inputs, initializers, then node after node in order. */
#ifndef CONVERTERS_DRIVER_LOWER_GRAPH_H
#define CONVERTERS_DRIVER_LOWER_GRAPH_H

#include "converters/driver/lowering.h"

/* Lowers the model of all->in into `graph`; `all` has c, in and udos set and the rest zero. A node that fails spoils
 * what depends on it and nothing else, so that one run reports all that is wrong; the status is that of the first one.
 * ODLC_ERR_UNSUPPORTED or ODLC_ERR_INVALID: a graph input or output cannot be one of a container; ODLC_ERR_LIMIT: the
 * graph would be larger than a limit; ODLC_ERR_STOPPED: the caller wants no more. */
odlc_status lower_graph(struct lowering *all, struct graph *graph) MUST_USE;

#endif
