/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/names.h"

#include <string.h>

void names_init(struct fw_names *names, struct arena *kept, struct arena *scratch)
{
    *names = (struct fw_names){.kept = kept, .scratch = scratch};
    map_init(&names->index, scratch);
    vec_push(scratch, &names->texts, ""); /* FW_NO_NAME */
}

static bool is_text(const char *text, const char *bytes, size_t length)
{
    return strncmp(text, bytes, length) == 0 && text[length] == '\0';
}

fw_name names_number(struct fw_names *names, const char *bytes, size_t length)
{
    if (length == 0)
        return FW_NO_NAME;
    /* Most nodes read what the one before them gives. */
    if (is_text(names_text(names, names->newest), bytes, length))
        return names->newest;
    /* The copy comes first because the map borrows it; it goes again when the name is known. */
    struct arena_mark mark = arena_mark(names->kept);
    const char *text = arena_strndup(names->kept, bytes, length);
    uint32_t known = map_add(&names->index, text, (uint32_t)names->texts.count);
    if (known != MAP_NONE) {
        arena_rewind(names->kept, mark);
        return known;
    }
    if (names->texts.count >= MAP_NONE)
        arena_exhausted(names->kept);
    names->newest = (fw_name)names->texts.count;
    vec_push(names->scratch, &names->texts, text);
    return names->newest;
}
