/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/given_text.h"

#include "opendlc/report.h"

static void free_given(void *given)
{
    odlc_text_free(((struct given_text *)given)->text);
}

struct given_text *given_text_new(struct arena *arena)
{
    struct given_text *given = arena_new(arena, struct given_text);
    arena_defer(arena, free_given, given);
    return given;
}
