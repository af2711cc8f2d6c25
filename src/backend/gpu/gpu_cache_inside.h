/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu_cache.c, which reads context caches, and gpu_cache_keep.c, which writes them, have in common. */
#ifndef BACKEND_GPU_GPU_CACHE_INSIDE_H
#define BACKEND_GPU_GPU_CACHE_INSIDE_H

#include "backend/gpu/gpu_cache.h"

/* A container whose graph the cache has. */
struct graph_entry {
    struct graph_entry *next;
    struct gpu_container container;
    struct gpu_graph_options options;
};

struct noted {
    struct noted *next;
    uint64_t key[2], size;
    cl_mem buffer;
};

struct gpu_cache {
    bool is_absent; /* nothing comes from the file */
    bool is_kept;   /* the file is written in the end */
    struct gpu_contents contents;
    struct graph_entry *graphs;
    pthread_mutex_t lock; /* of what follows, and of graphs */
    struct noted *noted;
    char path[];
};

extern const struct gpu_store_kind gpu_cache_kind;

/* The description's first lines, which say of whom the cache is. */
enum { GPU_CACHE_LINES = 6 };

struct gpu_cache_origin {
    const char *what, *value;
};

/* Those of today, in the arena. */
void gpu_cache_origins(struct arena *arena, const struct gpu_device *d, struct gpu_cache_origin out[GPU_CACHE_LINES]);

/* The keys of the description and of what was tuned. */
void gpu_cache_description_key(uint64_t key[2]);
void gpu_cache_tuning_key(uint64_t key[2]);

#endif
