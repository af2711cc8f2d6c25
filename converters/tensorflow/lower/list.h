/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's TensorArrays and TensorLists while a graph is lowered: sequences of items (tensors, or VALUE_EMPTY where
 * nothing was written), of which `count` says how many and `items` is a tree. A list is never changed: one with another
 * item is a new one that shares all but the path to the item, so that a loop may write a long list item by item. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_LIST_H
#define CONVERTERS_TENSORFLOW_LOWER_LIST_H

#include "converters/lowering/lower.h"

/* Of at most LOWER_MAX_EXPANSION items. */
size_t list_length(const struct lower_value *list);
const struct lower_value *list_at(const struct lower_value *list, size_t at);

struct lower_value list_of(struct arena *arena, const struct lower_value *items, size_t count);
/* The first item that was written, or NULL. */
const struct lower_value *list_first(const struct lower_value *list);

/* With another item; at == length adds one. */
struct lower_value list_with(struct arena *arena, const struct lower_value *list, size_t at,
                             const struct lower_value *item);
/* The first `length` items, followed by as many copies of `item` as are missing. */
struct lower_value list_resized(struct arena *arena, const struct lower_value *list, size_t length,
                                const struct lower_value *item);

#endif
