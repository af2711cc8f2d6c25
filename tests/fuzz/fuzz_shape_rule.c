/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a shape rule, evaluated on shapes that the first bytes give. */
#include <stdlib.h>
#include <string.h>

#include "udo/expr.h"
#include "engine.h"

enum { INPUTS = 3, RANK = 3, HEADER = INPUTS * (RANK + 1) };

/* Small dims, and some at the edge of what 64 bits hold. */
static int64_t dim_of(uint8_t byte)
{
    return byte < 200 ? byte : INT64_MAX - (byte - 200);
}

static void try_rule(struct arena *arena, const uint8_t *data, size_t size)
{
    struct shape shapes[INPUTS] = {{0}};
    bool known[INPUTS];
    for (uint32_t i = 0; i < INPUTS; i++) {
        const uint8_t *of_input = data + i * (RANK + 1);
        known[i] = of_input[0] & 4;
        shapes[i].rank = of_input[0] % (RANK + 1);
        for (uint32_t k = 0; k < shapes[i].rank; k++)
            shapes[i].dims[k] = dim_of(of_input[1 + k]);
    }
    const char *message = NULL, *text = arena_strndup(arena, (const char *)data + HEADER, size - HEADER);
    size_t at = 0;
    const struct udo_expr *e = expr_parse(arena, text, INPUTS, &message, &at);
    if (!e && (!message || at > strlen(text)))
        abort(); /* a fault says what and where */
    struct expr_inputs inputs = {.shapes = shapes, .known = known, .count = INPUTS};
    int64_t first, second;
    message = NULL;
    if (e && expr_eval(arena, e, &inputs, &first, &message)) {
        const struct udo_expr *again = expr_parse(arena, text, INPUTS, &message, &at);
        if (!again || !expr_equal(e, again) || !expr_eval(arena, again, &inputs, &second, &message) || first != second)
            abort();
    } else if (e && !message) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (size >= HEADER && setjmp(*arena_catch(arena)) == 0)
        try_rule(arena, data, size);
    arena_destroy(arena);
    return 0;
}
