/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

struct mapping {
    void *data;
    size_t size;
};

/* Said by the child. */
struct account {
    bool returned, ran_out;
};

static void unmap(void *mapping)
{
    const struct mapping *m = mapping;
    munmap(m->data, m->size);
}

void *child_share(struct arena *arena, size_t size)
{
    struct mapping *m = arena_new(arena, struct mapping);
    m->size = size;
    m->data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m->data == MAP_FAILED)
        arena_exhausted(arena);
    arena_defer(arena, unmap, m);
    return m->data;
}

/* ---- the child ---- */

/* Functions that the host registered for its own end must not run in a copy of it. */
static void leave(int status, void *unused)
{
    (void)unused;
    _exit(status);
}

/* Handlers of the host would do its work a second time. */
static void forget_host(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        signal(numbers[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    on_exit(leave, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

static _Noreturn void work_and_end(struct arena *arena, struct account *account, void (*work)(void *), void *user)
{
    jmp_buf exhausted;
    forget_host();
    arena_divert(arena, &exhausted);
    if (setjmp(exhausted)) {
        account->ran_out = true;
        _exit(1);
    }
    work(user);
    account->returned = true;
    _exit(0);
}

/* ---- the parent ---- */

/* False: the time is over, and the child is killed. Where the host ignores SIGCHLD there is no status to wait for. */
static bool await(pid_t child, double seconds, int *status)
{
    const struct timespec pause = {.tv_nsec = 200000};
    const double begin = clock_seconds();
    for (;;) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child || (ended < 0 && errno == ECHILD))
            return true;
        if (clock_seconds() - begin > seconds) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        nanosleep(&pause, NULL);
    }
}

struct child_fate child_run(struct arena *arena, double seconds, void (*work)(void *user), void *user)
{
    int status = 0;
    struct account *account = child_share(arena, sizeof *account);
    pid_t child = fork();
    if (child < 0)
        return (struct child_fate){CHILD_UNMADE, errno};
    if (child == 0)
        work_and_end(arena, account, work, user);
    bool in_time = await(child, seconds, &status);
    if (account->ran_out)
        arena_exhausted(arena);
    if (account->returned)
        return (struct child_fate){CHILD_RETURNED, 0};
    if (!in_time)
        return (struct child_fate){CHILD_TIMED_OUT, 0};
    if (WIFSIGNALED(status))
        return (struct child_fate){CHILD_SIGNALLED, WTERMSIG(status)};
    return (struct child_fate){CHILD_EXITED, WEXITSTATUS(status)};
}

const char *child_fate_text(struct arena *arena, const struct child_fate *fate, double seconds)
{
    switch (fate->end) {
    case CHILD_EXITED:
        return arena_printf(arena, "ends the process with status %d", fate->number);
    case CHILD_SIGNALLED:
        return arena_printf(arena, "is ended by signal %d (%s)", fate->number, strsignal(fate->number));
    case CHILD_TIMED_OUT:
        return arena_printf(arena, "does not end in %g seconds", seconds);
    case CHILD_UNMADE:
        return arena_printf(arena, "needs a process of its own: %s", strerror(fate->number));
    case CHILD_RETURNED:
        break;
    }
    return "returns";
}
