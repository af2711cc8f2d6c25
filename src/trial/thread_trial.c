/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/thread_trial.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, CALLS = 50 };

struct worker {
    pthread_t thread;
    pthread_barrier_t *barrier;
    struct instance op;
    uint64_t size;
    uint8_t *expected, *found;
    bool differs;
    uint64_t at; /* byte of the outputs */
};

static void *run(void *user)
{
    struct worker *w = user;
    pthread_barrier_wait(w->barrier);
    for (int call = 0; call < CALLS && !w->differs; call++) {
        if (instance_execute(&w->op, 0) != QNN_SUCCESS) {
            w->differs = true;
            break;
        }
        instance_copy_outputs(&w->op, w->found);
        while (w->at < w->size && w->expected[w->at] == w->found[w->at])
            w->at++;
        w->differs = w->at < w->size;
        w->at = w->differs ? w->at : 0;
    }
    return NULL;
}

static bool begin(struct arena *arena, struct package *package, const struct made_node *made, uint64_t seed,
                  struct worker *w)
{
    struct op_refusal why;
    if (!instance_make(arena, package, made, seed, true, &w->op, &why) || instance_execute(&w->op, 0) != QNN_SUCCESS)
        return false; /* a refusal of these numbers */
    w->size = outputs_size(&w->op.gives);
    w->expected = arena_alloc(arena, w->size);
    w->found = arena_alloc(arena, w->size);
    instance_copy_outputs(&w->op, w->expected);
    return true;
}

void thread_trial(struct arena *arena, struct contained *c, struct package *package, const struct made_node *made)
{
    struct worker workers[THREADS] = {{0}};
    pthread_barrier_t barrier;
    int count = 0;
    while (count < THREADS && begin(arena, package, made, 100 * (uint64_t)(count + 1), &workers[count]))
        count++;
    pthread_barrier_init(&barrier, NULL, (unsigned)(count ? count : 1));
    for (int i = 0; i < count; i++) {
        workers[i].barrier = &barrier;
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            arena_exhausted(arena);
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < count; i++)
        if (workers[i].differs)
            contained_found(c, "kernel-not-thread-safe", "scratch must not be shared by calls: no static variables",
                            "gives another result while other threads execute ops of the package: %s (%s)",
                            outputs_place(arena, &workers[i].op.gives, workers[i].at), made->label);
    for (int i = 0; i < THREADS; i++)
        instance_free(&workers[i].op);
    pthread_barrier_destroy(&barrier);
}
