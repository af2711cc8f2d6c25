#include "converters/tensorflow/list.h"

enum { CHUNK = 64 };

static struct lower_value sequence(const struct lower_value *items, size_t count)
{
    return (struct lower_value){.kind = VALUE_SEQUENCE, .tensor = NO_TENSOR, .items = items, .count = count};
}

size_t list_length(const struct lower_value *list)
{
    return list->count ? (list->count - 1) * CHUNK + list->items[list->count - 1].count : 0;
}

const struct lower_value *list_at(const struct lower_value *list, size_t at)
{
    return &list->items[at / CHUNK].items[at % CHUNK];
}

struct lower_value list_of(struct arena *arena, const struct lower_value *items, size_t count)
{
    size_t n_chunks = (count + CHUNK - 1) / CHUNK;
    struct lower_value *chunks = arena_array(arena, struct lower_value, n_chunks);
    for (size_t i = 0; i < n_chunks; i++) {
        size_t rest = count - i * CHUNK;
        chunks[i] = sequence(items + i * CHUNK, rest < CHUNK ? rest : CHUNK);
    }
    return sequence(chunks, n_chunks);
}

struct lower_value list_with(struct arena *arena, const struct lower_value *list, size_t at,
                             const struct lower_value *item)
{
    size_t chunk = at / CHUNK, n_chunks = chunk < list->count ? list->count : chunk + 1;
    size_t old = chunk < list->count ? list->items[chunk].count : 0, count = at % CHUNK < old ? old : at % CHUNK + 1;
    struct lower_value *chunks = arena_array(arena, struct lower_value, n_chunks);
    struct lower_value *items = arena_array(arena, struct lower_value, count);
    for (size_t i = 0; i < list->count; i++)
        chunks[i] = list->items[i];
    for (size_t i = 0; i < old; i++)
        items[i] = list->items[chunk].items[i];
    items[at % CHUNK] = *item;
    chunks[chunk] = sequence(items, count);
    return sequence(chunks, n_chunks);
}

struct lower_value list_resized(struct arena *arena, const struct lower_value *list, size_t length,
                                const struct lower_value *item)
{
    size_t old = list_length(list);
    struct lower_value *items = arena_array(arena, struct lower_value, length);
    for (size_t i = 0; i < length; i++)
        items[i] = i < old ? *list_at(list, i) : *item;
    return list_of(arena, items, length);
}
