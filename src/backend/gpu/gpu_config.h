/* SPDX-License-Identifier: Apache-2.0 */
/* What an execution asks of the GPU backend (struct backend_scope). */
#ifndef BACKEND_GPU_GPU_CONFIG_H
#define BACKEND_GPU_GPU_CONFIG_H

#include "base/base.h"

/* Types of tensors that nobody sees, and of what is computed from them. Graph inputs and outputs keep theirs. */
enum gpu_precision {
    GPU_PRECISION_USER_PROVIDED, /* as the graph says; float32 is computed */
    GPU_PRECISION_FP32,
    GPU_PRECISION_FP16,  /* float16 is stored and, where the device can, computed */
    GPU_PRECISION_HYBRID /* float16 is stored, float32 computed */
};

/* How products of matrices are computed. */
enum gpu_products {
    GPU_PRODUCTS_BY_DEVICE, /* in tiles by GPUs, in panels by others */
    GPU_PRODUCTS_TILES,     /* by work-groups with local memory */
    GPU_PRODUCTS_PANELS     /* by work-items that are loops over vectors */
};

/* How hard the device works, where its driver lets be asked (cl_khr_throttle_hints). */
enum gpu_performance { GPU_PERFORMANCE_HIGH, GPU_PERFORMANCE_NORMAL, GPU_PERFORMANCE_LOW };

/* By which options of its own a graph is prepared. */
struct gpu_graph_options {
    enum gpu_performance performance;
    enum gpu_precision precision;
    bool no_fusion;      /* a step for each node */
    bool no_recording;   /* kernels are enqueued one by one, and get all arguments in each run */
    bool has_own_places; /* no two tensors share memory */
};

/* The file that a graph is of. */
struct gpu_container {
    uint64_t hash, size; /* of all its bytes; how many they are */
};

/* Whether and how long kernels are measured (gpu_tuning.h). */
struct gpu_tuning_options {
    const char *folder; /* what is known, and is kept; NULL: nowhere */
    bool measures;      /* what is not known */
    bool invalidates;   /* what the folder has counts as absent */
    uint32_t budget;    /* milliseconds; 0: a minute */
};

/* Whose kernels come first, where the driver lets be asked (cl_khr_priority_hints). */
enum gpu_priority { GPU_PRIORITY_NORMAL, GPU_PRIORITY_LOW, GPU_PRIORITY_HIGH };

struct gpu_context; /* gpu_context.h */
struct gpu_cache;   /* gpu_cache.h */
struct gpu_profile; /* gpu_step.h */

/* All zeros: the defaults. */
struct gpu_config {
    struct gpu_context *context;    /* outlives the execution; NULL: one for this execution alone */
    const char *repository;         /* of a context of its own: a folder where built kernels are kept; NULL: nowhere */
    struct gpu_cache *cache;        /* of a context of its own, too; NULL: none */
    struct gpu_container container; /* for the cache */
    struct gpu_tuning_options tuning; /* of a context of its own */
    const char *device;               /* of a context of its own: part of the device's or platform's name; NULL: any */
    enum gpu_precision precision;
    enum gpu_products products;
    enum gpu_performance performance;
    enum gpu_priority priority;
    bool no_fusion;                    /* a step for each node */
    bool no_recording;                 /* arguments of kernels are set again in each run */
    bool specializes;                  /* on processors, too, functions are compiled into kernels */
    const struct gpu_profile *profile; /* NULL: no times are taken */
};

#endif
