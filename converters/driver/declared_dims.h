/* SPDX-License-Identifier: Apache-2.0 */
/* What the model declares of its other values, once dimensions of graph inputs are known: symbols have the sizes that
 * the inputs give them. */
#ifndef CONVERTERS_DRIVER_DECLARED_DIMS_H
#define CONVERTERS_DRIVER_DECLARED_DIMS_H

#include "converters/driver/input.h"

/* Takes note of the symbols that an input with known dimensions fixes. */
void note_symbols(const struct context *c, struct input *in, const struct fw_value *v);

/* Puts the sizes of symbols into what the graph, and the graphs inside of its nodes, declare. Where an option changed a
 * dimension that the model fixes, the shapes that follow from it are forgotten instead. */
void settle_declared(const struct input *in, struct fw_graph *g);

#endif
