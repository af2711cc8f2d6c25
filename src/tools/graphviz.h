/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_GRAPHVIZ_H
#define TOOLS_GRAPHVIZ_H

#include "base/diag.h"

/* Runs Graphviz's `dot`, found on PATH, on a text in the DOT language; the drawing is appended to `svg`. */
odlc_status graphviz_draw(struct arena *arena, struct diags *diags, const char *dot, size_t size, text *svg) MUST_USE;

#endif
