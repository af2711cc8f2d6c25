/* SPDX-License-Identifier: Apache-2.0 */
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

/* Of a forked process: where its last words go. */
static struct {
    char *text; /* NULL: there are none */
    size_t size;
} last_words;

/* Adds to the last words, as far as there is room. */
static void say(const char *text)
{
    const size_t length = strlen(last_words.text), room = last_words.size - length - 1, wanted = strlen(text);
    memcpy(last_words.text + length, text, wanted < room ? wanted : room);
}

static void forget_words(void)
{
    if (last_words.text)
        memset(last_words.text, 0, strlen(last_words.text));
}

void foreign_begin(const char *call)
{
    current = call;
    if (last_words.text)
        say(call);
}

void foreign_end(void)
{
    current = NULL;
    forget_words();
}

void foreign_help(const char *call)
{
    current = call;
}

void foreign_helped(void)
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
    const char *const parts[] = {command_name, ": error: ", call, " ended the process: ", how, "\n"};
    forget_words();
    for (size_t i = last_words.text ? 2 : 0; i < COUNT_OF(parts) - (last_words.text != NULL); i++)
        if (last_words.text)
            say(parts[i]);
        else
            print(parts[i]);
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

static void guard(void)
{
    static char stack[1 << 16]; /* code that has no stack left crashes, too */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&crash.sa_mask);
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        sigaction(crashes[i].number, &crash, &before[i]);
    atexit(on_exit_call);
}

void foreign_guard_process(const char *command)
{
    command_name = command;
    guard();
}

/* A command that has its own guard has registered it for exit, too. */
void foreign_guard_fork(char *words, size_t size)
{
    last_words.text = words;
    last_words.size = size;
    if (!command_name)
        guard();
}
