/* SPDX-License-Identifier: Apache-2.0 */
/* Where the walk ends: nodes and cut values that become inputs of the graph, and constants. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_LEAVES_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_LEAVES_H

#include "converters/tensorflow/normalize/flat_graph.h"

/* A Placeholder becomes an input. ODLC_ERR_UNSUPPORTED: it is no tensor. */
odlc_status make_input(struct walk *w, const struct visit *v) MUST_USE;
/* What a cut value is may not be known; options say it then. */
odlc_status cut_here(struct walk *w, const struct source *s) MUST_USE;

bool is_constant(const char *op);
/* The value of a constant; *has_form false for one of a type that has no form here. ODLC_ERR_INVALID: it has none. */
odlc_status constant_value(struct walk *w, const struct visit *v, bool *has_form, struct fw_tensor *out) MUST_USE;
/* A constant of the outermost graph, for each trip of a loop would have its own. One of a type that has no form here
 * stays a node, whose lowering says so. Errors of constant_value. */
odlc_status make_constant(struct walk *w, const struct visit *v) MUST_USE;

#endif
