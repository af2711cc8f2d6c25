/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/contained.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "trial/guarded.h"

static struct contained *current; /* of the child, for its signal handler */

struct contained *contained_new(struct arena *arena)
{
    return child_share(arena, sizeof(struct contained));
}

void contained_found(struct contained *c, const char *code, const char *hint, const char *format, ...)
{
    va_list args;
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->found[i].code, code) == 0)
            return;
    if (c->count == FOUND_MOST)
        return;
    struct found *f = &c->found[c->count];
    snprintf(f->code, sizeof f->code, "%s", code);
    snprintf(f->hint, sizeof f->hint, "%s", hint ? hint : "");
    va_start(args, format);
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
    c->count++;
}

void contained_stage(struct contained *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->stage, sizeof c->stage, format, args);
    va_end(args);
}

/* ---- the child ---- */

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    current->signal = number;
    const struct guarded *g = number == SIGSEGV || number == SIGBUS ? guarded_find(info->si_addr) : NULL;
    if (g) {
        const uint8_t *at = info->si_addr;
        current->access = at < g->data ? ACCESS_BEFORE : at >= g->data + g->size ? ACCESS_BEHIND : ACCESS_CONSTANT;
        strncpy(current->accessed, g->name, sizeof current->accessed - 1);
    }
    _exit(1);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[65536]; /* of the handler: the kernel's may be used up */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

struct task {
    struct contained *contained;
    void (*work)(struct contained *c, void *user);
    void *user;
};

static void work_on(void *task)
{
    const struct task *t = task;
    current = t->contained;
    catch_signals();
    t->work(t->contained, t->user);
}

/* ---- the parent ---- */

static void explain_signal(struct contained *c, int number)
{
    switch (c->access) {
    case ACCESS_BEFORE:
    case ACCESS_BEHIND:
        contained_found(c, "kernel-out-of-bounds", "indices must stay below numTensorSize of the tensor",
                        "accesses memory %s %s (%s)", c->access == ACCESS_BEFORE ? "before" : "behind", c->accessed,
                        c->stage);
        break;
    case ACCESS_CONSTANT:
        contained_found(c, "kernel-writes-input", "inputs, static data and params are shared: copy what is changed",
                        "writes into %s (%s)", c->accessed, c->stage);
        break;
    default:
        contained_found(c, "kernel-crash",
                        number == SIGABRT ? "an exception that leaves the kernel ends the process like this" : NULL,
                        "is ended by signal %d, %s (%s)", number, strsignal(number), c->stage);
    }
}

void contained_run(struct arena *arena, struct contained *c, double seconds,
                   void (*work)(struct contained *c, void *user), void *user)
{
    struct task task = {c, work, user};
    const struct child_fate fate = child_run(arena, seconds, work_on, &task);
    if (fate.end == CHILD_UNMADE)
        arena_exhausted(arena);
    if (c->signal || fate.end == CHILD_SIGNALLED)
        explain_signal(c, c->signal ? c->signal : fate.number);
    else if (fate.end == CHILD_TIMED_OUT)
        contained_found(c, "kernel-hangs", "--timeout gives it longer", "%s (%s)",
                        child_fate_text(arena, &fate, seconds), c->stage);
    else if (fate.end == CHILD_EXITED)
        contained_found(c, "kernel-exits", "a kernel returns an error instead", "%s (%s)",
                        child_fate_text(arena, &fate, seconds), c->stage);
}
