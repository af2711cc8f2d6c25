/* SPDX-License-Identifier: Apache-2.0 */
/* The time that finding definitions takes, alone.
 * usage: match CONFIG TYPES    TYPES holds the op type of a node a line; each is looked up as often as a conversion
 * does. Prints the seconds for reading the config and for matching, and how many nodes are claimed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "udo/udo.h"

/* When the model is read, in the survey, at the node, and at its outputs. */
enum { LOOKUPS = 4 };

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static size_t match(const struct udo_set *set, struct arena *arena, const struct file *types)
{
    VEC(const char *) names = {0};
    const char *text = arena_strndup(arena, (const char *)types->data, types->size);
    for (char *line = strtok((char *)text, "\n"); line; line = strtok(NULL, "\n"))
        vec_push(arena, &names, line);
    size_t claimed = 0;
    double start = seconds();
    for (size_t i = 0; i < LOOKUPS * names.count; i++)
        claimed += udo_find(set, names.data[i / LOOKUPS], "") != NULL;
    printf("match %.6f\n", seconds() - start);
    return claimed / LOOKUPS;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    if (argc != 3 || !arena)
        return 2;
    struct diags diags;
    struct udo_set set;
    struct file *types;
    diags_init(&diags, arena);
    udo_set_init(&set, arena, &diags, op_registry_new(arena));
    double start = seconds();
    if (udo_load(&set, argv[1]) != ODLC_OK || file_map(arena, &diags, argv[2], &types) != ODLC_OK)
        return 1;
    printf("read %.6f\ndefinitions %zu\n", seconds() - start, set.defs.count);
    printf("claimed %zu\n", match(&set, arena, types));
    arena_destroy(arena);
    return 0;
}
