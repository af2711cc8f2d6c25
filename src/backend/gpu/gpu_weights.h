/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in the device's memory: bytes that several steps or graphs of a context need lie there once. */
#ifndef BACKEND_GPU_GPU_WEIGHTS_H
#define BACKEND_GPU_GPU_WEIGHTS_H

#include "backend/gpu/gpu_context.h"

/* A buffer with these bytes (1 or more), which nobody writes to; given back by gpu_weights_give. They are brought to
 * the device now, unless all of them lie there already. ODLC_ERR_LIMIT: the device has no room. */
odlc_status gpu_weights_take(struct gpu_context *context, struct diags *diags, const void *bytes, uint64_t size,
                             cl_mem *out) MUST_USE;
void gpu_weights_give(struct gpu_context *context, cl_mem buffer);

void gpu_weights_drop_all(struct gpu_context *context);

#endif
