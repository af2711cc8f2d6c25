/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

static struct guarded *all; /* of the process, for its signal handler */

struct guarded *guarded_take(struct arena *arena, const char *name, size_t size, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (size + page) / page * page;
    struct guarded *g = arena_new(arena, struct guarded);
    g->mapped = inner + 2 * page;
    g->map = mmap(NULL, g->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->map == MAP_FAILED || mprotect(g->map + page, inner, PROT_READ | PROT_WRITE) != 0)
        arena_exhausted(arena);
    g->name = arena_strdup(arena, name);
    g->size = size;
    g->data = g->map + page + (at_end ? inner - size : 0);
    g->next = all;
    all = g;
    return g;
}

void guarded_seal(struct guarded *g, bool constant)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    g->constant = constant;
    mprotect(g->map + page, g->mapped - 2 * page, constant ? PROT_READ : PROT_READ | PROT_WRITE);
}

void guarded_give_all(void)
{
    for (; all; all = all->next)
        munmap(all->map, all->mapped);
}

const struct guarded *guarded_find(const void *address)
{
    const uint8_t *at = address;
    for (const struct guarded *g = all; g; g = g->next)
        if (at >= g->map && at < g->map + g->mapped)
            return g;
    return NULL;
}
