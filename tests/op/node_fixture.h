/* SPDX-License-Identifier: Apache-2.0 */
/* One node at a time: a graph whose inputs carry elements, the node run by its kernel, and its axis rule tried by
 * execution. Expectations come from loops over positions written here, not from the code under test. */
#ifndef TESTS_OP_NODE_FIXTURE_H
#define TESTS_OP_NODE_FIXTURE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "build/build.h"
#include "kernel/eval.h"
#include "op/infer.h"
#include "op/params.h"

#define FIXTURE_TENSORS 64

struct fixture {
    struct arena *arena;
    struct diags diags;
    struct graph *graph;
    struct build build;
    void *data[FIXTURE_TENSORS]; /* of inputs, by tensor id */
    uint32_t seed;
};

static inline struct fixture *fixture_start(uint32_t seed)
{
    struct arena *arena = arena_create();
    struct fixture *f = arena_new(arena, struct fixture);
    f->arena = arena;
    f->seed = seed;
    diags_init(&f->diags, arena);
    f->graph = graph_create(arena, "test");
    build_init(&f->build, f->graph, &f->diags);
    return f;
}

static inline void fixture_end(struct fixture *f)
{
    arena_destroy(f->arena);
}

/* A number in [low, high]. */
static inline int64_t draw(struct fixture *f, int64_t low, int64_t high)
{
    f->seed = f->seed * 1664525u + 1013904223u;
    return low + (int64_t)((f->seed >> 8) % (uint32_t)(high - low + 1));
}

static inline struct shape draw_shape(struct fixture *f, uint32_t rank, int64_t largest)
{
    struct shape shape = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        shape.dims[i] = draw(f, 1, largest);
    return shape;
}

static inline struct perm draw_perm(struct fixture *f, uint32_t rank)
{
    struct perm p = perm_identity(rank);
    for (uint32_t i = rank; i > 1; i--) {
        uint32_t j = (uint32_t)draw(f, 0, i - 1);
        uint8_t axis = p.axis[i - 1];
        p.axis[i - 1] = p.axis[j];
        p.axis[j] = axis;
    }
    return p;
}

static inline size_t size_of(enum dtype dtype)
{
    return dtype == DT_STRING ? sizeof(char *) : dtype_size(dtype);
}

/* A graph input with these elements. */
static inline tensor_id input_with(struct fixture *f, enum dtype dtype, struct shape shape, const void *elements)
{
    struct type type = {.dtype = dtype, .shape = shape};
    tensor_id id = graph_add_tensor(f->graph, "in", TENSOR_INPUT, &type);
    ck_assert_uint_lt(id, FIXTURE_TENSORS);
    f->data[id] = arena_memdup(f->arena, elements, shape_count(&shape) * size_of(dtype));
    return id;
}

/* A graph input of arbitrary bits. */
static inline tensor_id input_of(struct fixture *f, enum dtype dtype, struct shape shape)
{
    size_t size = shape_count(&shape) * size_of(dtype);
    uint8_t *bytes = arena_alloc(f->arena, size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)draw(f, 0, 255);
    return input_with(f, dtype, shape, bytes);
}

static inline struct node *producer_of(const struct fixture *f, tensor_id out)
{
    node_id id = graph_tensor(f->graph, out)->producer;
    ck_assert_uint_ne(id, NO_NODE);
    return graph_node(f->graph, id);
}

/* Runs the node; its outputs' elements, one buffer each. */
static inline struct buffer *run_node(struct fixture *f, const struct node *n, odlc_status expected)
{
    struct buffer *in = arena_array(f->arena, struct buffer, n->n_inputs);
    struct buffer *out = arena_array(f->arena, struct buffer, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(f->graph, n, i);
        in[i] = (struct buffer){.dtype = DT_NONE};
        if (!t)
            continue;
        in[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .data = f->data[n->inputs[i]]};
        if (t->kind == TENSOR_STATIC)
            in[i].data = (void *)(uintptr_t)view_load(f->arena, t->view, t->type->dtype);
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(f->graph, n, i);
        out[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape};
        out[i].data = arena_calloc(f->arena, shape_count(&t->type->shape), size_of(t->type->dtype));
    }
    ck_assert_int_eq(eval_node(n, in, out, f->arena, &f->diags), expected);
    return out;
}

/* Position i of a row-major tensor as one index per axis, and back. */
static inline void unravel(uint64_t i, const struct shape *shape, int64_t index[MAX_RANK])
{
    for (uint32_t d = shape->rank; d-- > 0; i /= (uint64_t)shape->dims[d])
        index[d] = (int64_t)(i % (uint64_t)shape->dims[d]);
}

static inline uint64_t ravel(const int64_t index[MAX_RANK], const struct shape *shape)
{
    uint64_t i = 0;
    for (uint32_t d = 0; d < shape->rank; d++)
        i = i * (uint64_t)shape->dims[d] + (uint64_t)index[d];
    return i;
}

/* Element a of one buffer is element b of the other, bit by bit. */
static inline bool same_element(enum dtype dtype, const void *x, uint64_t a, const void *y, uint64_t b)
{
    size_t size = size_of(dtype);
    return memcmp((const char *)x + a * size, (const char *)y + b * size, size) == 0;
}

/* The elements in another order of axes: result axis i is axis perm[i]. */
static inline void *permuted_copy(struct fixture *f, enum dtype dtype, const void *from, const struct shape *shape,
                                  const struct perm *perm)
{
    size_t size = size_of(dtype);
    struct shape stored = perm_apply(perm, shape);
    uint8_t *to = arena_calloc(f->arena, shape_count(shape), size);
    for (uint64_t i = 0; i < shape_count(shape); i++) {
        int64_t there[MAX_RANK], here[MAX_RANK];
        unravel(i, &stored, there);
        for (uint32_t d = 0; d < shape->rank; d++)
            here[perm->axis[d]] = there[d];
        memcpy(to + i * size, (const uint8_t *)from + ravel(here, shape) * size, size);
    }
    return to;
}

/* Runs the node, then again with its inputs delivered in perm and the params that the axis rule gives: the outputs must
 * be the same, in the permutation that the rule promises. */
static inline void check_axis_rule(struct fixture *f, struct node *n, const struct perm *perm)
{
    struct buffer *before = run_node(f, n, ODLC_OK);
    struct perm out;
    ck_assert(n->op->permute(f->graph, n, perm, &out));
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        if (n->op->permuted && !(n->op->permuted >> i & 1))
            continue;
        struct tensor *t = graph_tensor(f->graph, n->inputs[i]);
        f->data[n->inputs[i]] = permuted_copy(f, t->type->dtype, f->data[n->inputs[i]], &t->type->shape, perm);
        const struct shape shape = perm_apply(perm, &t->type->shape);
        graph_set_shape(f->graph, n->inputs[i], &shape);
    }
    struct type *types = arena_array(f->arena, struct type, n->n_outputs);
    struct infer infer = {.graph = f->graph, .node = n, .out = types, .diags = &f->diags};
    ck_assert_int_eq(n->op->infer(&infer), ODLC_OK);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        struct shape promised = perm_apply(&out, &before[i].shape);
        ck_assert(shape_equal(&promised, &types[i].shape));
        graph_tensor(f->graph, n->outputs[i])->type = graph_type(f->graph, types[i].dtype, &types[i].shape);
    }
    struct buffer *after = run_node(f, n, ODLC_OK);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        enum dtype dtype = before[i].dtype;
        const void *expected = permuted_copy(f, dtype, before[i].data, &before[i].shape, &out);
        ck_assert_mem_eq(after[i].data, expected, shape_count(&after[i].shape) * size_of(dtype));
    }
}

#endif
