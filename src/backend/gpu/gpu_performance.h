/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the performance cache (gpu_tuning.h). */
#ifndef BACKEND_GPU_GPU_PERFORMANCE_H
#define BACKEND_GPU_GPU_PERFORMANCE_H

#include "backend/gpu/gpu_tuning.h"

/* Sees what a file has, whose strings go with the arena. */
struct gpu_tuned_sink {
    void *object;
    void (*see)(void *object, const struct gpu_tuned *tuned);
};

/* NULL, or why the text is none of the device's: a sentence. Then nothing of it is seen. */
const char *gpu_performance_parse(struct arena *arena, const struct gpu_device *device, const char *text, size_t size,
                                  struct gpu_tuned_sink sink);
/* The entries that have a kernel, oldest last; NULL: memory runs out. */
const char *gpu_performance_text(struct arena *arena, const struct gpu_device *device, const struct gpu_tuned *newest);

/* All files of the device in the folder; true: there are others than the device's own, or that is absent. */
bool gpu_performance_read(struct diags *diags, const struct gpu_device *device, const char *folder,
                          struct gpu_tuned_sink sink);
void gpu_performance_write(struct diags *diags, const struct gpu_device *device, const char *folder,
                           const struct gpu_tuned *newest);
void gpu_performance_delete(struct diags *diags, const struct gpu_device *device, const char *folder);

#endif
