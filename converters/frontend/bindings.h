/* SPDX-License-Identifier: Apache-2.0 */
/* What names stand for while graphs within graphs are walked: a definition hides those of the graphs around it until
 * its own graph is left. Definitions are numbered in their order, like a stack; what they mean is kept by the user, in
 * arrays of its own by that number. */
#ifndef CONVERTERS_FRONTEND_BINDINGS_H
#define CONVERTERS_FRONTEND_BINDINGS_H

#include "converters/frontend/fw_graph.h"

#define NOT_BOUND UINT32_MAX

struct binding {
    fw_name name;
    uint32_t hidden; /* the definition that this one hides, or NOT_BOUND */
};

struct bindings {
    struct arena *arena;
    uint32_t *innermost;      /* per name: its definition's number + 1; 0: none */
    uint32_t count;           /* of the definitions at work */
    uint32_t inside;          /* how many graphs within others are walked */
    VEC(struct binding) list; /* their definitions, the last ones: the outermost graph is never left */
};

static inline void bindings_init(struct bindings *b, struct arena *arena, uint32_t n_names)
{
    *b = (struct bindings){.arena = arena, .innermost = arena_array(arena, uint32_t, n_names)};
}

/* The number of the definition that is seen, or NOT_BOUND. */
static inline uint32_t bindings_find(const struct bindings *b, fw_name name)
{
    return b->innermost[name] - 1;
}

/* Adds a definition; its number is `count` before. */
static inline void bindings_add(struct bindings *b, fw_name name)
{
    if (b->inside)
        vec_push(b->arena, &b->list, (struct binding){.name = name, .hidden = bindings_find(b, name)});
    b->innermost[name] = ++b->count;
}

/* A graph within another one begins. Gives the number of its first definition, for bindings_leave. */
static inline uint32_t bindings_enter(struct bindings *b)
{
    b->inside++;
    return b->count;
}

/* Takes back the definitions of a graph within another one. */
static inline void bindings_leave(struct bindings *b, size_t first)
{
    for (; b->count > first; b->count--) {
        const struct binding *last = &b->list.data[--b->list.count];
        b->innermost[last->name] = last->hidden + 1;
    }
    b->inside--;
}

#endif
