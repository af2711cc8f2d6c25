/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/schema/tf_names.h"

#include <string.h>

const char *tensorflow_canonical_name(struct arena *arena, const char *name)
{
    const char *start = name[0] == '^' ? name + 1 : name;
    return *start && !strchr(start, ':') ? arena_printf(arena, "%s:0", start) : start;
}

const char *tensorflow_short_name(struct arena *arena, const char *name)
{
    const size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, ":0") == 0 ? arena_strndup(arena, name, length - 2) : name;
}
