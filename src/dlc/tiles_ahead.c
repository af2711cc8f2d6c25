/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/tiles_ahead.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper_thread.h"

enum {
    PAYS = 8 * 1024 * 1024,      /* bytes to permute from which a second thread pays where one is asked for */
    UNASKED = 128 * 1024 * 1024, /* where it is not: it takes some more of the processors' time (docs/performance.md) */
    SLOTS = 3                    /* tiles: one that is written, one that is ready, one that is made */
};

struct slot {
    uint8_t *ordered;
    struct made_tile tile;
    odlc_status status;
};

/* Tiles made and tiles given back are counted: the one at a count is in the slot of that count modulo SLOTS. */
struct tiles_ahead {
    const struct dlc_params *params;
    uint64_t mapped;
    struct tile_space space; /* of the thread */
    struct slot slots[SLOTS];
    cpu_set_t processors; /* that the thread that writes may use */
    uint64_t taken;       /* tiles handed out; of the thread that writes */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint64_t made, returned; /* under the lock, like stop */
    bool stop;
};

/* ---- processors ---- */

/* The system likes to run a thread where it was woken up, and lets both take turns on one processor. So the one that
 * writes keeps its processor meanwhile, and the other gets the others. */
static void keep_processor(struct tiles_ahead *a)
{
    cpu_set_t own;
    int here = sched_getcpu();
    CPU_ZERO(&own);
    if (here < 0 || sched_getaffinity(0, sizeof a->processors, &a->processors) != 0 || CPU_COUNT(&a->processors) < 2) {
        CPU_ZERO(&a->processors);
        return;
    }
    CPU_SET(here, &own);
    (void)sched_setaffinity(0, sizeof own, &own);
}

static void take_another_processor(const struct tiles_ahead *a)
{
    cpu_set_t set = a->processors, own;
    if (!CPU_COUNT(&set) || sched_getaffinity(0, sizeof own, &own) != 0)
        return;
    CPU_XOR(&set, &set, &own); /* what the other thread keeps is what this one began with */
    if (CPU_COUNT(&set))
        (void)sched_setaffinity(0, sizeof set, &set);
}

static void leave_processor(const struct tiles_ahead *a)
{
    if (CPU_COUNT(&a->processors))
        (void)sched_setaffinity(0, sizeof a->processors, &a->processors);
}

/* ---- the thread ---- */

static bool next_permuted(struct dlc_payload_walk *walk, uint64_t mapped, struct dlc_payload *payload,
                          struct view_tiles *tiles)
{
    while (dlc_next_payload(walk, payload)) {
        if (payload->dtype == DT_STRING)
            continue;
        view_tiles_start(payload->view, payload->dtype, mapped, tiles);
        if (tiles->count && !tiles->in_order)
            return true;
    }
    return false;
}

/* A slot that is free, or NULL when no more are wanted. */
static struct slot *wait_for_room(struct tiles_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->stop && a->made - a->returned == SLOTS)
        pthread_cond_wait(&a->change, &a->lock);
    struct slot *slot = a->stop ? NULL : &a->slots[a->made % SLOTS];
    pthread_mutex_unlock(&a->lock);
    return slot;
}

static void publish(struct tiles_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->made++;
    pthread_cond_signal(&a->change);
    pthread_mutex_unlock(&a->lock);
}

/* Waits until all tiles were given back; false when no more are wanted. */
static bool wait_for_all(struct tiles_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->stop && a->made != a->returned)
        pthread_cond_wait(&a->change, &a->lock);
    bool wanted = !a->stop;
    pthread_mutex_unlock(&a->lock);
    return wanted;
}

/* Slots that had large tiles shrink before a view is mapped; false when no more are wanted. */
static bool make_room(struct tiles_ahead *a, const struct view_tiles *tiles)
{
    const bool shrinks = a->space.has_large && !tiles->reads;
    if (shrinks && !wait_for_all(a))
        return false;
    for (int i = 0; shrinks && i < SLOTS; i++) {
        a->space.ordered = a->slots[i].ordered;
        tile_space_shrink(&a->space, tiles);
    }
    return true;
}

static bool make_tiles(struct tiles_ahead *a, const struct view_tiles *tiles)
{
    if (!make_room(a, tiles))
        return false;
    for (uint64_t i = 0; i < tiles->count; i++) {
        struct slot *slot = wait_for_room(a);
        if (!slot)
            return false;
        a->space.ordered = slot->ordered;
        slot->status = view_tile_make(tiles, i, &a->space, &slot->tile);
        odlc_status status = slot->status; /* the slot is the other thread's from here on */
        publish(a);
        if (status != ODLC_OK)
            return false;
    }
    return true;
}

static void *make_ahead(void *object)
{
    struct tiles_ahead *a = object;
    struct dlc_payload_walk walk = dlc_payloads(a->params);
    struct dlc_payload payload;
    struct view_tiles tiles;
    take_another_processor(a);
    while (next_permuted(&walk, a->mapped, &payload, &tiles))
        if (!make_tiles(a, &tiles))
            break;
    return NULL;
}

/* ---- the thread that writes ---- */

/* How many threads run, this one among them; 0: the system does not tell. "0.20 0.18 0.12 1/80 11206" */
static long running_threads(void)
{
    char line[128] = "";
    FILE *load = fopen("/proc/loadavg", "re");
    if (!load)
        return 0;
    const char *slash = fgets(line, sizeof line, load) ? strchr(line, '/') : NULL;
    (void)fclose(load);
    while (slash && slash > line && slash[-1] != ' ')
        slash--;
    return slash ? strtol(slash, NULL, 10) : 0;
}

/* Whether a processor has nothing to do, as far as the system tells. */
static bool has_idle_processor(void)
{
    cpu_set_t set;
    const long running = running_threads();
    return running > 0 && sched_getaffinity(0, sizeof set, &set) == 0 && running < CPU_COUNT(&set);
}

/* From how many bytes to permute on. */
static uint64_t pays_from(const struct dlc_writing *w, const struct dlc_params *params)
{
    if (w->threads == 0 && params->size >= UNASKED && has_idle_processor())
        return UNASKED;
    return w->threads == 2 ? PAYS : UINT64_MAX;
}

/* *largest becomes the elements of the largest payload that is permuted. */
static bool is_worth_it(const struct dlc_params *params, uint64_t mapped, uint64_t from, uint64_t *largest)
{
    struct dlc_payload_walk walk = dlc_payloads(params);
    struct dlc_payload payload;
    struct view_tiles tiles;
    uint64_t bytes = 0;
    *largest = 0;
    if (params->size - walk.end < from)
        return false;
    while (next_permuted(&walk, mapped, &payload, &tiles)) {
        bytes += payload.size;
        if (tiles.total > *largest)
            *largest = tiles.total;
    }
    return bytes >= from;
}

struct tiles_ahead *tiles_ahead_begin(const struct dlc_writing *w, const struct dlc_params *params, uint64_t mapped)
{
    uint64_t largest;
    if (!is_worth_it(params, mapped, pays_from(w, params), &largest))
        return NULL;
    struct tiles_ahead *a = arena_new(w->arena, struct tiles_ahead);
    *a = (struct tiles_ahead){.params = params,
                              .mapped = mapped,
                              .space = tile_space_new(w->arena, largest),
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .change = PTHREAD_COND_INITIALIZER};
    a->slots[0].ordered = a->space.ordered;
    for (int i = 1; i < SLOTS; i++)
        a->slots[i].ordered = tile_space_new(w->arena, largest).ordered;
    keep_processor(a);
    if (helper_thread_start(&a->thread, make_ahead, a))
        return a;
    leave_processor(a);
    return NULL;
}

odlc_status tiles_ahead_next(struct tiles_ahead *a, struct made_tile *out)
{
    pthread_mutex_lock(&a->lock);
    if (a->returned < a->taken) {
        a->returned = a->taken;
        pthread_cond_signal(&a->change);
    }
    while (a->made == a->taken)
        pthread_cond_wait(&a->change, &a->lock);
    pthread_mutex_unlock(&a->lock);
    const struct slot *slot = &a->slots[a->taken++ % SLOTS];
    *out = slot->tile;
    return slot->status;
}

void tiles_ahead_end(struct tiles_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->change);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    leave_processor(a);
}
