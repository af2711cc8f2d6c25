/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the caller's that tensors lie in. */
#ifndef BACKEND_GPU_GPU_LENT_H
#define BACKEND_GPU_GPU_LENT_H

#include "base/diag.h"

struct gpu_context; /* gpu_context.h */

/* What a buffer can be used for. */
struct gpu_lent {
    void *buffer;             /* a cl_mem */
    uint64_t size;            /* bytes */
    bool is_read, is_written; /* kernels may do that */
};

/* The platform, device and context (cl_platform_id, cl_device_id, cl_context) that buffers must be of. */
void gpu_lent_handles(const struct gpu_context *context, void *out[3]);

/* Looks at a buffer, and holds it until gpu_lent_end. Codes of errors: "gpu-memory-type" (ODLC_ERR_UNSUPPORTED), it is
 * no buffer; "gpu-memory-context" (ODLC_ERR_USAGE), it is of another context; "gpu-memory-mapped" (ODLC_ERR_USAGE), the
 * host has it mapped; "gpu-memory-argument" (ODLC_ERR_USAGE), the driver does not know it. */
odlc_status gpu_lent_begin(const struct gpu_context *context, struct diags *diags, void *buffer,
                           struct gpu_lent *out) MUST_USE;
void gpu_lent_end(struct gpu_context *context, const struct gpu_lent *lent);

#endif
