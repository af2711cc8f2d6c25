/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that are made of constants, by converting or packing them: a context cache has them as they were made, so
 * that constants are neither read nor converted.
 *
 *     static const char recipe[] = "sums of columns";
 *     TRY(gpu_weights_recall(m, recipe, size, &buffer));
 *     if (!buffer)
 *         TRY(gpu_weights_keep(m, recipe, make(...), size, &buffer));
 *
 * A recipe says, together with container, nodes, precision and arithmetic of the step, all that the bytes depend on. */
#ifndef BACKEND_GPU_GPU_RECIPE_H
#define BACKEND_GPU_GPU_RECIPE_H

#include "backend/gpu/gpu_step.h"

/* *out NULL: the cache does not have them, in that size. Else they are the step's, as of gpu_weights. */
odlc_status gpu_weights_recall(struct gpu_making *m, const char *recipe, uint64_t size, cl_mem *out) MUST_USE;
/* gpu_weights of bytes that were made, for the cache to have them. */
odlc_status gpu_weights_keep(struct gpu_making *m, const char *recipe, const void *bytes, uint64_t size,
                             cl_mem *out) MUST_USE;

#endif
