/* SPDX-License-Identifier: Apache-2.0 */
#include "op/registry.h"

#include <string.h>

#include "base/map.h"
#include "op/op.h"
#include "op/release.h"

struct entry {
    const struct op *row;
    uint32_t next; /* of that type; MAP_NONE: none */
    uint32_t last; /* of that type, in the entry of its first */
};

struct op_registry {
    struct arena *arena;
    VEC(struct entry) rows;
    struct map types; /* → the first entry of the type */
    VEC(const struct op *) undescribed;
    struct map last_undescribed; /* type → index of the row made last */
};

struct op_registry *op_registry_new(struct arena *arena)
{
    struct op_registry *registry = arena_new(arena, struct op_registry);
    registry->arena = arena;
    map_init(&registry->types, arena);
    map_init(&registry->last_undescribed, arena);
    return registry;
}

const struct op *op_registry_add(struct op_registry *registry, const struct op *row)
{
    struct entry entry = {.row = arena_memdup(registry->arena, row, sizeof *row), .next = MAP_NONE};
    uint32_t at = (uint32_t)registry->rows.count, first = map_add(&registry->types, row->dlc_type, at);
    entry.last = at;
    vec_push(registry->arena, &registry->rows, entry);
    if (first != MAP_NONE) {
        registry->rows.data[registry->rows.data[first].last].next = at;
        registry->rows.data[first].last = at;
    }
    return entry.row;
}

static const struct op *find_native(const struct op_key *key)
{
    const char *type = op_older_type(key->type);
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++) {
        if (strcmp(op->dlc_type, type) != 0)
            continue;
        if (!op->selector)
            return op;
        if (key->selected ? strcmp(op->name, key->selected) == 0 : op->has_operation && op->operation == key->operation)
            return op;
    }
    /* Files may also use the name in the master list as the type ("PoolMax2d" for Pool with a pool_type). */
    return op_find(key->type);
}

const struct op *op_registry_find(const struct op_registry *registry, const struct op_key *key)
{
    if (!key->package)
        return find_native(key);
    for (uint32_t i = map_get(&registry->types, key->type); i != MAP_NONE; i = registry->rows.data[i].next)
        if (strcmp(registry->rows.data[i].row->package, key->package) == 0)
            return registry->rows.data[i].row;
    return NULL;
}

static bool same_package(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_params(const struct op *row, const struct param_def *params, uint32_t n_params)
{
    bool same = row->n_params == n_params;
    for (uint32_t i = 0; same && i < n_params; i++)
        same = strcmp(row->params[i].name, params[i].name) == 0 && row->params[i].dtype == params[i].dtype &&
               row->params[i].is_tensor == params[i].is_tensor && row->params[i].supplemental == params[i].supplemental;
    return same;
}

const struct op *op_registry_undescribed(struct op_registry *registry, const char *package, const char *type,
                                         const struct param_def *params, uint32_t n_params)
{
    uint32_t last = map_get(&registry->last_undescribed, type);
    const struct op *known = last == MAP_NONE ? NULL : registry->undescribed.data[last];
    if (known && same_package(known->package, package) && same_params(known, params, n_params))
        return known;
    struct op *row = arena_new(registry->arena, struct op);
    *row = (struct op){.name = type,
                       .dlc_type = type,
                       .max_inputs = VARIADIC,
                       .max_outputs = VARIADIC,
                       .params = params,
                       .n_params = n_params,
                       .package = package};
    map_put(&registry->last_undescribed, type, (uint32_t)registry->undescribed.count);
    vec_push(registry->arena, &registry->undescribed, (const struct op *)row);
    return row;
}
