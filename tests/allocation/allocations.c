/* SPDX-License-Identifier: Apache-2.0 */
/* A library for LD_PRELOAD that makes allocations of a command fail, each in a process of its own. It takes the place
 * of main: the process stays as it is before main, and for each line that is requested it makes a copy of itself that
 * goes on into the command. So programs are loaded and sanitizers set up once for thousands of runs. Descriptors, whose
 * numbers are given by the environment, speak with the test:
 *
 *   ALLOC_REQUESTS  lines "NUMBER WAY": which allocation fails, from 1 on; 0 is none. WAY is
 *                     once   that allocation alone
 *                     rest   that one and all that follow
 *                     show   that one; its stack is printed, where a sanitizer is there to do it
 *   ALLOC_ANSWERS   a line "STATUS COUNT DESCRIPTORS BYTES" for each: waitpid's status, how many allocations there
 *                   were, and, when main returned, how many descriptors are open that were not before, and how many
 *                   bytes are mapped
 *
 * Counted are what asks the C library or the system for memory from main on: malloc and its like, mmap, mremap, and the
 * stacks of threads. Memory that C++ asks for by new counts where that is malloc, which is not so under a sanitizer. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, SECONDS = 120 }; /* a run that takes longer hangs */

typedef int main_function(int argc, char **argv, char **environment);

/* What a copy leaves behind for the process that waits. */
struct results {
    atomic_long count, mapped;
    long descriptors;
};

static struct {
    bool counts, rest, show;
    long at;
    struct results *results;
    main_function *main;
} plan;

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

/* Whether this thread is in the command's own code, and not before it: sanitizers set up threads. */
static _Thread_local bool within __attribute__((tls_model("initial-exec")));

/* Of libasan and its like. */
__attribute__((weak)) void __sanitizer_print_stack_trace(void);

static bool fails(void)
{
    if (!plan.counts || !within)
        return false;
    long number = atomic_fetch_add(&plan.results->count, 1) + 1;
    if (number != plan.at && !(plan.rest && number > plan.at))
        return false;
    if (plan.show && __sanitizer_print_stack_trace) {
        plan.counts = false;
        __sanitizer_print_stack_trace();
        plan.counts = true;
    }
    errno = ENOMEM;
    return true;
}

/* ---- what is counted ---- */

/* Looked up at the first call, which comes before any constructor. */
#define FORWARD(type, failure, name, parameters, arguments) \
    type name parameters                                    \
    {                                                       \
        static __typeof__(&name) next;                      \
        if (!next)                                          \
            next = NEXT(name);                              \
        return fails() ? (failure) : next arguments;        \
    }

FORWARD(void *, NULL, malloc, (size_t size), (size))
FORWARD(void *, NULL, calloc, (size_t count, size_t size), (count, size))
FORWARD(void *, NULL, realloc, (void *block, size_t size), (block, size))
FORWARD(void *, NULL, reallocarray, (void *block, size_t count, size_t size), (block, count, size))
FORWARD(void *, NULL, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FORWARD(void *, NULL, memalign, (size_t alignment, size_t size), (alignment, size))
FORWARD(int, ENOMEM, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size))
/* With AddressSanitizer these two do not come to malloc above. */
FORWARD(char *, NULL, strdup, (const char *string), (string))
FORWARD(char *, NULL, strndup, (const char *string, size_t length), (string, length))

struct start {
    void *(*run)(void *);
    void *argument;
};

static void *run_within(void *object)
{
    const struct start *start = object;
    within = true;
    return start->run(start->argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    static struct start starts[64];
    static atomic_uint next;
    if (fails())
        return EAGAIN;
    struct start *start = &starts[atomic_fetch_add(&next, 1) % 64];
    *start = (struct start){run, argument};
    return NEXT(pthread_create)(thread, attributes, run_within, start);
}

static void have_mapped(size_t size, long sign)
{
    if (plan.counts)
        atomic_fetch_add(&plan.results->mapped, sign * (long)((size + PAGE - 1) / PAGE * PAGE));
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    void *pages = fails() ? MAP_FAILED : NEXT(mmap)(address, size, protection, flags, fd, at);
    if (pages != MAP_FAILED && !(flags & MAP_FIXED))
        have_mapped(size, 1);
    return pages;
}

int munmap(void *address, size_t size)
{
    int failed = NEXT(munmap)(address, size);
    if (!failed)
        have_mapped(size, -1);
    return failed;
}

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    void *address = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
    va_end(args);
    void *pages = fails() ? MAP_FAILED : NEXT(mremap)(old, old_size, size, flags, address);
    if (pages != MAP_FAILED) {
        have_mapped(old_size, -1);
        have_mapped(size, 1);
    }
    return pages;
}

/* ---- a process for each run ---- */

static void give_up(const char *what)
{
    perror(what);
    _exit(125);
}

static FILE *channel(const char *name, const char *mode)
{
    const char *number = getenv(name);
    FILE *stream = number ? fdopen(atoi(number), mode) : NULL;
    if (!stream)
        give_up(name);
    return stream;
}

static long open_descriptors(void)
{
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        give_up("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Gives the answer to a request in the process that waits; returns in the one that is to go on into main. */
static void serve(FILE *requests, FILE *answers)
{
    char line[64], way[8];
    while (fgets(line, sizeof line, requests)) {
        if (sscanf(line, "%ld %7s", &plan.at, way) != 2)
            give_up(line);
        plan.rest = strcmp(way, "rest") == 0;
        plan.show = strcmp(way, "show") == 0;
        memset(plan.results, 0, sizeof *plan.results);
        pid_t child = fork();
        if (child < 0)
            give_up("fork");
        if (child == 0)
            return;
        int status;
        if (waitpid(child, &status, 0) != child)
            give_up("waitpid");
        fprintf(answers, "%d %ld %ld %ld\n", status, atomic_load(&plan.results->count), plan.results->descriptors,
                atomic_load(&plan.results->mapped));
        fflush(answers);
    }
    _exit(0);
}

static int main_of_copies(int argc, char **argv, char **environment)
{
    FILE *requests = channel("ALLOC_REQUESTS", "r"), *answers = channel("ALLOC_ANSWERS", "w");
    plan.results = mmap(NULL, sizeof *plan.results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plan.results == MAP_FAILED)
        give_up("mmap");
    serve(requests, answers);
    close(fileno(requests)); /* the streams themselves are forgotten: closing them would move the requests on */
    close(fileno(answers));
    alarm(SECONDS);
    long before = open_descriptors();
    plan.counts = within = true;
    int status = plan.main(argc, argv, environment);
    plan.counts = false;
    plan.results->descriptors = open_descriptors() - before;
    return status;
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    plan.main = main;
    return NEXT(__libc_start_main)(main_of_copies, argc, argv, init, fini, rtld_fini, stack_end);
}
