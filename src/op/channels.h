/* SPDX-License-Identifier: Apache-2.0 */
/* Which axis of a layer's weights counts what can have an encoding of its own: output channels, rows, columns. */
#ifndef OP_CHANNELS_H
#define OP_CHANNELS_H

#include "ir/graph.h"

/* The axis of input 1 of a layer that counts its output's channels, or of a MatMul that counts the output's columns.
 * False: the node is none of these, or has no such axis. */
bool node_channel_axis(const struct graph *g, const struct node *n, uint32_t *axis);
/* The axis of constant `id` by which `count` encodings may go: the one of a reader's channels, if it has that size,
 * else the only axis of that size. False: there is none, or more than one. */
bool find_channel_axis(const struct graph *g, const struct uses *uses, tensor_id id, uint32_t count, uint32_t *axis);

#endif
