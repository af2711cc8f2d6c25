/* SPDX-License-Identifier: Apache-2.0 */
/* What docs/gpu.md says of the devices that tests run on, for expectations that depend on it. */
#ifndef TESTS_BACKEND_GPU_FACTS_H
#define TESTS_BACKEND_GPU_FACTS_H

#include <stdbool.h>

/* Whether it is a GPU: products are computed in tiles, from weights as the container has them, and what follows a
 * kernel is compiled into it. */
bool device_is_gpu(void);
/* Whether kernels are recorded: cl_khr_command_buffer and OpenCL 2.1. */
bool device_records(void);

#endif
