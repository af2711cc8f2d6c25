/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the graph's text on standard input and prints it again: what --dump_ir prints must survive that. */
#include <stdio.h>

#include "op/graph_text.h"

static const char *read_all(struct arena *arena, FILE *stream)
{
    text all = {0};
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, stream)) > 0;)
        text_add_bytes(arena, &all, chunk, n);
    return all.data ? all.data : "";
}

int main(void)
{
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)))
        return 1;
    struct diags diags;
    struct graph *graph;
    diags_init(&diags, arena);
    odlc_status status = graph_parse(arena, &diags, op_registry_new(arena), read_all(arena, stdin), &graph);
    if (status == ODLC_OK)
        fputs(graph_print(arena, graph), stdout);
    for (size_t i = 0; i < diags.list.count; i++)
        fprintf(stderr, "%u:%u: %s\n", diags.list.data[i].line, diags.list.data[i].column, diags.list.data[i].message);
    arena_destroy(arena);
    return status == ODLC_OK ? 0 : 1;
}
