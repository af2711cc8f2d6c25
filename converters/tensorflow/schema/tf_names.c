#include "converters/tensorflow/schema/tf_names.h"

#include <string.h>

const char *tensorflow_canonical_name(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    const char *start = name[0] == '^' ? name + 1 : name;
    if (length > 2 && strcmp(name + length - 2, ":0") == 0)
        return arena_strndup(arena, start, strlen(start) - 2);
    return start;
}
