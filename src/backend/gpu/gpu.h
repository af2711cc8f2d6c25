/* SPDX-License-Identifier: Apache-2.0 */
/* The backend for any device with OpenCL: a GPU, or by PoCL the processor.
 *
 * An operator is a row of gpu_ops.def. Its `refuse` says whether a node is taken, its `prepare` makes the step's calls:
 * kernels with their arguments, built by the registry of the context. Kernels are in kernels/<name>.cl; what differs
 * between uses of one (types, fused functions, tile sizes) are options of its build. */
#ifndef BACKEND_GPU_GPU_H
#define BACKEND_GPU_GPU_H

#include "runtime/backend.h"

extern const struct backend gpu_backend;

#endif
