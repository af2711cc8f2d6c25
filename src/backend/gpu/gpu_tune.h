/* SPDX-License-Identifier: Apache-2.0 */
/* Choices between kernels, tiles and sizes of work-groups that compute the same: the usual one, the one that is known
 * (gpu_tuning.h) to be the fastest, or the one that is measured to be it. */
#ifndef BACKEND_GPU_GPU_TUNE_H
#define BACKEND_GPU_GPU_TUNE_H

#include "backend/gpu/gpu_step.h"

enum { GPU_MOST_CANDIDATES = 16 };

struct gpu_candidates {
    const char *kernel, *where; /* what is chosen for */
    uint32_t count;
    const char *names[GPU_MOST_CANDIDATES]; /* the usual one first */
    size_t first;                           /* call of the step, from which on candidate's calls stand */
    /* Makes the calls of a candidate; what they need is the step's. A failure leaves the candidate out. */
    odlc_status (*make)(struct gpu_making *m, const void *object, uint32_t candidate);
    const void *object;
};

/* The candidate to make: 0 without tuning. */
uint32_t gpu_tune(struct gpu_making *m, const struct gpu_candidates *c);

/* The size of a call's work-groups, which has all its arguments: `group` is the usual one before. */
void gpu_tune_group(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items, size_t *group);

#endif
