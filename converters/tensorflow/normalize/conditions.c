/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/conditions.h"

#include <string.h>

#include "converters/tensorflow/schema/merge_sides.h"

enum { MAX_TERMS = 64 }; /* conditionals within conditionals */

bool is_switch(const char *op)
{
    return op_is(op, "Switch") || op_is(op, "RefSwitch") || op_is(op, "_SwitchN");
}

bool is_merge(const char *op)
{
    return op_is(op, "Merge") || op_is(op, "RefMerge");
}

/* ---- conditions ---- */

static const struct condition *unclear(void)
{
    static const struct condition any = {.kind = CONDITION_UNCLEAR};
    return &any;
}

static const struct condition *never(void)
{
    static const struct condition none = {.kind = CONDITION_NEVER};
    return &none;
}

/* The one object for the terms. */
static const struct condition *intern(struct normalize *nz, const struct condition_term *terms, uint32_t count)
{
    struct arena *arena = nz->m->memory.scratch;
    if (count == 0)
        return NULL;
    if (count > MAX_TERMS)
        return unclear();
    struct arena_mark mark = arena_mark(arena);
    text key = {0};
    for (uint32_t i = 0; i < count; i++)
        text_add(arena, &key, "%u:%u ", terms[i].value, terms[i].side);
    uint32_t at = map_get(&nz->condition_index, key.data);
    if (at != MAP_NONE) {
        arena_rewind(arena, mark);
        return nz->conditions.data[at];
    }
    map_put(&nz->condition_index, key.data, (uint32_t)nz->conditions.count);
    struct condition *c = arena_alloc(arena, sizeof *c + count * sizeof *terms);
    *c = (struct condition){.kind = CONDITION_TERMS, .count = count};
    memcpy(c->terms, terms, count * sizeof *terms);
    vec_push(arena, &nz->conditions, c);
    return c;
}

const struct condition *condition_and(struct normalize *nz, const struct condition *a, const struct condition *b)
{
    struct condition_term terms[2 * MAX_TERMS];
    uint32_t count = 0, i = 0, k = 0;
    if (a == b || !b)
        return a;
    if (!a)
        return b;
    if (a->kind == CONDITION_NEVER || b->kind == CONDITION_NEVER)
        return never();
    if (a->kind == CONDITION_UNCLEAR || b->kind == CONDITION_UNCLEAR)
        return unclear();
    while (i < a->count || k < b->count) {
        bool first = k == b->count || (i < a->count && a->terms[i].value <= b->terms[k].value);
        bool both = first && k < b->count && a->terms[i].value == b->terms[k].value;
        if (both && a->terms[i].side != b->terms[k].side)
            return never();
        terms[count++] = first ? a->terms[i] : b->terms[k];
        i += first;
        k += !first || both;
    }
    return intern(nz, terms, count);
}

const struct condition *condition_with(struct normalize *nz, const struct condition *when, fw_name value, uint32_t side)
{
    const struct condition_term term = {.value = value, .side = side};
    return condition_and(nz, when, intern(nz, &term, 1));
}

/* The place of the one term in which two conditions differ: both name a value, and different sides of it. */
static bool differing_term(const struct condition *a, const struct condition *b, uint32_t *out)
{
    uint32_t differences = 0;
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->terms[i].value != b->terms[i].value)
            return false;
        if (a->terms[i].side != b->terms[i].side) {
            differences++;
            *out = i;
        }
    }
    return differences == 1;
}

/* Whether all conditions differ in one term alone, the same of each, and in its side. */
static bool sides_of_one(const struct condition *const *when, uint32_t count, uint32_t *at)
{
    for (uint32_t i = 0; i < count; i++)
        if (!when[i] || when[i]->kind != CONDITION_TERMS)
            return false;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint32_t differing;
            if (!differing_term(when[k], when[i], &differing) || (i > 1 && differing != *at))
                return false;
            *at = differing;
        }
    return true;
}

bool condition_split(struct normalize *nz, const struct condition *const *when, uint32_t count, fw_name *value,
                     int64_t *sides, const struct condition **rest)
{
    const struct condition *possible[MAX_TERMS];
    struct condition_term others[MAX_TERMS];
    uint32_t at = 0, found = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool never = when[i] && when[i]->kind == CONDITION_NEVER;
        sides[i] = never ? NEVER_ALIVE : 0;
        if (!never && found < MAX_TERMS)
            possible[found] = when[i];
        found += !never;
    }
    *rest = found == 1 ? possible[0] : unclear();
    if (found < 2 || found > MAX_TERMS || !sides_of_one(possible, found, &at))
        return false;
    *value = possible[0]->terms[at].value;
    for (uint32_t i = 0; i < count; i++)
        if (sides[i] != NEVER_ALIVE)
            sides[i] = when[i]->terms[at].side;
    for (uint32_t i = 0; i + 1 < possible[0]->count; i++)
        others[i] = possible[0]->terms[i + (i >= at)];
    *rest = intern(nz, others, possible[0]->count - 1);
    return true;
}
