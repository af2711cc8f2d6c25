/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_threads.h"

#include <sched.h>
#include <stdbool.h>

int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
/* What compilers call for a parallel region: fn(data) on each of `threads` threads. */
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);

/* ThreadSanitizer does not see how libgomp's threads begin and meet: what comes before BEFORE on one thread is known to
 * come before what follows AFTER on another. */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *place);
void __tsan_release(void *place);
#define BEFORE(place) __tsan_release(place)
#define AFTER(place) __tsan_acquire(place)
#else
#define BEFORE(place) (void)(place)
#define AFTER(place) (void)(place)
#endif

struct share {
    int64_t count, parts;
    void (*fn)(void *user, int64_t first, int64_t last);
    void *user;
};

/* ---- places ---- */

/* The processors that a team of as many threads has one by one; none: the team's threads run anywhere. The first is
 * the caller's during a step alone, since threads that it makes elsewhere would have to stay there, too. */
static _Thread_local cpu_set_t places;
static _Thread_local bool is_placed;

static cpu_set_t place_of(const cpu_set_t *all, int thread)
{
    cpu_set_t own;
    CPU_ZERO(&own);
    for (int i = 0, at = 0; at < CPU_SETSIZE; at++)
        if (CPU_ISSET(at, all) && i++ == thread)
            CPU_SET(at, &own);
    return own;
}

static void take_place(void *all)
{
    const int thread = omp_get_thread_num();
    const cpu_set_t own = place_of(all, thread);
    if (thread > 0)
        (void)sched_setaffinity(0, sizeof own, &own);
}

/* Waking on the processor of another thread of its team, a thread would wait for the scheduler to find out. */
static void take_places(int threads)
{
    cpu_set_t all;
    if (threads < 2 || sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) != threads)
        return;
    if (!CPU_EQUAL(&all, &places)) {
        places = all;
        GOMP_parallel(take_place, &places, (unsigned)threads, 0);
    }
    const cpu_set_t own = place_of(&all, 0);
    is_placed = true;
    (void)sched_setaffinity(0, sizeof own, &own);
}

static void leave_place(void)
{
    if (is_placed)
        (void)sched_setaffinity(0, sizeof places, &places);
    is_placed = false;
}

/* ---- teams ---- */

int threads_begin(int threads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    take_places(threads);
    return before;
}

void threads_end(int before)
{
    leave_place();
    omp_set_num_threads(before);
}

/* There may be fewer threads than parts: where OMP_THREAD_LIMIT says so. */
static void run_parts(void *data)
{
    struct share *s = data;
    AFTER(s);
    const int64_t length = s->count / s->parts, longer = s->count % s->parts;
    for (int64_t part = omp_get_thread_num(); part < s->parts; part += omp_get_num_threads()) {
        const int64_t first = length * part + (part < longer ? part : longer);
        s->fn(s->user, first, first + length + (part < longer));
    }
    BEFORE(s);
}

void threads_share(int64_t count, int64_t least, void (*fn)(void *user, int64_t first, int64_t last), void *user)
{
    const int64_t most = count / (least > 0 ? least : 1), threads = omp_get_max_threads();
    struct share s = {count, most < threads ? most : threads, fn, user};
    if (most < 2 || threads < 2) {
        fn(user, 0, count);
        return;
    }
    BEFORE(&s);
    GOMP_parallel(run_parts, &s, (unsigned)threads, 0);
    AFTER(&s);
}
