/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a context's registry, and the threads that build them while the graph is prepared further.
 *
 * The context's lock is for all that changes: the queue, and states of programs. */
#ifndef BACKEND_GPU_GPU_PROGRAM_H
#define BACKEND_GPU_GPU_PROGRAM_H

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_source.h"

struct gpu_binary; /* gpu_store.h */

enum gpu_program_state { GPU_PROGRAM_QUEUED, GPU_PROGRAM_IN_WORK, GPU_PROGRAM_BUILT, GPU_PROGRAM_FAILED };

struct gpu_program {
    struct gpu_program *next; /* of the registry: newest first */
    struct gpu_program *then; /* of the queue */
    const struct gpu_source *source;
    const struct gpu_package *package; /* whose source it is; NULL: this library's own */
    const struct gpu_binary *binary;   /* what the cache or the repository has of it; NULL: nothing */
    enum gpu_program_state state;
    cl_program handle; /* NULL: the driver made none */
    cl_int error;      /* why it failed */
    bool is_used;      /* by a graph; else it is built to be measured */
    bool is_reported;  /* that it failed: who asks again gets another one */
    char options[];
};

void gpu_builders_init(struct gpu_context *context);
/* Programs that nobody has begun with stay unbuilt. */
void gpu_builders_end(struct gpu_context *context);

/* The lock is held: the program is built by and by, of its binary, else of its source. */
void gpu_program_queue(struct gpu_context *context, struct gpu_program *program);
/* The lock is held, and released in between: when the function returns, the program is built or has failed. Whoever
 * waits builds what is queued meanwhile. */
void gpu_program_wait(struct gpu_context *context, struct gpu_program *program);

#endif
