/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a graph by the backends that take its nodes.
 *
 * Constants are read where they lie in the mapped container when they are aligned; what steps exchange lies in one
 * block for each kind of memory, laid out once by the plan. */
#ifndef RUNTIME_EXECUTOR_H
#define RUNTIME_EXECUTOR_H

#include "base/progress.h"
#include "kernel/eval.h"
#include "runtime/plan.h"

/* Sees tensors as soon as they are computed, in the host's memory: steps that read them on the host come later, and
 * read what the observer leaves in value->data. Another status than ODLC_OK ends the run with it. */
struct observer {
    void *object;
    odlc_status (*see)(void *object, tensor_id id, const struct buffer *value); /* NULL: there is no observer */
};

struct executor_options {
    const struct backend *const *backends; /* in the order in which they are asked; NULL at the end */
    uint32_t threads;                      /* 0: one */
    const struct package_set *packages;    /* NULL: none */
    const struct device_ops *device_ops;   /* NULL: none */
    const struct gpu_config *gpu;          /* NULL: the GPU backend's defaults */
    bool has_own_places;                   /* no two tensors share memory; results are the same */
    uint64_t fast_memory;                  /* as in struct backend_scope */
    uint32_t slices;
    bool is_once;  /* it runs once: what depends on constants alone is computed with the rest */
    bool explains; /* backends say what they decided: struct executor's explanations */
    const struct progress
        *progress;        /* counts steps that are prepared, and those of a run; NULL: nobody wants to know */
    const bool *observed; /* per tensor: shown to the observer; NULL: none */
    struct observer observer;
};

struct executor {
    struct backend_scope scope;
    struct needed needed;
    struct division claims;
    struct plan plan;
    void **steps;           /* per step: the state that its backend prepared; NULL for copies */
    struct buffer *buffers; /* per tensor, in the host's memory; without data where the tensor has no place there */
    struct buffer **placed; /* per space but the host's: the same in that memory; NULL without one */
    uint64_t *begins;       /* per step of the last run: nanoseconds of the monotonic clock */
    uint64_t *nanoseconds;  /* … and how long it took */
    const char *(*explanations)[2]; /* per step and enum explanation; NULL where nobody asks, or nothing is said */
    const struct file *mapping;     /* that constants were read from since its pages were given back; NULL: none were */
    uint64_t unreleased;            /* bytes of these constants */
    const struct progress *progress;
    const bool *observed;
    struct observer observer;
    struct lending *lending; /* runtime/lend.h; NULL: nothing is lent */
};

/* Prepares the computation of `wanted`. The graph, its constants and the options' arrays must outlive the executor,
 * which is the arena's; rewinding that releases what backends hold. Inputs that are needed get storage, to be filled
 * through executor->buffers. ODLC_ERR_UNSUPPORTED: nobody takes a node, or a backend is not available here;
 * ODLC_ERR_INVALID: stored types that cannot be; ODLC_ERR_STOPPED: progress asked for it. */
odlc_status executor_create(struct arena *arena, struct arena *scratch, struct diags *diags, const struct graph *g,
                            const tensor_id *wanted, size_t n_wanted, const struct executor_options *options,
                            struct executor **out) MUST_USE;

/* Computes the wanted tensors; their buffers then hold the results until the next run. ODLC_ERR_STOPPED: progress asked
 * for it; another run begins anew. */
odlc_status executor_run(struct executor *e) MUST_USE;

#endif
