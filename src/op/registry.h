/* SPDX-License-Identifier: Apache-2.0 */
/* What an op type means: its row.
 *
 * Native operators have theirs in the table (op/op.h). The registry adds the rows that are made at run time: one for
 * each definition of a user-defined op, those that a package of ops brings, and those that stand for ops of a container
 * which nothing describes. Who reads or makes nodes is handed one registry and finds all rows there. */
#ifndef OP_REGISTRY_H
#define OP_REGISTRY_H

#include "base/arena.h"

struct op;
struct op_registry;
struct param_def;

/* In the arena, with native rows alone. */
struct op_registry *op_registry_new(struct arena *arena);

/* Adds a row of a package (id OP_CUSTOM, package not NULL, dlc_type the same as name) and returns the registry's copy,
 * which nodes refer to; what the row points to is borrowed. Several rows may have one package and type, as definitions
 * for several domains have: the first one is found. */
const struct op *op_registry_add(struct op_registry *registry, const struct op *row);

/* What a container says of an op. */
struct op_key {
    const char *package;  /* NULL: the native one */
    const char *type;     /* "Eltwise_Binary" */
    const char *selected; /* value of the param that tells the ops of one type apart ("ElementWiseAdd"); NULL: none */
    int64_t operation;    /* the number that newer files carry in its place; -1: none */
};

/* The row that describes the op; NULL: nothing does. */
const struct op *op_registry_find(const struct op_registry *registry, const struct op_key *key);

/* The row for an op that nothing describes: it has these params, takes and gives any number of tensors, and cannot be
 * executed. Is never found: the params are those of one op. Ops of one type that follow each other with the same params
 * share a row; of a row that is new, `params` is borrowed (row->params == params). package NULL: an unknown native
 * type. */
const struct op *op_registry_undescribed(struct op_registry *registry, const char *package, const char *type,
                                         const struct param_def *params, uint32_t n_params);

#endif
