/* SPDX-License-Identifier: Apache-2.0 */
#include "api/known_names.h"

#include "base/diag.h"

enum { LISTED_NAMES = 12 };

const char *known_names_hint(struct arena *arena, const char *name, const char *const *known, size_t count)
{
    const char *near = nearest_word(name, known, count);
    if (near)
        return arena_printf(arena, "did you mean '%s'?", near);
    text hint = {0};
    text_add(arena, &hint, "known names:");
    for (size_t i = 0; i < count && i < LISTED_NAMES; i++)
        text_add(arena, &hint, "%s %s", i ? "," : "", known[i]);
    if (count > LISTED_NAMES)
        text_add(arena, &hint, " and %zu more; dlc-info lists them all", count - LISTED_NAMES);
    return hint.data;
}
