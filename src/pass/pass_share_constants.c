/* SPDX-License-Identifier: Apache-2.0 */
/* Large constants with the same elements are one: weights that a model ties, also where one of them stood behind a
 * Transpose, and initializers that exporters write twice. Small ones, and those of one repeated element, stay apart:
 * they keep the names that the model, or a layer without a bias, gives them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ir/quant.h"
#include "op/op.h"
#include "pass/alias.h"

pass_fn pass_share_constants;

enum {
    LEAST_BYTES = 4096, /* fewer are not worth a name */
    SAMPLE = 64         /* bytes from each end that are looked at before all of them are */
};

struct candidate {
    uint64_t likeness; /* equal for equal constants, and seldom for others */
    tensor_id id;
};

static int by_likeness(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->likeness != y->likeness)
        return x->likeness < y->likeness ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static uint64_t source_size(const struct view *view)
{
    return shape_count(&view->shape) * dtype_size(view->dtype);
}

static bool is_candidate(const struct tensor *t)
{
    return t->kind == TENSOR_STATIC && t->view->bytes && !t->view->splat && source_size(t->view) >= LEAST_BYTES;
}

static uint64_t likeness_of(const struct tensor *t)
{
    static const uint64_t key[2] = {0, 0}; /* who makes constants alike on purpose gains nothing but comparisons */
    const struct view *view = t->view;
    const uint64_t size = source_size(view);
    struct {
        uint64_t type, size, rank, ends[2];
        int64_t dims[MAX_RANK];
    } facts = {.type = t->type->dtype, .size = size, .rank = t->type->shape.rank};
    memcpy(facts.dims, t->type->shape.dims, facts.rank * sizeof *facts.dims);
    facts.ends[0] = hash_bytes(key, view->bytes, SAMPLE);
    facts.ends[1] = hash_bytes(key, view->bytes + size - SAMPLE, SAMPLE);
    return hash_bytes(key, &facts, sizeof facts);
}

/* The same work on the same source, or on sources with the same bytes. */
static bool same_value(const struct view *a, const struct view *b)
{
    const bool same_work = a->dtype == b->dtype && shape_equal(&a->shape, &b->shape) &&
                           perm_equal(&a->perm, &b->perm) && a->scale == b->scale && a->zero == b->zero &&
                           a->scale_axis == b->scale_axis;
    return same_work && (a->bytes == b->bytes || memcmp(a->bytes, b->bytes, source_size(a)) == 0);
}

static bool same_constant(const struct tensor *a, const struct tensor *b)
{
    return a->type->dtype == b->type->dtype && shape_equal(&a->type->shape, &b->type->shape) &&
           quant_equal(a->quant, b->quant) &&
           (a->quant ? a->quant->overridden : 0) == (b->quant ? b->quant->overridden : 0) &&
           same_value(a->view, b->view);
}

static bool *find_read(struct arena *scratch, const struct graph *g)
{
    bool *read = arena_array(scratch, bool, g->tensors.count);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                read[n->inputs[k]] = true;
    }
    return read;
}

/* Among candidates that are alike: each becomes the first that it equals. */
static bool join(const struct graph *g, const struct candidate *run, size_t count, struct aliases *aliases)
{
    enum { MOST_TRIED = 8 }; /* alike, and yet others */
    tensor_id firsts[MOST_TRIED];
    size_t n_firsts = 0;
    bool joined = false;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < n_firsts && !same_constant(graph_tensor(g, firsts[k]), graph_tensor(g, run[i].id)))
            k++;
        if (k < n_firsts) {
            aliases->to[run[i].id] = firsts[k];
            joined = true;
        } else if (n_firsts < MOST_TRIED) {
            firsts[n_firsts++] = run[i].id;
        }
    }
    return joined;
}

odlc_status pass_share_constants(struct pass_context *c, struct graph *g)
{
    VEC(struct candidate) all = {0};
    const bool *read = find_read(c->scratch, g);
    struct aliases aliases = aliases_start(c->scratch, g);
    bool joined = false;
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (read[id] && is_candidate(graph_tensor(g, id)))
            vec_push(c->scratch, &all, ((struct candidate){likeness_of(graph_tensor(g, id)), id}));
    if (all.count)
        qsort(all.data, all.count, sizeof *all.data, by_likeness);
    for (size_t i = 0, end; i < all.count; i = end) {
        for (end = i + 1; end < all.count && all.data[end].likeness == all.data[i].likeness;)
            end++;
        joined |= join(g, all.data + i, end - i, &aliases);
    }
    for (size_t i = 0; joined && i < g->order.count; i++)
        aliases_apply(&aliases, g->order.data[i]);
    return ODLC_OK;
}
