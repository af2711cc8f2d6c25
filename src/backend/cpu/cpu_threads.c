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
    int64_t count, parts;
    void (*fn)(void *user, int64_t first, int64_t last);
    void *user;
};

int threads_use(int threads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    return before;
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
