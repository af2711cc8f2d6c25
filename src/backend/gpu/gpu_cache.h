/* SPDX-License-Identifier: Apache-2.0 */
/* Context caches: what the graphs of a context were prepared to, in a file, so that the next process neither builds
 * kernels nor converts weights.
 *
 * The file is a store (gpu_store.h) with the letters ODLCGPUC: the programs that graphs use, by the keys of the
 * repository; weights as kernels read them, by the recipe that made them (gpu_recipe.h); what was tuned, as
 * gpu_tuning_text has it; and a description, which says of which library, device and driver all of it is, of which
 * containers, and by which options these were prepared. What a graph needs beyond that, because other options came
 * later, is prepared as without the file.
 *
 * A cache is read by everybody and has a lock of its own for what is written; options are settled before executions
 * begin. */
#ifndef BACKEND_GPU_GPU_CACHE_H
#define BACKEND_GPU_GPU_CACHE_H

#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_store.h"

struct gpu_cache;

/* The file as it is now; with `rebuilds`, as if it were not there. The warning gpu-cache: it is damaged or none, and
 * counts as absent (one that is no context cache stays as it is). NULL: memory runs out. */
struct gpu_cache *gpu_cache_open(struct diags *diags, const char *path, bool rebuilds);

/* The options by which a container's graph was prepared. Of an absent file: false. ODLC_ERR_INVALID: the cache is of
 * other containers. */
odlc_status gpu_cache_find_graph(const struct gpu_cache *cache, struct diags *diags, const struct gpu_container *wanted,
                                 bool *found, struct gpu_graph_options *out) MUST_USE;
/* Notes, for a file that is absent, that a container's graph is prepared by these options. ODLC_ERR_NOMEM. */
odlc_status gpu_cache_add_graph(struct gpu_cache *cache, const struct gpu_container *container,
                                const struct gpu_graph_options *options) MUST_USE;

/* The context's programs and weights come from the cache, and are noted for an absent one. ODLC_ERR_INVALID: the cache
 * is of another device, driver or library. */
odlc_status gpu_context_use_cache(struct gpu_context *context, struct diags *diags, struct gpu_cache *cache) MUST_USE;

/* What is kept under the key, or NULL. */
const struct gpu_binary *gpu_cache_find(const struct gpu_cache *cache, const uint64_t key[2]);
/* Notes weights for an absent file, which retains the buffer. */
void gpu_cache_note(struct gpu_cache *cache, const uint64_t key[2], cl_mem buffer, uint64_t size);

/* Writes the file where it was absent and graphs were prepared. The warning gpu-cache: it cannot be written. */
void gpu_cache_keep(struct gpu_context *context, struct diags *diags);
void gpu_cache_close(struct gpu_cache *cache);

#endif
