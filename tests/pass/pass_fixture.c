/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/pass/pass_fixture.h"

#include <check.h>
#include <stdio.h>

#include "op/graph_text.h"

struct arena *arena, *scratch;
struct diags diags;
struct pass_options options;
struct pass_context context;

void start(void)
{
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    options = (struct pass_options){0};
    context = (struct pass_context){.scratch = scratch, .diags = &diags, .options = &options};
}

void stop(void)
{
    arena_destroy(scratch);
    arena_destroy(arena);
}

void must(odlc_status status)
{
    for (size_t i = 0; status != ODLC_OK && i < diags.list.count; i++)
        printf("%s: %s\n", diags.list.data[i].code, diags.list.data[i].message);
    ck_assert_int_eq(status, ODLC_OK);
}

struct graph *parsed(const char *text)
{
    struct graph *g;
    must(graph_parse(arena, &diags, op_registry_new(arena), text, &g));
    return g;
}
