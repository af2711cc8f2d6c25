/* SPDX-License-Identifier: Apache-2.0 */
/* What rows with indices ask of them. */
#ifndef BACKEND_GPU_GPU_INDEX_H
#define BACKEND_GPU_GPU_INDEX_H

#include "backend/gpu/gpu_walk.h"

/* NULL: kernels read them. */
const char *gpu_refuse_indices(const struct tensor *indices);

#endif
