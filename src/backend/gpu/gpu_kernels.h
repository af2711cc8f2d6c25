/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of a context: each program is built once, whichever graphs ask for its kernels. */
#ifndef BACKEND_GPU_GPU_KERNELS_H
#define BACKEND_GPU_GPU_KERNELS_H

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_source.h"

/* A kernel object for the caller alone, to be given back by clReleaseKernel: function `function` of the source, built
 * with these options ("-DX=float …"). The program is built if the context does not have one of that source and those
 * options. ODLC_ERR_INTERNAL, of a package's source (gpu_package.h) ODLC_ERR_INVALID, with the
 * compiler's words: the source does not compile, or has no such function. */
odlc_status gpu_kernel_get(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                           const char *function, const char *options, cl_kernel *out) MUST_USE;

/* The same to measure the kernel: a program that nobody uses beside that is not kept for the next process. */
odlc_status gpu_kernel_try(struct gpu_context *context, struct diags *diags, const struct gpu_source *source,
                           const char *function, const char *options, cl_kernel *out) MUST_USE;

struct gpu_binary; /* gpu_store.h */
/* A program of a context and those before it, which stay as they are, as the driver gives them, in the arena; how many.
 * Those of the package (NULL: of gpu_sources) alone; those that the driver does not give, and those that were measured
 * alone, are left out. */
size_t gpu_kernels_binaries(const struct gpu_context *context, const struct gpu_program *newest,
                            const struct gpu_package *package, struct arena *arena, struct gpu_binary **out);

void gpu_kernels_drop_all(struct gpu_context *context);

#endif
