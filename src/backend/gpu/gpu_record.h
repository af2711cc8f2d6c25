/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that run after each other again and again are recorded in a command buffer of the driver
 * (cl_khr_command_buffer), which is enqueued in one call.
 *
 * Steps add their kernels, which wait until something must be done: a copy, or the end of a run. What comes for the
 * second time, with the same buffers, is recorded; other buffers make a recording of their own. */
#ifndef BACKEND_GPU_GPU_RECORD_H
#define BACKEND_GPU_GPU_RECORD_H

#include "backend/gpu/gpu_step.h"

struct gpu_recordings;

/* Of an execution, whose queue is made; NULL: the device does not record, or memory runs out. */
struct gpu_recordings *gpu_recordings_open(const struct gpu *gpu);
/* Kernels that wait are forgotten. NULL is allowed. */
void gpu_recordings_close(struct gpu_recordings *r);

/* Forgets all recordings, before kernels of them go. NULL is allowed. */
void gpu_recordings_drop(struct gpu_recordings *r);

/* A kernel with the buffers of its bindings. ODLC_ERR_NOMEM. */
odlc_status gpu_recordings_add(struct gpu_recordings *r, struct gpu_call *call, const cl_mem *buffers) MUST_USE;
/* Forgets the kernels that wait. NULL is allowed. */
void gpu_recordings_forget(struct gpu_recordings *r);
/* Enqueues the kernels that wait. Without recordings there are none. */
odlc_status gpu_flush(const struct gpu *gpu) MUST_USE;

#endif
