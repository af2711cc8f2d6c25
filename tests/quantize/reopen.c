/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a container as what is to be worked on, and writes it as it is: what test_reopen.py compares. */
#include <stdio.h>

#include "dlc/record.h"
#include "op/registry.h"

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct diags diags;
    const struct dlc_file *dlc;
    struct graph *g;
    if (argc != 3)
        return 2;
    diags_init(&diags, arena);
    odlc_status status = dlc_open_graph(arena, &diags, op_registry_new(arena), argv[1], "rewritten", NULL, &dlc, &g);
    if (status == ODLC_OK) {
        const struct dlc_write_options options = dlc_options_like(dlc, g);
        status = dlc_write(arena, &diags, g, argv[2], &options);
    }
    for (size_t i = 0; i < diags.list.count; i++)
        fprintf(stderr, "%s\n", diags.list.data[i].message);
    arena_destroy(arena);
    return status == ODLC_OK ? 0 : 1;
}
