/* SPDX-License-Identifier: Apache-2.0 */
/* The repository: built programs of a package in a file, so that the next process need not build them.
 *
 * <folder>/gpukernelcache.<package> is a store (gpu_store.h) with the letters ODLCGPUK. Its identity is that of the
 * package's sources, the device, its driver and this library; a key that of a program's source and options. A file that
 * is damaged, of another version or of another identity counts as none, and is replaced. Programs that others wrote in
 * the meantime stay in it. */
#ifndef BACKEND_GPU_GPU_REPOSITORY_H
#define BACKEND_GPU_GPU_REPOSITORY_H

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_store.h"

/* The package of the kernels that are part of this library. */
#define GPU_OWN_PACKAGE "opendlc"

struct gpu_repository;

/* That of a package in a folder, as it is now; `hash` says whether its programs are those of the package's sources of
 * today. NULL: memory runs out. */
struct gpu_repository *gpu_repository_open(const struct gpu_device *device, const char *folder, const char *package,
                                           uint64_t hash);
/* The program of that key, or NULL. */
const struct gpu_binary *gpu_repository_find(const struct gpu_repository *repository, const uint64_t key[2]);
/* Replaces the file by these programs, and those that it has beside them. The warning gpu-repository: it cannot be
 * written. Memory is the diagnostics'. */
void gpu_repository_write(const struct gpu_repository *repository, struct diags *diags,
                          const struct gpu_binary *programs, size_t count);
void gpu_repository_close(struct gpu_repository *repository);

#endif
