/* SPDX-License-Identifier: Apache-2.0 */
/* Packages whose kernels a context has: their sources, each once, and where built programs of them are kept. */
#ifndef BACKEND_GPU_GPU_PACKAGE_H
#define BACKEND_GPU_GPU_PACKAGE_H

#include "backend/gpu/gpu_kernels.h"
#include "runtime/device_ops.h"

struct gpu_package; /* gpu_context has a list of them; its members are under the context's lock */

/* The source with that text, which the context has from then on; the package's programs are read from the repository
 * when it is named first. ODLC_ERR_NOMEM. */
odlc_status gpu_package_source(struct gpu_context *context, const struct device_op *op, const char *text,
                               const struct gpu_source **out) MUST_USE;
/* The package that a source is of; NULL: it is one of gpu_sources. The lock is held. */
const struct gpu_package *gpu_package_of(const struct gpu_context *context, const struct gpu_source *source);
/* Its file; NULL: nothing is kept. */
const struct gpu_repository *gpu_package_repository(const struct gpu_package *package);
const char *gpu_package_library(const struct gpu_package *package);
/* The package behind, or the first one; NULL: there is none. */
const struct gpu_package *gpu_package_next(const struct gpu_context *context, const struct gpu_package *package);

void gpu_packages_drop_all(struct gpu_context *context);

#endif
