/* Any bytes as an XML config: read, listed, reported on. */
#include <stdlib.h>

#include "udo/udo.h"
#include "engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena))) {
        arena_destroy(arena);
        return 0;
    }
    struct diags diags;
    struct udo_set set;
    diags_init(&diags, arena);
    udo_set_init(&set, arena, &diags);
    odlc_status status = udo_parse_xml(&set, "fuzz.xml", (const char *)data, size);
    if ((status == ODLC_OK) != (diags.errors == 0))
        abort(); /* a failure says why, and a success complains of nothing */
    for (size_t i = 0; i < diags.list.count; i++)
        if (diags.list.data[i].line == 0 && diags.list.data[i].severity == ODLC_ERROR && size)
            abort(); /* every error has a place */
    for (size_t i = 0; i < set.defs.count; i++)
        if (!udo_find(&set, set.defs.data[i]->type, ""))
            abort();
    arena_destroy(arena);
    return 0;
}
