/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/names.h"

#include <string.h>

void names_init(struct fw_names *names, struct arena *kept, struct arena *scratch)
{
    *names = (struct fw_names){.kept = kept, .scratch = scratch};
    map_init(&names->index, scratch);
    vec_push(scratch, &names->texts, ""); /* FW_NO_NAME */
}

void names_reserve(struct fw_names *names, size_t more, uint64_t bytes)
{
    enum { LEAST = 16 }; /* bytes of what has a name, in models that are not made to have many of it */
    const size_t likely = (size_t)min_u64(more, bytes / LEAST);
    if (likely > names->index.count) /* else the table grows as well by itself */
        map_reserve(&names->index, names->index.count + likely);
}

static bool is_it(const struct recent_name *name, const char *bytes, size_t length)
{
    return name->length == length && memcmp(name->text, bytes, length) == 0;
}

void names_expect(struct fw_names *names, const char *bytes, size_t length)
{
    names->expected.bytes = bytes;
    names->expected.length = length;
    names->expected.hash = map_fetch(&names->index, bytes, length);
}

static uint32_t hash_of(struct fw_names *names, const char *bytes, size_t length)
{
    const bool expected = names->expected.bytes == bytes && names->expected.length == length;
    names->expected.bytes = expected ? NULL : names->expected.bytes;
    return expected ? names->expected.hash : map_fetch(&names->index, bytes, length);
}

/* Where a name that came more than once may stand. */
static struct recent_name *place_again(struct fw_names *names, const char *bytes, size_t length)
{
    const size_t mixed = length + 7 * (size_t)(unsigned char)bytes[0] + 29 * (size_t)(unsigned char)bytes[length - 1];
    return &names->again[mixed % COUNT_OF(names->again)];
}

fw_name names_number(struct fw_names *names, const char *bytes, size_t length)
{
    if (length == 0)
        return FW_NO_NAME;
    /* Most nodes read what the one before them gives. */
    if (is_it(&names->newest, bytes, length))
        return names->newest.id;
    struct recent_name *again = place_again(names, bytes, length);
    if (is_it(again, bytes, length))
        return again->id;
    /* The copy comes first because the map borrows it; it goes again when the name is known. */
    struct arena_mark mark = arena_mark(names->kept);
    const char *text = arena_strndup(names->kept, bytes, length);
    const uint32_t hash = hash_of(names, bytes, length);
    uint32_t known = map_add_fetched(&names->index, text, hash, (uint32_t)names->texts.count);
    if (known != MAP_NONE) {
        arena_rewind(names->kept, mark);
        *again = (struct recent_name){names_text(names, known), length, known};
        return known;
    }
    if (names->texts.count >= MAP_NONE)
        arena_exhausted(names->kept);
    names->newest = (struct recent_name){text, length, (fw_name)names->texts.count};
    vec_push(names->scratch, &names->texts, text);
    return names->newest.id;
}
