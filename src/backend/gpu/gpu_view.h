/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes around a product of matrices, which reads its operands and writes its result through their strides. The
 * group then has Transposes of operands before its head, and one of the result right behind it. */
#ifndef BACKEND_GPU_GPU_VIEW_H
#define BACKEND_GPU_GPU_VIEW_H

#include "backend/gpu/gpu_step.h"

/* The product that reads what a Transpose gives, and takes it into its group; else the node itself. */
node_id gpu_view_head(const struct claiming *c, node_id id);
/* Adds the head to an empty group, with the Transposes around it. */
void gpu_view_claim(const struct claiming *c, node_id head, struct group *group);

/* Where the head of a group stands. */
uint32_t gpu_view_head_index(const struct graph *g, const struct group *group);
/* The Transpose before the head that gives input i of it, as the index of the group's node; UINT32_MAX: there is none.
 */
uint32_t gpu_view_before(const struct gpu_making *m, uint32_t i);
/* Elements between neighbours along each axis of the head's input i, in the operand that gpu_input gives. */
void gpu_view_input_strides(const struct gpu_making *m, uint32_t i, int64_t strides[MAX_RANK]);
/* The same of the head's result, in the operand that gpu_output gives. */
void gpu_view_output_strides(const struct gpu_making *m, int64_t strides[MAX_RANK]);

#endif
