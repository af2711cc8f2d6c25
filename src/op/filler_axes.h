/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that find something (op_find.c) give a row for all that there could be; behind the rows that were found stands
 * filler. Which axes of the tensors behind such an op have filler at their end, and which nodes combine the rows, so
 * that the filler gets into their result. */
#ifndef OP_FILLER_AXES_H
#define OP_FILLER_AXES_H

#include "ir/graph.h"

/* Of each output the mask of the axes with filler, from the masks of the inputs. False when the node may combine
 * elements along such an axis, or is not known not to: the outputs are then taken for tensors without filler, but for
 * those of an op that finds something itself. */
bool filler_axes(const struct graph *g, const struct node *n, const uint8_t *in, uint8_t *out);

#endif
