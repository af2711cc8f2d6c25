/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of a context: each program is built once, whichever graphs ask for its kernels. All functions are
 * thread-safe but for gpu_kernels_drop_all. */
#ifndef BACKEND_GPU_GPU_KERNELS_H
#define BACKEND_GPU_GPU_KERNELS_H

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_source.h"

/* The program of a source with these options ("-DX=float …"): that of the registry, or a new one, which is built
 * meanwhile (gpu_program.h). `is_used`: by a graph; a program that is asked for only to be measured is not kept for the
 * next process. ODLC_ERR_NOMEM. */
odlc_status gpu_program_take(struct gpu_context *context, const struct gpu_source *source, const char *options,
                             bool is_used, struct gpu_program **out) MUST_USE;

/* A kernel object for the caller alone, to be given back by clReleaseKernel: that function of the program, for which
 * the call waits. ODLC_ERR_INTERNAL, of a package's source (gpu_package.h) ODLC_ERR_INVALID, with the compiler's words:
 * the source does not compile, or has no such function. */
odlc_status gpu_program_kernel(struct gpu_context *context, struct diags *diags, struct gpu_program *program,
                               const char *function, cl_kernel *out) MUST_USE;

struct gpu_binary; /* gpu_store.h */
/* A program of a context and those before it, which stay as they are, as the driver gives them, in the arena; how many.
 * Those of the package (NULL: of gpu_sources) alone; those that the driver does not give, and those that were measured
 * alone, are left out. */
size_t gpu_kernels_binaries(struct gpu_context *context, const struct gpu_program *newest,
                            const struct gpu_package *package, struct arena *arena, struct gpu_binary **out);

void gpu_kernels_drop_all(struct gpu_context *context);

#endif
