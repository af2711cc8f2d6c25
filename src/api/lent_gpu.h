/* SPDX-License-Identifier: Apache-2.0 */
/* Registered buffers of a context object, and the tensors of a run that lie in them. */
#ifndef API_LENT_GPU_H
#define API_LENT_GPU_H

#include "api/engine.h"
#include "api/shared_gpu.h"

/* The tensors of a choice of results that lie in memory of the caller's. All zeros: none. */
struct gpu_loans {
    VEC(struct gpu_loan) list;
};

struct gpu_loan {
    tensor_id tensor;
    odlc_gpu_memory *memory; /* NULL: none any more */
};

/* Whether the tensor lies in registered memory. */
bool gpu_loans_have(const struct gpu_loans *loans, tensor_id id);
/* odlc_run_set_memory of a tensor that the run has as an input (else a result); loans, in the engine's arena, end with
 * it. gpu: the run's, NULL: none. */
odlc_status gpu_loans_set(struct gpu_loans *loans, struct arena *arena, struct diags *diags, struct engine *engine,
                          const odlc_gpu *gpu, const struct tensor *tensor, tensor_id id,
                          odlc_gpu_memory *memory) MUST_USE;

/* Ends all registrations. */
void gpu_memories_drop(odlc_gpu *gpu);

#endif
