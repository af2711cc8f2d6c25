/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of an execution, and where the tensors lie that go from one to another. */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "runtime/claim.h"

#define PLAN_NOWHERE UINT64_MAX

/* A space is a kind of memory with a block of its own: that of the host, and one for each backend that has another. */
enum { HOST_SPACE = 0 };

enum step_kind {
    STEP_GROUP,   /* a backend computes a group */
    STEP_UPLOAD,  /* a tensor goes from the host's memory to a backend's */
    STEP_DOWNLOAD /* and back */
};

struct plan_step {
    enum step_kind kind;
    uint32_t backend;          /* index into claims.backends: whose group, or whose memory */
    const struct group *group; /* STEP_GROUP */
    struct step_io io;
    tensor_id tensor; /* of a copy */
    bool is_idle;     /* the result is the input, and lies there (SHARING_ELEMENTS) */
};

struct plan_space {
    uint64_t *offsets; /* per tensor: its place in the block, or PLAN_NOWHERE */
    uint64_t *sizes;   /* per tensor: of its place, bytes */
    uint64_t size;     /* of the block, bytes: tensors that are never alive together share them */
};

struct plan {
    VEC(struct plan_step) steps;
    struct plan_space *spaces; /* HOST_SPACE, then 1 + the index of a backend */
    uint32_t n_spaces;
    uint8_t *dtypes; /* per tensor: enum dtype of its elements in its place, which the graph may call otherwise */
};

/* Lays out the execution of claims; `uses` is among their nodes. Tensors that are wanted keep their place in the host's
 * memory to the end, observed ones (per tensor) as long as they are read, or until their step is over. The graph's
 * inputs and constants have no place in the block: they outlive a run. ODLC_ERR_LIMIT when a block would not fit in the
 * address space. */
odlc_status plan_make(const struct backend_scope *scope, const struct division *claims, const struct uses *uses,
                      const tensor_id *wanted, size_t n_wanted, const bool *observed, struct plan *out) MUST_USE;

/* The space of a backend's steps. */
uint32_t plan_space_of(const struct division *claims, uint32_t backend);

/* Bytes of a tensor's elements in memory; strings are pointers. */
uint64_t tensor_bytes(const struct type *type);
/* The same in its place. */
uint64_t plan_bytes(const struct plan *plan, const struct graph *g, tensor_id id);

#endif
