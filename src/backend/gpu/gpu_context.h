/* SPDX-License-Identifier: Apache-2.0 */
/* A context: a device with the kernels that were built for it and the weights that lie in its memory. Executions of
 * several graphs may share one, at the same time: all functions are thread-safe. */
#ifndef BACKEND_GPU_GPU_CONTEXT_H
#define BACKEND_GPU_GPU_CONTEXT_H

#include <pthread.h>

#include "backend/gpu/gpu_device.h"

struct gpu_program;        /* gpu_kernels.c */
struct gpu_weight;         /* gpu_weights.c */
struct gpu_repository;     /* gpu_repository.c */
struct gpu_package;        /* gpu_package.c */
struct gpu_cache;          /* gpu_cache.c */
struct gpu_tuning;         /* gpu_tuning.c */
struct gpu_tuning_options; /* gpu_config.h */

/* More threads than that find nothing to do: drivers do much of the work one program at a time. */
enum { GPU_MOST_BUILDERS = 16 };

/* Programs that are to be built, the first one first, and threads that do so (gpu_program.h). */
struct gpu_builders {
    pthread_cond_t changed; /* a program is queued or done, or the threads are to end */
    struct gpu_program *first, **last;
    uint32_t most; /* threads beside those that wait for a program; they start when there is work */
    uint32_t n_queued, n_threads, n_idle;
    bool ends;
    pthread_t threads[GPU_MOST_BUILDERS];
};

struct gpu_context {
    struct gpu_device device;
    cl_context handle;
    pthread_mutex_t lock; /* of what follows */
    struct gpu_builders builders;
    struct gpu_program *programs;
    struct gpu_weight *weights;
    cl_command_queue weight_queue;     /* to the device and back; NULL: there were none */
    struct gpu_package *packages;      /* whose kernels executions asked for */
    char *repository_folder;           /* NULL: programs are kept nowhere */
    struct gpu_repository *repository; /* where programs are kept; NULL: nowhere */
    struct gpu_cache *cache;           /* what graphs were prepared to by another process; NULL: none */
    struct gpu_tuning *tuning;         /* what is known of kernels; NULL: nothing, and nothing is measured */
    uint64_t builds;                   /* programs that were built from source */
    uint64_t loads;                    /* … that came from the repository or the cache */
    uint64_t kept;                     /* builds when programs were last written to it */
    uint64_t uploads;                  /* weights that were brought to the device */
    uint64_t conversions;              /* … of them, those that were converted or packed before */
    uint64_t copies;                   /* tensors that went there or back in runs */
    uint64_t replays;                  /* recordings that were enqueued (gpu_record.h) */
    uint64_t withdrawn;                /* buffers of the caller's whose registration ended (gpu_lent.h) */
    bool is_told_priority;             /* that the device knows no priorities */
    bool is_told_half;                 /* that it has no arithmetic in half */
    uint64_t hash_key[2];
};

/* Of the device that gpu_device_choose gives. ODLC_ERR_UNSUPPORTED also: the device cannot be used. */
odlc_status gpu_context_create(struct diags *diags, const char *wanted, struct gpu_context **out) MUST_USE;
/* Programs come from the folder's repository where it has them (gpu_repository.h), and go to it by gpu_context_keep.
 * Before the first execution. The warning gpu-repository: the folder is none that can be read and written to; then
 * kernels are built. ODLC_ERR_NOMEM: memory runs out. */
odlc_status gpu_context_use_repository(struct gpu_context *context, struct diags *diags, const char *folder) MUST_USE;
/* Kernels are chosen by what is known, or measured, as the options say (gpu_tuning.h). Before the cache is given.
 * ODLC_ERR_NOMEM. */
odlc_status gpu_context_use_tuning(struct gpu_context *context, struct diags *diags,
                                   const struct gpu_tuning_options *options) MUST_USE;
/* Writes what the context made to its cache (gpu_cache_keep), and programs to its repository, where it has one and has
 * built some. The warning gpu-repository: they cannot be written. */
void gpu_context_keep(struct gpu_context *context, struct diags *diags);
/* Adds one to a number of the context. */
void gpu_context_count(struct gpu_context *context, uint64_t *number);
/* While it is the same, no buffer that a run had has gone. */
uint64_t gpu_context_withdrawn(struct gpu_context *context);
/* After all executions with it. NULL is allowed. */
void gpu_context_destroy(struct gpu_context *context);

#endif
