/* SPDX-License-Identifier: Apache-2.0 */
/* A library for LD_PRELOAD that makes system calls of a command fail, or does something to it or to its files when it
 * makes a certain call. Numbers count the calls that are listed here; those of the C library's own streams do not pass
 * here. Controlled by the environment:
 *
 *   FAULT_AT=N          the N-th call, from 1
 *   FAULT_CALL=NAME     only calls of this name count
 *   FAULT_DO=errno:E    the call fails with that error and does nothing (close: closes)
 *            short      the call moves half of the bytes
 *            signal:S   the process gets that signal before the call
 *            after:S    the process gets that signal when the call is done: linkat and rename
 *            cut:SIZE   FAULT_FILE is made that long before the call
 *            touch      the last byte of FAULT_FILE is written anew before the call
 *            replace    FAULT_OTHER gets the name FAULT_FILE before the call
 *            remove     FAULT_FILE is removed before the call
 *   FAULT_OFTEN=1       calls that move bytes are interrupted, move half or go well in turn; opening is interrupted
 *   FAULT_SPACE=BYTES   that many bytes can be written, then the disk is full
 *   FAULT_NAMED=1       the file system has no unnamed files
 *   FAULT_TIMER=MICROSECONDS  SIGALRM comes in these intervals and interrupts calls
 *   FAULT_REPORT=FILE   all calls in their order, one a line: the name, and the file that is opened */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static struct {
    bool ready, often, named, limited;
    long at, number;
    const char *call, *action, *file, *other;
    int report;
} plan;
static atomic_long calls, moves, space;
static atomic_bool follows; /* a signal comes when the call at work is done */

#define REAL(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static void on_alarm(int number)
{
    (void)number;
}

static void start_timer(long microseconds)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {.it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

__attribute__((constructor)) static void read_plan(void)
{
    const char *colon = strchr(setting("FAULT_DO"), ':'), *report = setting("FAULT_REPORT");
    plan.at = atol(setting("FAULT_AT"));
    plan.number = colon ? atol(colon + 1) : 0;
    plan.call = setting("FAULT_CALL");
    plan.action = setting("FAULT_DO");
    plan.file = setting("FAULT_FILE");
    plan.other = setting("FAULT_OTHER");
    plan.often = *setting("FAULT_OFTEN");
    plan.named = *setting("FAULT_NAMED");
    plan.limited = *setting("FAULT_SPACE");
    plan.report = *report ? open(report, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666) : -1;
    atomic_store(&space, atol(setting("FAULT_SPACE")));
    if (*setting("FAULT_TIMER"))
        start_timer(atol(setting("FAULT_TIMER")));
    plan.ready = true;
}

static bool doing(const char *action)
{
    return strncmp(plan.action, action, strlen(action)) == 0;
}

static void fail_here(const char *what)
{
    perror(what);
    abort(); /* the test cannot do what it is for */
}

static void touch(void)
{
    char byte;
    int fd = REAL(open)(plan.file, O_RDWR);
    off_t size = lseek(fd, 0, SEEK_END);
    if (fd < 0 || size <= 0 || REAL(pread)(fd, &byte, 1, size - 1) != 1 || REAL(pwrite)(fd, &byte, 1, size - 1) != 1)
        fail_here("touch");
    struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 2000000000}};
    futimens(fd, now); /* the file may have been written in the same tick of the clock */
    REAL(close)(fd);
}

static void report(const char *call, const char *detail)
{
    char line[4200];
    if (plan.report < 0)
        return;
    int size = snprintf(line, sizeof line, "%s %s\n", call, detail);
    if (REAL(write)(plan.report, line, (size_t)size) != size)
        fail_here("report");
}

/* What a program does after its own handlers of exit is not the command's work: builds that measure coverage write
 * their counters there. */
static void end_plan(void)
{
    plan.ready = false;
}

/* Counts a call. 0: it is to be made; else it fails with this errno; -1: it moves half of its bytes. */
static int step(const char *call, const char *detail)
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    if (!plan.ready || (*plan.call && strcmp(plan.call, call) != 0))
        return 0;
    /* Not in the constructor, which runs before the program's destructors are registered: the last to come goes first.
     */
    if (!atomic_flag_test_and_set(&registered) && atexit(end_plan) != 0)
        fail_here("atexit");
    int before = errno;
    report(call, detail);
    if (atomic_fetch_add(&calls, 1) + 1 != plan.at)
        return 0;
    if (doing("errno"))
        return (int)plan.number;
    if (doing("short"))
        return -1;
    if (doing("signal"))
        kill(getpid(), (int)plan.number);
    if (doing("after"))
        atomic_store(&follows, true);
    if (doing("cut") && truncate(plan.file, plan.number) != 0)
        fail_here("cut");
    if (doing("touch"))
        touch();
    if (doing("replace") && REAL(rename)(plan.other, plan.file) != 0)
        fail_here("replace");
    if (doing("remove") && REAL(unlink)(plan.file) != 0)
        fail_here("remove");
    errno = before;
    return 0;
}

/* What the call gave, which is done. */
static int end_step(int result)
{
    int before = errno;
    if (atomic_exchange(&follows, false))
        kill(getpid(), (int)plan.number);
    errno = before;
    return result;
}

/* As step, for calls that move bytes; *size becomes how many may go. */
static int step_move(const char *call, size_t *size, bool writes)
{
    int fault = step(call, "");
    if (!fault && plan.ready && plan.often)
        fault = (int[]){EINTR, -1, 0}[atomic_fetch_add(&moves, 1) % 3];
    if (fault > 0)
        return fault;
    if (fault < 0)
        *size = (*size + 1) / 2;
    if (!plan.ready || !plan.limited || !writes)
        return 0;
    long left = atomic_fetch_sub(&space, (long)*size);
    if (left <= 0)
        return ENOSPC;
    if ((size_t)left < *size)
        *size = (size_t)left;
    return 0;
}

#define FAIL_IF(fault)        \
    do {                      \
        int fault_ = (fault); \
        if (fault_ > 0) {     \
            errno = fault_;   \
            return -1;        \
        }                     \
    } while (0)

static int step_open(const char *path, int flags)
{
    static atomic_long opened;
    if (plan.ready && plan.named && (flags & O_TMPFILE) == O_TMPFILE)
        return EOPNOTSUPP;
    int fault = step("open", path);
    return !fault && plan.ready && plan.often && atomic_fetch_add(&opened, 1) % 2 == 0 ? EINTR : fault;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    FAIL_IF(step_open(path, flags));
    return REAL(open)(path, flags, mode);
}

long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_openat2)
        FAIL_IF(step("openat2", (const char *)a[1]));
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int close(int fd)
{
    int fault = step("close", "");
    int closed = REAL(close)(fd);
    FAIL_IF(fault);
    return closed;
}

ssize_t read(int fd, void *to, size_t size)
{
    FAIL_IF(step_move("read", &size, false));
    return REAL(read)(fd, to, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    FAIL_IF(step_move("write", &size, true));
    return REAL(write)(fd, from, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
    FAIL_IF(step_move("pread", &size, false));
    return REAL(pread)(fd, to, size, at);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    FAIL_IF(step_move("pwrite", &size, true));
    return REAL(pwrite)(fd, from, size, at);
}

ssize_t copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t size, unsigned flags)
{
    FAIL_IF(step_move("copy_file_range", &size, true));
    return REAL(copy_file_range)(in, in_at, out, out_at, size, flags);
}

int dup(int fd)
{
    FAIL_IF(step("dup", ""));
    return REAL(dup)(fd);
}

int fsync(int fd)
{
    FAIL_IF(step("fsync", ""));
    return REAL(fsync)(fd);
}

int ftruncate(int fd, off_t size)
{
    FAIL_IF(step("ftruncate", ""));
    return REAL(ftruncate)(fd, size);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    FAIL_IF(step("fallocate", ""));
    return REAL(fallocate)(fd, mode, at, size);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    FAIL_IF(step("linkat", to));
    return end_step(REAL(linkat)(from_folder, from, to_folder, to, flags));
}

int rename(const char *from, const char *to)
{
    FAIL_IF(step("rename", to));
    return end_step(REAL(rename)(from, to));
}

int unlink(const char *path)
{
    FAIL_IF(step("unlink", path));
    return REAL(unlink)(path);
}

int fstat(int fd, struct stat *st)
{
    FAIL_IF(step("fstat", ""));
    return REAL(fstat)(fd, st);
}

int stat(const char *path, struct stat *st)
{
    FAIL_IF(step("stat", path));
    return REAL(stat)(path, st);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    int fault = fd >= 0 ? step("mmap", "") : 0;
    if (fault > 0) {
        errno = fault;
        return MAP_FAILED;
    }
    return REAL(mmap)(address, size, protection, flags, fd, at);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int fault = step("pthread_create", "");
    return fault > 0 ? fault : REAL(pthread_create)(thread, attributes, run, argument);
}
