/* SPDX-License-Identifier: Apache-2.0 */
/* The context object of the GPU backend, as runs use it. */
#ifndef API_SHARED_GPU_H
#define API_SHARED_GPU_H

#include <pthread.h>

#include "opendlc/gpu.h"
#include "backend/gpu/gpu_config.h"
#include "dlc/record.h"
#include "runtime/executor.h"
#include "text/json.h"

struct odlc_gpu {
    struct arena *arena;
    struct diags diags;
    struct odlc_gpu_config config;         /* strings are the arena's */
    struct json *json;                     /* the file that it is of; NULL: none */
    const struct json_value *graph_values; /* … and the first of its graph_names */
    pthread_mutex_t lock;                  /* of the context */
    struct gpu_context *context;           /* NULL before a run was prepared */
    struct gpu_cache *cache;               /* … and NULL without one */
    struct odlc_gpu_memory *memories;      /* that are registered; under the lock */
};

/* The context, which is opened where it is not: ODLC_ERR_UNSUPPORTED, ODLC_ERR_NOMEM; ODLC_ERR_INVALID: the context
 * cache is of others. */
odlc_status gpu_take_context(odlc_gpu *gpu, struct diags *diags, struct gpu_context **out) MUST_USE;
struct gpu_tuning_options gpu_tuning_options(const odlc_gpu *gpu);
bool gpu_is_among(const char *name, const char *const *names, size_t count);

struct gpu_graph {
    const char *name;
    const struct dlc_file *container; /* as dlc_verify has looked at it */
};

/* Fills the options of an execution of a graph. With `shares` the execution uses the context, which is opened where it
 * is not: ODLC_ERR_UNSUPPORTED, ODLC_ERR_NOMEM. ODLC_ERR_INVALID: the context cache is of others. */
odlc_status gpu_options(odlc_gpu *gpu, struct diags *diags, const struct gpu_graph *graph, bool shares,
                        struct gpu_config *config, struct executor_options *options) MUST_USE;

/* Reads a file's configuration into the object. */
odlc_status gpu_file_read(odlc_gpu *gpu, const char *path) MUST_USE;

#endif
