/* SPDX-License-Identifier: Apache-2.0 */
/* Between fixed-point tensors and reals. */
#ifndef BACKEND_GPU_GPU_FIXED_H
#define BACKEND_GPU_GPU_FIXED_H

#include "backend/gpu/gpu_step.h"

/* Calls that convert all elements, as buffer_widen and buffer_narrow do (kernel/buffer.h). The fixed-point operand has
 * the encoding of the whole tensor. Options of another kernel that are there already stay. */
odlc_status gpu_to_reals(struct gpu_making *m, const struct gpu_operand *fixed,
                         const struct gpu_operand *reals) MUST_USE;
odlc_status gpu_from_reals(struct gpu_making *m, const struct gpu_operand *reals,
                           const struct gpu_operand *fixed) MUST_USE;
/* The argument `type` of kernels in kernels/fixed.cl. */
void gpu_arg_fixed_type(struct gpu_call *call, const struct gpu_operand *fixed);

#endif
