/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

enum { SCRATCH_NAMES = 16 };

static atomic_flag list_lock = ATOMIC_FLAG_INIT;
static struct watch *watches; /* newest first; under the lock, as are their previous and next */
static atomic_bool one_work;
static _Atomic(const char *) scratch_names[SCRATCH_NAMES];
static struct sigaction bus_before;
static uintptr_t page_size;

/* ---- the list of mapped files ---- */

/* The handler of SIGBUS takes this lock, too. It cannot wait for itself: whoever holds the lock reads no mapped file.
 */
static void lock_list(void)
{
    while (atomic_flag_test_and_set_explicit(&list_lock, memory_order_acquire))
        sched_yield();
}

static void unlock_list(void)
{
    atomic_flag_clear_explicit(&list_lock, memory_order_release);
}

void fault_watch(struct watch *watch, const struct file *file, const struct diags *diags, const struct stat *opened)
{
    watch->file = file;
    watch->diags = diags;
    watch->is_input = (fcntl(file->fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    watch->opened = *opened;
    lock_list();
    watch->next = watches;
    if (watches)
        watches->previous = watch;
    watches = watch;
    unlock_list();
}

void fault_unwatch(struct watch *watch)
{
    if (!watch->file)
        return;
    lock_list();
    if (watch->next)
        watch->next->previous = watch->previous;
    if (watch->previous)
        watch->previous->next = watch->next;
    else
        watches = watch->next;
    unlock_list();
    watch->file = NULL;
}

/* ---- changed inputs ---- */

static bool is_input_of(const struct watch *watch, const struct diags *diags)
{
    return watch->is_input && (watch->diags == diags || atomic_load(&one_work));
}

bool fault_is_input(const struct stat *st)
{
    bool found = false;
    if (!atomic_load(&one_work))
        return false;
    lock_list();
    for (const struct watch *w = watches; w && !found; w = w->next)
        found = w->is_input && w->opened.st_dev == st->st_dev && w->opened.st_ino == st->st_ino;
    unlock_list();
    return found;
}

static size_t count_inputs(const struct diags *diags)
{
    size_t count = 0;
    lock_list();
    for (const struct watch *w = watches; w; w = w->next)
        count += is_input_of(w, diags);
    unlock_list();
    return count;
}

/* The inputs of the work, oldest first. Nothing may be allocated under the lock, since a failure jumps. */
static const struct watch **list_inputs(const struct diags *diags, size_t *count)
{
    size_t room = count_inputs(diags), free = room;
    const struct watch **list = arena_array(diags->arena, const struct watch *, room);
    lock_list();
    for (const struct watch *w = watches; w && free > 0; w = w->next)
        if (is_input_of(w, diags))
            list[--free] = w;
    unlock_list();
    *count = room - free;
    return list + free;
}

static bool same_content(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What befell the file, or NULL. */
static const char *harm(const struct watch *watch)
{
    struct stat now, named;
    if (fstat(watch->file->fd, &now) != 0)
        return "cannot be looked at any more";
    if (now.st_size < watch->opened.st_size)
        return "became shorter while it was read";
    if (atomic_load(&watch->damaged))
        return "could not be read: input/output error";
    if (!same_content(&now, &watch->opened))
        return "changed while it was read";
    if (atomic_load(&one_work) && stat(watch->file->path, &named) == 0 &&
        (named.st_dev != now.st_dev || named.st_ino != now.st_ino))
        return "was replaced while it was read";
    return NULL;
}

static bool any_harmed(const struct diags *diags)
{
    bool found = false;
    lock_list();
    for (const struct watch *w = watches; w && !found; w = w->next)
        found = is_input_of(w, diags) && harm(w);
    unlock_list();
    return found;
}

/* A file that was opened twice is reported once. */
static bool reported(const struct watch *const *inputs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (inputs[k]->opened.st_dev == inputs[i]->opened.st_dev &&
            inputs[k]->opened.st_ino == inputs[i]->opened.st_ino)
            return true;
    return false;
}

odlc_status fault_check_inputs(struct diags *diags)
{
    odlc_status status = ODLC_OK;
    size_t count;
    if (!any_harmed(diags)) /* needs no memory: outputs are complete by now, and some have their names */
        return ODLC_OK;
    const struct watch **inputs = list_inputs(diags, &count);
    for (size_t i = 0; i < count; i++) {
        const char *what = harm(inputs[i]);
        if (what && !reported(inputs, i))
            status =
                diag_error(diags, ODLC_ERR_IO, AT(.file = inputs[i]->file->path), "file-changed", "the file %s", what);
    }
    return status;
}

/* ---- signals ---- */

/* Puts zeros where the rest of the mapped file was; false when the address is in none. */
static bool put_zeros(uintptr_t address)
{
    bool done = false;
    lock_list();
    for (struct watch *w = watches; w && !done; w = w->next) {
        uintptr_t from = (uintptr_t)w->file->data, to = align_up(from + w->file->size, page_size);
        if (!w->file->data || address < from || address >= to)
            continue;
        from = address / page_size * page_size;
        done = mmap((void *)from, to - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                    0) != MAP_FAILED;
        atomic_store(&w->damaged, true);
    }
    unlock_list();
    return done;
}

/* What is no affair of ours is left to whoever would have had it: the fault occurs again. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    int before = errno;
    bool sent = info->si_code <= 0; /* by a process: there is no address */
    if (sent || !put_zeros((uintptr_t)info->si_addr))
        sigaction(SIGBUS, &bus_before, NULL);
    if (sent)
        raise(number);
    errno = before;
}

static void on_end(int number)
{
    for (size_t i = 0; i < SCRATCH_NAMES; i++) {
        const char *name = atomic_load(&scratch_names[i]);
        if (name)
            unlink(name);
    }
    raise(number); /* waits until this handler, which is none any more, has returned */
}

void fault_remember_scratch(const char *name)
{
    for (size_t i = 0; i < SCRATCH_NAMES; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&scratch_names[i], &none, name))
            return;
    }
}

void fault_forget_scratch(const char *name)
{
    for (size_t i = 0; i < SCRATCH_NAMES; i++) {
        const char *found = name;
        atomic_compare_exchange_strong(&scratch_names[i], &found, NULL);
    }
}

void fault_guard_process(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
    struct sigaction end = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
    struct sigaction bus = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    atomic_store(&one_work, true);
    sigemptyset(&end.sa_mask);
    sigemptyset(&bus.sa_mask);
    sigemptyset(&ignore.sa_mask);
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &end, NULL);
    sigaction(SIGBUS, &bus, &bus_before);
    sigaction(SIGXFSZ, &ignore, NULL);
}
