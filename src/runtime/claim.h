/* SPDX-License-Identifier: Apache-2.0 */
/* Who executes which nodes: the nodes that the wanted tensors depend on, divided among backends. */
#ifndef RUNTIME_CLAIM_H
#define RUNTIME_CLAIM_H

#include "runtime/backend.h"

/* The nodes that some tensors depend on, and the tensors that these nodes read and write. */
struct needed {
    const node_id *nodes; /* in execution order */
    size_t n_nodes;
    bool *used; /* per tensor: a node reads or writes it, or it is wanted */
};

/* Walks back from the wanted tensors. */
struct needed needed_nodes(struct arena *arena, const struct graph *g, const tensor_id *wanted, size_t n_wanted);

/* A backend that takes part in an execution. */
struct opened {
    const struct backend *backend;
    void *state;
};

/* A group of nodes and who executes it. */
struct claimed {
    uint32_t backend; /* index into claims.backends */
    struct group group;
};

/* A backend that did not take a node. */
struct refusal {
    node_id node;
    uint32_t backend;
    const char *reason;
};

struct division {
    const struct opened *backends;
    uint32_t n_backends;
    VEC(struct claimed) list; /* in execution order: by the groups' last nodes */
    VEC(struct refusal) refusals;
};

/* Divides the needed nodes, among which `uses` was made; `observed` (per tensor, or NULL) counts as wanted. A node that
 * nobody takes is an error (ODLC_ERR_UNSUPPORTED), with the last backend's reason; all of them are reported. A group
 * that cannot stand where its last node stands is a defect of its backend (ODLC_ERR_INTERNAL). */
odlc_status claim_nodes(const struct backend_scope *scope, const struct needed *needed, const struct uses *uses,
                        const tensor_id *wanted, size_t n_wanted, const bool *observed,
                        struct division *claims) MUST_USE;

#endif
