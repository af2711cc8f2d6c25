/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/slice_pool.h"

#include <pthread.h>

struct slice_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    pthread_t *threads;
    uint32_t n_threads;
    void (*work)(void *user, uint32_t i);
    void *user;
    uint32_t next, count, running; /* slices taken, slices in all, slices at work */
    bool ends;
};

/* Takes slices until there are none; the lock is held. */
static void take_slices(struct slice_pool *p)
{
    while (p->next < p->count) {
        const uint32_t mine = p->next++;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->work(p->user, mine);
        pthread_mutex_lock(&p->lock);
        p->running--;
    }
    if (p->running == 0)
        pthread_cond_signal(&p->done);
}

static void *serve(void *pool)
{
    struct slice_pool *p = pool;
    pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        take_slices(p);
        if (!p->ends)
            pthread_cond_wait(&p->begun, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct slice_pool *slice_pool_begin(struct arena *arena, uint32_t threads)
{
    struct slice_pool *p = arena_new(arena, struct slice_pool);
    p->threads = arena_array(arena, pthread_t, threads);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begun, NULL);
    pthread_cond_init(&p->done, NULL);
    while (p->n_threads < threads && pthread_create(&p->threads[p->n_threads], NULL, serve, p) == 0)
        p->n_threads++;
    if (p->n_threads)
        return p;
    slice_pool_end(p);
    return NULL;
}

void slice_pool_end(struct slice_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->begun);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
}

void slice_pool_run(struct slice_pool *p, uint32_t count, void (*work)(void *user, uint32_t i), void *user)
{
    for (uint32_t i = 0; !p && i < count; i++)
        work(user, i);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->work = work;
    p->user = user;
    p->next = 0;
    p->count = count;
    pthread_cond_broadcast(&p->begun);
    take_slices(p);
    while (p->running > 0)
        pthread_cond_wait(&p->done, &p->lock);
    p->count = p->next = 0;
    pthread_mutex_unlock(&p->lock);
}
