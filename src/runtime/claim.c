/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/claim.h"

#include "op/op.h"

struct needed needed_nodes(struct arena *arena, const struct graph *g, const tensor_id *wanted, size_t n_wanted)
{
    struct needed needed = {.used = arena_array(arena, bool, g->tensors.count)};
    node_id *nodes = arena_array(arena, node_id, g->order.count);
    size_t first = g->order.count;
    for (size_t i = 0; i < n_wanted; i++)
        needed.used[wanted[i]] = true;
    for (size_t i = g->order.count; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.data[i]);
        bool is_needed = false;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            is_needed |= n->outputs[k] != NO_TENSOR && needed.used[n->outputs[k]];
        if (!is_needed)
            continue;
        nodes[--first] = g->order.data[i];
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                needed.used[n->inputs[k]] = true;
    }
    needed.nodes = nodes + first;
    needed.n_nodes = g->order.count - first;
    return needed;
}

struct dividing {
    struct claiming view; /* what backends see */
    bool *is_free;
    uint32_t *claim_of; /* per node: 1 + the index of its claim; 0: none */
    struct division *claims;
};

/* Marks the group's nodes as taken; false when one of them is not there to be taken. */
static bool take_group(struct dividing *d, const struct claimed *claim, uint32_t index)
{
    for (size_t i = 0; i < claim->group.nodes.count; i++) {
        node_id id = claim->group.nodes.data[i];
        if (!d->is_free[id])
            return false;
        d->is_free[id] = false;
        d->claim_of[id] = index + 1;
    }
    return claim->group.nodes.count > 0;
}

static odlc_status bad_group(const struct backend_scope *scope, const struct backend *backend, node_id node)
{
    return diag_error(scope->diags, ODLC_ERR_INTERNAL, AT(.node = graph_node(scope->graph, node)->name),
                      "backend-group", "backend %s took this node with others that it cannot be executed with",
                      backend->name);
}

static odlc_status nobody_takes(const struct backend_scope *scope, const struct node *n, const char *reason)
{
    const char *hint =
        n->op->package ? "tensors that do not depend on it can be computed: choose them as results" : NULL;
    return diag_error(scope->diags, ODLC_ERR_UNSUPPORTED, AT(.node = n->name, .hint = hint), "run-no-kernel", "%s",
                      reason ? reason : "no backend executes this node");
}

/* Asks one backend after the other. */
static odlc_status claim_node(struct dividing *d, node_id id)
{
    const struct backend_scope *scope = d->view.scope;
    struct division *claims = d->claims;
    const char *reason = NULL;
    for (uint32_t b = 0; b < claims->n_backends; b++) {
        const struct opened *opened = &claims->backends[b];
        struct claimed claim = {.backend = b};
        if (opened->backend->claim(opened->state, &d->view, id, &claim.group)) {
            if (!take_group(d, &claim, (uint32_t)claims->list.count) || d->is_free[id])
                return bad_group(scope, opened->backend, id);
            vec_push(scope->arena, &claims->list, claim);
            return ODLC_OK;
        }
        reason = claim.group.reason;
        vec_push(scope->arena, &claims->refusals, (struct refusal){id, b, reason});
    }
    return nobody_takes(scope, graph_node(scope->graph, id), reason);
}

/* Puts claims in the order of their last nodes. */
static void order_claims(struct dividing *d, const struct needed *needed)
{
    struct division *claims = d->claims;
    const struct backend_scope *scope = d->view.scope;
    size_t *left = arena_array(scope->scratch, size_t, claims->list.count);
    struct claimed *ordered = arena_array(scope->arena, struct claimed, claims->list.count);
    size_t n_ordered = 0;
    for (size_t i = 0; i < claims->list.count; i++)
        left[i] = claims->list.data[i].group.nodes.count;
    for (size_t i = 0; i < needed->n_nodes; i++) {
        uint32_t claim = d->claim_of[needed->nodes[i]] - 1;
        if (--left[claim] == 0)
            ordered[n_ordered++] = claims->list.data[claim];
    }
    for (size_t i = 0; i < n_ordered; i++)
        claims->list.data[i] = ordered[i];
}

/* What a node reads must have been computed: by its own group before it, or by a group before that. */
static odlc_status check_order(const struct backend_scope *scope, const struct division *claims)
{
    const struct graph *g = scope->graph;
    bool *computed = arena_array(scope->scratch, bool, g->tensors.count);
    for (size_t c = 0; c < claims->list.count; c++) {
        const struct claimed *claim = &claims->list.data[c];
        for (size_t i = 0; i < claim->group.nodes.count; i++) {
            const struct node *n = graph_node(g, claim->group.nodes.data[i]);
            for (uint32_t k = 0; k < n->n_inputs; k++) {
                const struct tensor *t = node_input(g, n, k);
                if (t && t->producer != NO_NODE && !computed[n->inputs[k]])
                    return bad_group(scope, claims->backends[claim->backend].backend, claim->group.nodes.data[i]);
            }
            for (uint32_t k = 0; k < n->n_outputs; k++)
                if (n->outputs[k] != NO_TENSOR)
                    computed[n->outputs[k]] = true;
        }
    }
    return ODLC_OK;
}

odlc_status claim_nodes(const struct backend_scope *scope, const struct needed *needed, const struct uses *uses,
                        const tensor_id *wanted, size_t n_wanted, const bool *observed, struct division *claims)
{
    const struct graph *g = scope->graph;
    struct arena_mark mark = arena_mark(scope->scratch);
    bool *is_wanted = arena_array(scope->scratch, bool, g->tensors.count);
    bool *is_free = arena_array(scope->scratch, bool, g->nodes.count);
    struct dividing d = {.view = {.scope = scope, .uses = uses, .wanted = is_wanted, .is_free = is_free},
                         .is_free = is_free,
                         .claim_of = arena_array(scope->scratch, uint32_t, g->nodes.count),
                         .claims = claims};
    odlc_status status = ODLC_OK;
    for (size_t t = 0; observed && t < g->tensors.count; t++)
        is_wanted[t] = observed[t];
    for (size_t i = 0; i < n_wanted; i++)
        is_wanted[wanted[i]] = true;
    for (size_t i = 0; i < needed->n_nodes; i++)
        is_free[needed->nodes[i]] = true;
    for (size_t i = 0; i < needed->n_nodes; i++) {
        odlc_status claimed = is_free[needed->nodes[i]] ? claim_node(&d, needed->nodes[i]) : ODLC_OK;
        status = status == ODLC_OK ? claimed : status;
    }
    if (status == ODLC_OK) {
        order_claims(&d, needed);
        status = check_order(scope, claims);
    }
    arena_rewind(scope->scratch, mark);
    return status;
}
