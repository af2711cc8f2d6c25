/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of kernels. */
#ifndef BACKEND_GPU_GPU_SOURCE_H
#define BACKEND_GPU_GPU_SOURCE_H

#include "base/base.h"

/* Text in OpenCL C. Those of gpu_sources are this package's own, and come behind kernels/common.cl. */
struct gpu_source {
    const char *name; /* "matmul" */
    const char *text;
};

/* kernels/<name>.cl, all of them; ends with a name of NULL. Made at build time. */
extern const struct gpu_source gpu_sources[];

/* The source of that name in gpu_sources, which must be there. */
const struct gpu_source *gpu_source_find(const char *name);

/* A number for all of gpu_sources. */
uint64_t gpu_sources_hash(void);

#endif
