/* SPDX-License-Identifier: Apache-2.0 */
/* What executes a choice of results: an executor in this process, or one in a process of its own (api/isolated.h). */
#ifndef API_ENGINE_H
#define API_ENGINE_H

#include "opendlc/run.h"
#include "package/package.h"
#include "runtime/executor.h"

/* What is to be computed, and how. All of it outlives the engine. */
struct engine_request {
    struct arena *arena, *scratch; /* the engine is the arena's */
    struct diags *diags;
    const struct graph *graph;
    const tensor_id *wanted;
    size_t n_wanted;
    struct executor_options options;
    struct gpu_recorder *recorder; /* of kernels; NULL: they are not recorded */
};

struct engine {
    struct buffer *buffers; /* per tensor: those of needed inputs and of wanted tensors have data */
    bool *needed;           /* per tensor: the wanted ones depend on it */
    struct odlc_step *steps;
    struct odlc_refusal *refusals;
    size_t n_steps, n_refusals;
    const char *(*explanations)[2];  /* per step and enum explanation; NULL: nobody asked */
    VEC(struct odlc_kernel) kernels; /* of the last execution */
    void *state;
    struct gpu_recorder *recorder;
    odlc_status (*run)(struct engine *e); /* computes the wanted tensors, and the times of steps */
    /* As executor_lend (runtime/lend.h); NULL: the engine has no memory in common with the caller. */
    bool (*lend)(struct engine *e, const struct memory *memory, tensor_id id, void *handle);
};

/* Fails as executor_create. */
odlc_status engine_here(const struct engine_request *request, struct engine *out) MUST_USE;

#endif
