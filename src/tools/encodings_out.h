/* SPDX-License-Identifier: Apache-2.0 */
/* The encodings of a quantized graph as a file: JSON in the form of AIMET's version 0.6.1. */
#ifndef TOOLS_ENCODINGS_OUT_H
#define TOOLS_ENCODINGS_OUT_H

#include "base/diag.h"
#include "ir/graph.h"

/* Constants are param_encodings, all other tensors activation_encodings, each in the order of the graph's ids.
 * ODLC_ERR_IO: the file cannot be written. */
odlc_status encodings_out(struct arena *arena, struct diags *diags, const struct graph *g, const char *path) MUST_USE;

#endif
