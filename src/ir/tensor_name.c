/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/tensor_name.h"

#include <string.h>

const char *tensor_name_respelled(struct arena *arena, const char *name)
{
    const size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, ":0") == 0)
        return arena_strndup(arena, name, length - 2);
    return arena_printf(arena, "%s:0", name);
}

tensor_id graph_find_named(struct arena *arena, const struct graph *g, const char *name)
{
    struct arena_mark mark = arena_mark(arena);
    tensor_id found = graph_find_tensor(g, name);
    if (found == NO_TENSOR)
        found = graph_find_tensor(g, tensor_name_respelled(arena, name));
    arena_rewind(arena, mark);
    return found;
}
