/* SPDX-License-Identifier: Apache-2.0 */
/* How much a conversion may make that no file of its model holds. A few bytes of a model can ask for any number of
 * elements, nodes and multiplications, so each limit is an allowance, within which small models may do what they like,
 * and a multiple of the model's size. docs/limits.md says how the numbers were chosen. */
#ifndef IR_GROWTH_H
#define IR_GROWTH_H

#include "base/base.h"

#define GIB (UINT64_C(1) << 30)

/* Bytes of all arenas at work together: all that is known of the model. */
#define MEMORY_ALLOWANCE GIB
#define MEMORY_PER_BYTE 64
/* Bytes of the container's constants: 32 causal masks of 4096 × 4096 floats, and weights of 2 bits that become floats.
 */
#define PAYLOAD_ALLOWANCE (2 * GIB)
#define PAYLOAD_PER_BYTE 16
/* Nodes that were ever in the graph. */
#define NODES_ALLOWANCE (UINT64_C(1) << 19)
#define NODES_PER_NODE 64
/* Folding: bytes of operands and results as the kernels take them, of a node that is computed in memory, of a part of a
 * larger one, and of all nodes together; operations. */
#define FOLD_MOST (UINT64_C(32) << 20)
#define FOLD_PART (UINT64_C(16) << 20)
#define FOLD_ALLOWANCE (GIB / 2)
#define FOLD_PER_BYTE 128
#define WORK_ALLOWANCE (2 * GIB)
#define WORK_PER_BYTE 64
/* What is folded whatever was folded before: shapes are computed to the end of a model. */
#define FOLD_ALWAYS 4096
/* Bytes of a folded constant from which it is put into a file. */
#define SPILL_LEAST (UINT64_C(64) << 10)

struct growth {
    uint64_t model_bytes, model_nodes; /* that the limits follow */
    uint64_t folded, worked;           /* so far: bytes and operations */
};

uint64_t growth_memory(const struct growth *growth);
uint64_t growth_payload(const struct growth *growth);
uint64_t growth_nodes(const struct growth *growth);
/* Whether a node may be folded that takes so many bytes and operations, which then count. */
bool growth_fold(struct growth *growth, uint64_t bytes, uint64_t work);

#endif
