/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of an OpenCL device, and what it can do. */
#ifndef BACKEND_GPU_GPU_DEVICE_H
#define BACKEND_GPU_GPU_DEVICE_H

#include <CL/cl.h>

#include "base/diag.h"

enum { GPU_NAME_SIZE = 128 };

struct gpu_device {
    cl_platform_id platform;
    cl_device_id id;
    char name[GPU_NAME_SIZE], platform_name[GPU_NAME_SIZE], driver[GPU_NAME_SIZE]; /* driver: its version */
    uint32_t version;          /* of OpenCL: 100 * major + 10 * minor */
    bool is_gpu;               /* else a CPU, or an accelerator */
    bool has_half, has_double; /* arithmetic in kernels */
    bool has_subgroups, has_command_buffers, has_priorities, has_throttles, has_images;
    size_t max_group;           /* work-items */
    size_t max_items[3];        /* of a work-group, per dimension */
    uint32_t units;             /* compute units */
    uint32_t vector;            /* floats of a register */
    uint64_t local_memory;      /* bytes a work-group */
    uint64_t memory, max_block; /* bytes: all, and of one buffer */
    uint64_t alignment;         /* bytes: of sub-buffers */
};

/* The first GPU whose name or whose platform's name has `wanted` in it (NULL: any), else the first other device.
 * ODLC_ERR_UNSUPPORTED: there is none. */
odlc_status gpu_device_choose(struct diags *diags, const char *wanted, struct gpu_device *out) MUST_USE;

/* "CL_OUT_OF_RESOURCES (-5)"; in the arena. */
const char *gpu_error_text(struct arena *arena, cl_int error);

#endif
