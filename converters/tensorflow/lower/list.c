/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/list.h"

/* A node of the tree has FANOUT children, which are nodes or, at level 0, items. VALUE_EMPTY stands for a node without
 * any item. The tree has LEVELS levels whatever is in it, so a place in a list is the same path in all lists. */
enum { FANOUT = 8, BITS = 3, LEVELS = 6 };
_Static_assert(1 << BITS * LEVELS >= LOWER_MAX_EXPANSION, "the tree has room for the longest list");

static const struct lower_value nothing = {.kind = VALUE_EMPTY, .tensor = NO_TENSOR};

static struct lower_value node_of(const struct lower_value *children)
{
    return (struct lower_value){.kind = VALUE_SEQUENCE, .tensor = NO_TENSOR, .items = children};
}

static struct lower_value list_value(const struct lower_value *root, size_t count)
{
    struct lower_value list = node_of(root->items);
    list.count = count;
    return list;
}

static struct lower_value *copy_of(struct arena *arena, const struct lower_value *node)
{
    struct lower_value *copy = arena_array(arena, struct lower_value, FANOUT);
    for (size_t i = 0; i < FANOUT; i++)
        copy[i] = node->items ? node->items[i] : nothing;
    return copy;
}

/* The child of a node at a level that a place is in. */
static size_t step(size_t at, unsigned level)
{
    return at >> BITS * (level - 1) & (FANOUT - 1);
}

/* ---- reading ---- */

size_t list_length(const struct lower_value *list)
{
    return list->count;
}

const struct lower_value *list_at(const struct lower_value *list, size_t at)
{
    const struct lower_value *node = list->items ? list : &nothing;
    for (unsigned level = LEVELS; level > 0 && node->kind == VALUE_SEQUENCE; level--)
        node = &node->items[step(at, level)];
    return node;
}

/* Every node has an item: those that would have none are nothing. */
const struct lower_value *list_first(const struct lower_value *list)
{
    const struct lower_value *node = list->items ? list : NULL;
    for (unsigned level = LEVELS; node && level > 0; level--) {
        size_t i = 0;
        while (node->items[i].kind == VALUE_EMPTY)
            i++;
        node = &node->items[i];
    }
    return node;
}

/* ---- making ---- */

/* What becomes of a node when the items from `from` on are replaced: up to `to` by copies of an item, behind it by
 * nothing. Places count from the node's first one. uniform: nodes that hold the item alone, by level. */
static struct lower_value fill(struct arena *arena, const struct lower_value *node, unsigned level, size_t from,
                               size_t to, const struct lower_value *uniform)
{
    size_t size = (size_t)1 << BITS * level, part = size / FANOUT;
    bool any = false;
    if (from >= size)
        return *node;
    if (from == 0 && (to == 0 || to >= size))
        return to ? uniform[level] : nothing;
    struct lower_value *children = copy_of(arena, node);
    for (size_t i = 0; i < FANOUT; i++) {
        size_t start = i * part;
        children[i] =
            fill(arena, &children[i], level - 1, from > start ? from - start : 0, to > start ? to - start : 0, uniform);
        any |= children[i].kind != VALUE_EMPTY;
    }
    return any ? node_of(children) : nothing;
}

struct lower_value list_resized(struct arena *arena, const struct lower_value *list, size_t length,
                                const struct lower_value *item)
{
    struct lower_value uniform[LEVELS + 1] = {*item};
    for (unsigned level = 1; level <= LEVELS; level++) {
        struct lower_value *children = arena_array(arena, struct lower_value, FANOUT);
        for (size_t i = 0; i < FANOUT; i++)
            children[i] = uniform[level - 1];
        uniform[level] = item->kind == VALUE_EMPTY ? *item : node_of(children);
    }
    size_t kept = list->count < length ? list->count : length;
    struct lower_value root = fill(arena, list, LEVELS, kept, length, uniform);
    return list_value(&root, length);
}

struct lower_value list_with(struct arena *arena, const struct lower_value *list, size_t at,
                             const struct lower_value *item)
{
    struct lower_value root = *list, *node = &root;
    for (unsigned level = LEVELS; level > 0; level--) {
        struct lower_value *children = copy_of(arena, node);
        *node = node_of(children);
        node = &children[step(at, level)];
    }
    *node = *item;
    return list_value(&root, at < list->count ? list->count : at + 1);
}

/* The node of that level with the first items, as many as it has room for. */
static struct lower_value build(struct arena *arena, const struct lower_value *items, size_t count, unsigned level)
{
    size_t part = (size_t)1 << BITS * (level - 1);
    struct lower_value *children = copy_of(arena, &nothing);
    bool any = false;
    for (size_t i = 0; i < FANOUT && i * part < count; i++) {
        children[i] = level > 1 ? build(arena, items + i * part, count - i * part, level - 1) : items[i];
        any |= children[i].kind != VALUE_EMPTY;
    }
    return any ? node_of(children) : nothing;
}

struct lower_value list_of(struct arena *arena, const struct lower_value *items, size_t count)
{
    struct lower_value root = count ? build(arena, items, count, LEVELS) : nothing;
    return list_value(&root, count);
}
