/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sample graph into a folder, in both params formats, for test_other_programs.py. testdata/ has its two
 * files, and small ones of versions 3 and 4.1 as test_versions.c makes them, as seeds for tests/fuzz. */
#include <stdio.h>

#include "sample.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct arena *arena = arena_create();
    struct diags diags;
    diags_init(&diags, arena);
    for (int netp = 0; netp < 2; netp++) {
        const char *path = arena_printf(arena, "%s/%s.dlc", argv[1], netp ? "netp" : "nr64");
        struct dlc_write_options options = {.netp = netp};
        if (dlc_write(arena, &diags, sample_graph(arena), path, &options) != ODLC_OK) {
            fprintf(stderr, "%s\n", diags.list.data[0].message);
            return 1;
        }
    }
    arena_destroy(arena);
    return 0;
}
