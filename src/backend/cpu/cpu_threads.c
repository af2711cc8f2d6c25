#include "backend/cpu/cpu_threads.h"

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
    int64_t count;
    void (*fn)(void *user, int64_t first, int64_t last);
    void *user;
};

int threads_use(int threads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    return before;
}

static void run_part(void *data)
{
    struct share *s = data;
    AFTER(s);
    const int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();
    const int64_t first = s->count / parts * part + (part < s->count % parts ? part : s->count % parts);
    const int64_t length = s->count / parts + (part < s->count % parts);
    if (length > 0)
        s->fn(s->user, first, first + length);
    BEFORE(s);
}

void threads_share(int64_t count, int64_t least, void (*fn)(void *user, int64_t first, int64_t last), void *user)
{
    const int64_t most = count / (least > 0 ? least : 1), threads = omp_get_max_threads();
    struct share s = {count, fn, user};
    if (most < 2 || threads < 2) {
        fn(user, 0, count);
        return;
    }
    BEFORE(&s);
    GOMP_parallel(run_part, &s, (unsigned)(most < threads ? most : threads), 0);
    AFTER(&s);
}
