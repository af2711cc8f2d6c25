/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that a container has as integers with scales of blocks become floats by ops of constants. These are an
 * execution of their own, whose results are constants of the graph that backends see: they pack and convert such
 * weights as others. */
#include "runtime/known.h"

#include "kernel/kernel.h"
#include "op/op.h"

struct finding {
    const struct graph *g;
    struct needed needed;
    bool *is_seen;  /* per tensor: wanted, observed, or read by a package */
    bool *is_known; /* per tensor: a constant, or computed from such alone */
    bool *is_apart; /* per node, which is computed once */
};

static bool all_known(const struct finding *f, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && !f->is_known[n->inputs[i]])
            return false;
    return n->n_inputs > 0;
}

static bool can_be_apart(const struct finding *f, const struct node *n)
{
    if (n->op->package || !kernel_of(n->op) || !all_known(f, n))
        return false;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR &&
            (f->is_seen[n->outputs[i]] || node_output(f->g, n, i)->type->dtype == DT_STRING))
            return false;
    return true;
}

/* Packages get tensors that are computed as such. */
static void see_of_packages(struct finding *f)
{
    for (size_t i = 0; i < f->needed.n_nodes; i++) {
        const struct node *n = graph_node(f->g, f->needed.nodes[i]);
        for (uint32_t in = 0; n->op->package && in < n->n_inputs; in++)
            if (n->inputs[in] != NO_TENSOR)
                f->is_seen[n->inputs[in]] = true;
    }
}

static void find_apart(struct finding *f)
{
    for (tensor_id id = 0; id < f->g->tensors.count; id++)
        f->is_known[id] = graph_tensor(f->g, id)->kind == TENSOR_STATIC;
    for (size_t i = 0; i < f->needed.n_nodes; i++) {
        const struct node *n = graph_node(f->g, f->needed.nodes[i]);
        if (!can_be_apart(f, n))
            continue;
        f->is_apart[f->needed.nodes[i]] = true;
        for (uint32_t o = 0; o < n->n_outputs; o++)
            if (n->outputs[o] != NO_TENSOR)
                f->is_known[n->outputs[o]] = true;
    }
}

/* What the node, which is computed in each run, reads of those that are not. */
static void list_results(const struct finding *f, const struct node *n, struct arena *arena, bool *is_listed,
                         struct known *out)
{
    for (uint32_t in = 0; in < n->n_inputs; in++) {
        const tensor_id id = n->inputs[in];
        const node_id producer = id == NO_TENSOR ? NO_NODE : graph_tensor(f->g, id)->producer;
        if (producer == NO_NODE || !f->is_apart[producer] || is_listed[id])
            continue;
        is_listed[id] = true;
        vec_push(arena, &out->results, id);
    }
}

struct known known_find(struct arena *arena, struct arena *scratch, const struct graph *g, const tensor_id *wanted,
                        size_t n_wanted, const bool *observed)
{
    const size_t n_tensors = g->tensors.count;
    struct known out = {.g = g};
    struct arena_mark mark = arena_mark(scratch);
    struct finding f = {.g = g,
                        .needed = needed_nodes(scratch, g, wanted, n_wanted),
                        .is_seen = arena_array(scratch, bool, n_tensors),
                        .is_known = arena_array(scratch, bool, n_tensors),
                        .is_apart = arena_array(scratch, bool, g->nodes.count)};
    bool *is_listed = arena_array(scratch, bool, n_tensors);
    for (size_t t = 0; observed && t < n_tensors; t++)
        f.is_seen[t] = observed[t];
    for (size_t i = 0; i < n_wanted; i++)
        f.is_seen[wanted[i]] = true;
    see_of_packages(&f);
    find_apart(&f);
    for (size_t i = 0; i < f.needed.n_nodes; i++) {
        if (f.is_apart[f.needed.nodes[i]])
            continue;
        vec_push(arena, &out.left, f.needed.nodes[i]);
        list_results(&f, graph_node(g, f.needed.nodes[i]), arena, is_listed, &out);
    }
    arena_rewind(scratch, mark);
    return out;
}

/* Tensors and order are its own; all else is that of k->g. */
const struct graph *known_graph(struct arena *arena, const struct known *k, const struct buffer *values)
{
    struct graph *out = arena_memdup(arena, k->g, sizeof *out);
    out->tensors.data = arena_memdup(arena, k->g->tensors.data, k->g->tensors.count * sizeof *out->tensors.data);
    out->order.data = arena_memdup(arena, k->left.data, k->left.count * sizeof *out->order.data);
    out->order.count = k->left.count;
    for (size_t i = 0; i < k->results.count; i++) {
        const tensor_id id = k->results.data[i];
        struct tensor *t = graph_tensor(out, id);
        t->kind = TENSOR_STATIC;
        t->producer = NO_NODE;
        t->view = arena_new(arena, struct view);
        *t->view = view_of(values[id].data, t->type->dtype, &t->type->shape);
    }
    return out;
}
