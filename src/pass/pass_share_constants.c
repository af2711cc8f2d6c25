/* SPDX-License-Identifier: Apache-2.0 */
/* Large constants with the same elements are one: weights that a model ties, also where one of them stood behind a
 * Transpose or is stored transposed, and initializers that exporters write twice. One that MatMuls alone read, and that
 * is the transposed other, gives way to that, too: the MatMuls transpose what they read. Small constants, and those of
 * one repeated element, stay apart: they keep the names that the model, or a layer without a bias, gives them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ir/quant.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/same_elements.h"

pass_fn pass_share_constants;

enum { LEAST_BYTES = 4096 }; /* fewer are not worth a name */

/* A constant, or the matrix that is its transpose. */
struct candidate {
    uint64_t likeness; /* equal for equal elements, and seldom for others */
    tensor_id id;
    bool transposed;
};

struct sharing {
    struct graph *g;
    struct aliases aliases;
    tensor_id *transpose_of; /* by tensor: the constant whose transpose takes its place, or NO_TENSOR */
    bool *kept;              /* by tensor: others have become it */
    bool joined;
};

static int by_likeness(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->likeness != y->likeness)
        return x->likeness < y->likeness ? -1 : 1;
    if (x->transposed != y->transposed)
        return x->transposed ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_candidate(const struct tensor *t)
{
    const struct view *view = t->view;
    return t->kind == TENSOR_STATIC && view->bytes && !view->splat &&
           shape_count(&view->shape) * dtype_size(view->dtype) >= LEAST_BYTES;
}

static struct view value_of(const struct tensor *t, bool transposed)
{
    const struct perm swap = PERM(1, 0);
    struct view view = *t->view;
    if (transposed)
        view_permute(&view, &swap);
    return view;
}

static uint64_t likeness_of(const struct tensor *t, bool transposed)
{
    static const uint64_t key[2] = {0, 0}; /* who makes constants alike on purpose gains nothing but comparisons */
    const struct view view = value_of(t, transposed);
    const struct shape shape = view_shape(&view);
    struct {
        uint64_t type, source, rank, sample;
        int64_t dims[MAX_RANK];
    } facts = {.type = t->type->dtype, .source = view.dtype, .rank = shape.rank, .sample = sample_elements(&view)};
    memcpy(facts.dims, shape.dims, facts.rank * sizeof *facts.dims);
    return hash_bytes(key, &facts, sizeof facts);
}

/* Encodings and factors that belong to indices of an axis stay with the axis. */
static bool same_constant(const struct tensor *a, const struct tensor *b, bool b_transposed)
{
    const struct view x = value_of(a, false), y = value_of(b, b_transposed);
    const bool as_they_are = !b_transposed && perm_equal(&x.perm, &y.perm);
    const bool scaled_alike =
        x.scale == y.scale && x.zero == y.zero &&
        (!x.scale || (x.scale_axis == y.scale_axis && (as_they_are || x.scale_axis == SCALE_WHOLE)));
    return a->type->dtype == b->type->dtype && quant_equal(a->quant, b->quant) &&
           (!b_transposed || !a->quant || !a->quant->per_axis) &&
           (a->quant ? a->quant->overridden : 0) == (b->quant ? b->quant->overridden : 0) && scaled_alike &&
           same_elements(&x, &y);
}

static void join_one(struct sharing *s, tensor_id first, const struct candidate *c)
{
    if (c->transposed)
        s->transpose_of[c->id] = first;
    else
        s->aliases.to[c->id] = first;
    s->kept[first] = true;
    s->joined = true;
}

/* Among candidates that are alike: each becomes the first that it equals. What gives way is no first, and what is kept
 * does not give way. */
static void join(struct sharing *s, const struct candidate *run, size_t count)
{
    enum { MOST_TRIED = 8 }; /* alike, and yet others */
    tensor_id firsts[MOST_TRIED];
    size_t n_firsts = 0;
    for (size_t i = 0; i < count; i++) {
        const tensor_id id = run[i].id;
        const struct tensor *t = graph_tensor(s->g, id);
        size_t k = 0;
        if (s->transpose_of[id] != NO_TENSOR || (run[i].transposed && (s->kept[id] || s->aliases.to[id] != id)))
            continue;
        while (k < n_firsts && (firsts[k] == id || !same_constant(graph_tensor(s->g, firsts[k]), t, run[i].transposed)))
            k++;
        if (k < n_firsts)
            join_one(s, firsts[k], &run[i]);
        else if (n_firsts < MOST_TRIED && !run[i].transposed)
            firsts[n_firsts++] = id;
    }
}

/* ---- who reads constants ---- */

enum { READ = 1, READ_AS_IT_IS = 2 }; /* bits */

static bool can_transpose(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return !n->op->package && node_is(n, OP_MatMul) && i < 2 && t->type->shape.rank == 2;
}

static uint8_t *find_readers(struct arena *scratch, const struct graph *g)
{
    uint8_t *read = arena_array(scratch, uint8_t, g->tensors.count);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                read[n->inputs[k]] |= can_transpose(g, n, k) ? READ : READ | READ_AS_IT_IS;
    }
    return read;
}

static void read_transposed(struct sharing *s, node_id id)
{
    static const enum param_id flags[] = {PARAM_transpose_in0, PARAM_transpose_in1};
    struct graph *g = s->g;
    for (uint32_t k = 0; k < graph_node(g, id)->n_inputs; k++) {
        struct node *n = graph_node(g, id);
        const tensor_id with = n->inputs[k] == NO_TENSOR ? NO_TENSOR : s->transpose_of[n->inputs[k]];
        if (with == NO_TENSOR)
            continue;
        const uint32_t place = (uint32_t)op_param_place(n->op, flags[k]);
        const struct param flag = {.set = true,
                                   .usage = 1,
                                   .name = n->op->params[place].name,
                                   .dtype = DT_BOOL,
                                   .i = !node_int(n, flags[k], 0)};
        node_set_param(g, n, place, &flag);
        graph_replace_input(g, id, k, with);
    }
}

/* Whether there are two. */
static bool has_candidates(const struct graph *g)
{
    uint32_t found = 0;
    for (tensor_id id = 0; id < g->tensors.count && found < 2; id++)
        found += is_candidate(graph_tensor(g, id));
    return found == 2;
}

odlc_status pass_share_constants(struct pass_context *c, struct graph *g)
{
    VEC(struct candidate) all = {0};
    if (!has_candidates(g))
        return ODLC_OK;
    const uint8_t *read = find_readers(c->scratch, g);
    struct sharing s = {.g = g, .aliases = aliases_start(c->scratch, g)};
    s.transpose_of = arena_array(c->scratch, tensor_id, g->tensors.count);
    s.kept = arena_array(c->scratch, bool, g->tensors.count);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        s.transpose_of[id] = NO_TENSOR;
        if (!read[id] || !is_candidate(t))
            continue;
        vec_push(c->scratch, &all, ((struct candidate){likeness_of(t, false), id, false}));
        if (!(read[id] & READ_AS_IT_IS))
            vec_push(c->scratch, &all, ((struct candidate){likeness_of(t, true), id, true}));
    }
    if (all.count)
        qsort(all.data, all.count, sizeof *all.data, by_likeness);
    for (size_t i = 0, end; i < all.count; i = end) {
        for (end = i + 1; end < all.count && all.data[end].likeness == all.data[i].likeness;)
            end++;
        join(&s, all.data + i, end - i);
    }
    for (size_t i = 0; s.joined && i < g->order.count; i++) {
        aliases_apply(&s.aliases, g->order.data[i]);
        read_transposed(&s, g->order.data[i]);
    }
    return ODLC_OK;
}
