#include "base/foreign.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};

static const char *command_name;
static struct sigaction before[COUNT_OF(crashes)];
static _Thread_local const char *volatile current;

void foreign_begin(const char *call)
{
    current = call;
}

void foreign_end(void)
{
    current = NULL;
}

static void print(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody left to tell */
}

static void end_process(const char *call, const char *how)
{
    print(command_name);
    print(": error: ");
    print(call);
    print(" ended the process: ");
    print(how);
    print("\n");
    _exit(FOREIGN_STATUS);
}

/* A crash of our own occurs again, and is left to whoever would have had it. */
static void on_crash(int number)
{
    size_t i = 0;
    while (i + 1 < COUNT_OF(crashes) && crashes[i].number != number)
        i++;
    if (current)
        end_process(current, crashes[i].name);
    sigaction(number, &before[i], NULL);
    raise(number);
}

static void on_exit_call(void)
{
    if (current)
        end_process(current, "it called exit");
}

void foreign_guard_process(const char *command)
{
    static char stack[1 << 16]; /* code that has no stack left crashes, too */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    command_name = command;
    sigemptyset(&crash.sa_mask);
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        sigaction(crashes[i].number, &crash, &before[i]);
    atexit(on_exit_call);
}
