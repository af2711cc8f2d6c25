/* Any bytes as a UDO config: read, listed, reported on. */
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
    odlc_status status = udo_parse_json(&set, "fuzz.json", (const char *)data, size);
    if ((status == ODLC_OK) != (diags.errors == 0))
        abort(); /* a failure says why, and a success complains of nothing */
    for (size_t i = 0; i < set.defs.count; i++)
        if (!udo_find(&set, set.defs.data[i]->type, set.defs.data[i]->domain ? set.defs.data[i]->domain : ""))
            abort();
    if (udo_finish(&set) != ODLC_OK)
        abort();
    arena_destroy(arena);
    return 0;
}
