/* SPDX-License-Identifier: Apache-2.0 */
/* Steps at work: their kernels with the buffers of a run. */
#ifndef BACKEND_GPU_GPU_RUN_H
#define BACKEND_GPU_GPU_RUN_H

#include "backend/gpu/gpu_step.h"

/* Enqueues the step's kernels, or leaves them to gpu_flush. */
odlc_status gpu_step_run(struct gpu_step *step, struct arena *scratch, const struct buffer *in,
                         const struct buffer *out) MUST_USE;

#endif
