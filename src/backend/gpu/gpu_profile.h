/* SPDX-License-Identifier: Apache-2.0 */
/* When kernels of an execution ran on the device. */
#ifndef BACKEND_GPU_GPU_PROFILE_H
#define BACKEND_GPU_GPU_PROFILE_H

#include "base/arena.h"

struct gpu_profile; /* gpu_step.h */

struct gpu_span {
    const void *step;            /* as the backend prepared it */
    const char *kernel;          /* the step's */
    uint64_t begin, nanoseconds; /* CLOCK_MONOTONIC, by what the device says of the moment at which it got the kernel */
};

struct gpu_recorder;

/* In the arena, which outlives the executions whose kernels are recorded. */
struct gpu_recorder *gpu_recorder_create(struct arena *arena);
/* For struct gpu_config. */
const struct gpu_profile *gpu_recorder_profile(const struct gpu_recorder *recorder);
/* What was recorded since the last call, in the order of the execution; waits for it. Valid until kernels are recorded
 * again. Kernels whose times the driver does not give are left out. */
const struct gpu_span *gpu_recorder_take(struct gpu_recorder *recorder, size_t *count);

#endif
