/* SPDX-License-Identifier: Apache-2.0 */
/* The device's memory as the plan sees it: places of a block are buffers (cl_mem). */
#ifndef BACKEND_GPU_GPU_MEMORY_H
#define BACKEND_GPU_GPU_MEMORY_H

#include "runtime/backend.h"

/* Copies are enqueued; nothing waits but downloads, and uploads of bytes that do not last. State: struct gpu. */
extern const struct memory gpu_memory;

#endif
