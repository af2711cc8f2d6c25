/* What has to be executed for a set of tensors, and where the results lie in memory. */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "op/op.h"

#define PLAN_NOWHERE UINT64_MAX

struct plan {
    const node_id *steps; /* the nodes that the wanted tensors depend on, in execution order */
    size_t n_steps;
    const bool *used;        /* per tensor: a step reads or writes it, or it is wanted */
    const uint64_t *offsets; /* per tensor: place of a computed one in the pool; PLAN_NOWHERE for all others */
    uint64_t pool_size;      /* bytes; tensors that are never alive together share them */
};

/* Plans the computation of `wanted`. Tensors of the graph's inputs and constants have no place in the pool: they
 * outlive a run. Fails only when the pool would not fit in the address space. */
odlc_status plan_make(struct arena *arena, struct diags *diags, const struct graph *g, const tensor_id *wanted,
                      size_t n_wanted, struct plan *out) MUST_USE;

/* Bytes of a tensor's elements in memory; strings are pointers. */
uint64_t tensor_bytes(const struct type *type);

#endif
