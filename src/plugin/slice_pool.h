/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that call a kernel for its slices. */
#ifndef PLUGIN_SLICE_POOL_H
#define PLUGIN_SLICE_POOL_H

#include "base/arena.h"

struct slice_pool;

/* Threads beside the caller's; they end with slice_pool_end. NULL: the system gives none, and the caller does all. */
struct slice_pool *slice_pool_begin(struct arena *arena, uint32_t threads);
void slice_pool_end(struct slice_pool *pool);

/* Calls work(user, i) once for each i below count, at the same time as far as there are threads, and returns when all
 * have returned. pool NULL: one after the other. One caller at a time. */
void slice_pool_run(struct slice_pool *pool, uint32_t count, void (*work)(void *user, uint32_t i), void *user);

#endif
