/* Runs a graph with the reference kernels of its rows, on one thread.
 *
 * Constants are read where they lie in the mapped container when they are aligned; the results of nodes share one pool
 * of memory, laid out once by the plan. */
#ifndef RUNTIME_EXECUTOR_H
#define RUNTIME_EXECUTOR_H

#include "op/eval.h"
#include "runtime/plan.h"

struct executor {
    struct arena *arena, *scratch; /* scratch is empty between steps */
    struct diags *diags;
    const struct graph *g;
    struct plan plan;
    struct buffer *buffers; /* per tensor; without data when the plan does not use it */
    uint64_t *nanoseconds;  /* per step, of the last run */
    uint64_t unreleased;    /* bytes of mapped constants read since their pages were given back */
};

/* Prepares the computation of `wanted`. The graph and its constants must outlive the executor. Inputs that the plan
 * uses get storage, to be filled through executor->buffers. */
odlc_status executor_create(struct arena *arena, struct arena *scratch, struct diags *diags, const struct graph *g,
                            const tensor_id *wanted, size_t n_wanted, struct executor **out) MUST_USE;

/* Computes the wanted tensors; their buffers then hold the results until the next run. */
odlc_status executor_run(struct executor *e) MUST_USE;

#endif
