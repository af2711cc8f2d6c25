#include "ir/tensor_name.h"

#include <string.h>

const char *tensor_name_respelled(struct arena *arena, const char *name)
{
    const size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, ":0") == 0)
        return arena_strndup(arena, name, length - 2);
    return arena_printf(arena, "%s:0", name);
}
