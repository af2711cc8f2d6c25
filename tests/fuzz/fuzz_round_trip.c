/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is what is read. Any bytes make a graph, which is written in both forms of weights, read, compared
 * field by field, and written again to the same bytes. An input that is a container, and passes verification, is
 * written from what was read of it, and must read the same. */
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/read.h"
#include "engine.h"
#include "file_of_bytes.h"
#include "op/registry.h"
#include "random_graph.h"
#include "same_graph.h"

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "round trip: %s %s\n", what, name);
    abort();
}

/* The written bytes, in the arena; NULL when the graph cannot be written, which has to be said. */
static struct file *written(struct arena *arena, const struct graph *g, bool netp)
{
    struct diags diags;
    struct file *file;
    diags_init(&diags, arena);
    struct arena *scratch = arena_create();
    if (!scratch)
        abort();
    odlc_status status = ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(scratch)) == 0)
        status = dlc_write(scratch, &diags, g, path_of_output(), &(struct dlc_write_options){.netp = netp});
    arena_destroy(scratch);
    if (status == ODLC_ERR_INTERNAL || (status != ODLC_OK && !diags.errors))
        fail("failed without a reason:", g->name);
    if (status != ODLC_OK)
        return NULL;
    if (file_map(arena, &diags, path_of_output(), &file) != ODLC_OK)
        abort();
    unlink(path_of_output());
    return file_of_memory(arena, file->path, arena_memdup(arena, file->data, file->size), file->size);
}

static struct graph *read_graph(struct arena *arena, struct dlc_file *dlc, uint32_t index)
{
    struct diags diags;
    struct graph *g;
    diags_init(&diags, arena);
    return dlc_to_ir(arena, &diags, op_registry_new(arena), dlc, index, &g) == ODLC_OK ? g : NULL;
}

/* What is in a file of ours, which has to be in order. */
static struct graph *read_own(struct arena *arena, struct file *file)
{
    struct diags diags;
    struct dlc_file *dlc;
    diags_init(&diags, arena);
    if (dlc_read_file(arena, &diags, file, &dlc) != ODLC_OK || dlc_verify(&diags, dlc, NULL) != ODLC_OK)
        fail("what was written is not in order:", diags.list.data[diags.list.count - 1].message);
    struct graph *g = read_graph(arena, dlc, 0);
    if (!g)
        fail("what was written is no graph:", file->path);
    return g;
}

static void try_graph(struct arena *arena, const struct graph *g, bool netp)
{
    struct file *first = written(arena, g, netp);
    if (!first)
        return;
    const struct graph *read = read_own(arena, first);
    const char *difference = graph_difference(arena, g, read);
    if (difference)
        fail("what was read differs:", difference);
    struct file *second = written(arena, read, netp);
    if (!second || second->size != first->size || memcmp(second->data, first->data, first->size) != 0)
        fail("other bytes the second time:", g->name);
}

static void try_container(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct diags diags;
    struct dlc_file *dlc;
    diags_init(&diags, arena);
    struct file *file = file_of_memory(arena, "fuzz.dlc", bytes, size);
    if (dlc_read_file(arena, &diags, file, &dlc) != ODLC_OK || dlc_verify(&diags, dlc, NULL) != ODLC_OK)
        return;
    for (uint32_t i = 0; i < dlc->n_graphs; i++) {
        const struct graph *g = read_graph(arena, dlc, i);
        if (g)
            try_graph(arena, g, size & 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0) {
        if (size >= 4 && load_le(bytes, 4) == 0x04034B50)
            try_container(arena, bytes, size);
        else
            try_graph(arena, random_graph(arena, bytes, size), libdeflate_crc32(0, bytes, size) & 1);
    }
    arena_destroy(arena);
    return 0;
}
