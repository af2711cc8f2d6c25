/* TensorFlow's TensorArrays and TensorLists while a graph is lowered: a sequence of chunks, which are sequences of
 * items (tensors, or VALUE_EMPTY where nothing was written). A list is never changed: one with another item is a new
 * one that shares all chunks but one, so that a loop may write a long list item by item. */
#ifndef CONVERTERS_TENSORFLOW_LIST_H
#define CONVERTERS_TENSORFLOW_LIST_H

#include "converters/lower.h"

size_t list_length(const struct lower_value *list);
const struct lower_value *list_at(const struct lower_value *list, size_t at);

/* The items are kept. */
struct lower_value list_of(struct arena *arena, const struct lower_value *items, size_t count);
/* With another item; at == length adds one. */
struct lower_value list_with(struct arena *arena, const struct lower_value *list, size_t at,
                             const struct lower_value *item);
/* The first `length` items, followed by as many copies of `item` as are missing. */
struct lower_value list_resized(struct arena *arena, const struct lower_value *list, size_t length,
                                const struct lower_value *item);

#endif
