/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors, each kept once: the tensors of a graph share few types, and a type takes more room than all else
 * that a tensor has. */
#ifndef IR_TYPES_H
#define IR_TYPES_H

#include "ir/dtype.h"
#include "ir/shape.h"

struct type {
    enum dtype dtype;
    struct shape shape;
};

struct type_set {
    struct arena *arena;
    const struct type **slots; /* NULL: free */
    size_t capacity, count;
    const struct type *last; /* the one that was asked for before: mostly the same again */
};

void type_set_init(struct type_set *set, struct arena *arena);
/* The set's copy of the type, which lives as long as the arena: equal types are the same pointer. */
const struct type *type_set_get(struct type_set *set, enum dtype dtype, const struct shape *shape);
/* Whether the set has a type of which that is true. */
bool type_set_any(const struct type_set *set, bool (*is)(const struct type *type));

#endif
