/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/progress_line.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/terminal.h"

enum { MAX_LINE = 160, DEFAULT_COLUMNS = 80, CARET_C = 2 /* what a terminal shows of the key that interrupts */ };

static const double delay = 0.5, interval = 0.1, rate_after = 0.2; /* seconds */

/* ---- the text ---- */

struct parts {
    char *out;
    size_t length, room;
    bool full; /* a part did not fit, so no later one is added */
};

static void add_part(struct parts *parts, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_part(struct parts *parts, const char *format, ...)
{
    char part[MAX_LINE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(part, sizeof part, format, args);
    va_end(args);
    if (parts->full || length < 0 || (size_t)length >= sizeof part || parts->length + (size_t)length > parts->room) {
        parts->full = true;
        return;
    }
    memcpy(parts->out + parts->length, part, (size_t)length + 1);
    parts->length += (size_t)length;
}

static void add_bytes(struct parts *parts, const struct work_progress *p)
{
    bool giga = p->total >= 1000000000;
    double unit = giga ? 1e9 : 1e6;
    add_part(parts, ": %.1f of %.1f %s", (double)p->done / unit, (double)p->total / unit, giga ? "GB" : "MB");
}

static void add_time_left(struct parts *parts, double seconds)
{
    uint64_t left = (uint64_t)(seconds + 0.9); /* "0:00" would say that there is nothing left */
    if (left >= 3600)
        add_part(parts, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", left / 3600, left / 60 % 60, left % 60);
    else
        add_part(parts, ", %" PRIu64 ":%02" PRIu64 " left", left / 60, left % 60);
}

void progress_text(char *out, size_t size, size_t columns, const struct work_progress *p, double seconds)
{
    struct parts parts = {.out = out, .room = columns < size ? columns : size - 1};
    *out = '\0';
    add_part(&parts, "%s", p->stage);
    if (!p->total || p->done > p->total)
        return;
    if (!p->unit)
        add_bytes(&parts, p);
    else
        add_part(&parts, ": %" PRIu64 " of %" PRIu64 "%s", p->done, p->total, p->unit);
    add_part(&parts, ", %.0f %%", 100.0 * (double)p->done / (double)p->total);
    if (p->done <= p->before || seconds < rate_after)
        return;
    double rate = (double)(p->done - p->before) / seconds;
    if (!p->unit)
        add_part(&parts, ", %.0f MB/s", rate / 1e6);
    else if (p->rate)
        add_part(&parts, ", %.*f %s", rate < 10, rate, p->rate);
    add_time_left(&parts, (double)(p->total - p->done) / rate);
}

/* ---- the screen ---- */

/* A signal handler has nothing but globals: what it needs to erase the line that is on the screen. */
static struct {
    int fd;
    volatile sig_atomic_t length;
} shown;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[COUNT_OF(numbers)];

/* Only what may be called in a signal handler. */
static void blank(int fd, size_t length)
{
    char spaces[MAX_LINE + CARET_C + 2];
    memset(spaces, ' ', sizeof spaces);
    spaces[0] = spaces[length + 1] = '\r';
    ssize_t ignored = write(fd, spaces, length + 2);
    (void)ignored;
}

/* Whoever was in charge of the signal decides what becomes of the process once this returns. */
static void erase_and_pass_on(int number)
{
    blank(shown.fd, (size_t)shown.length + CARET_C);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] == number)
            sigaction(number, &before[i], NULL);
    raise(number);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = erase_and_pass_on};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

static void release_signals(void)
{
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
}

/* A process in the background would write between the lines of another, or be stopped by the terminal. */
static bool in_foreground(FILE *stream)
{
    pid_t group = tcgetpgrp(fileno(stream));
    return group < 0 || group == getpgrp();
}

static void draw(struct progress_line *line, const char *text)
{
    size_t length = strlen(text), left_over = line->length > length ? line->length - length : 0;
    shown.fd = fileno(line->stream);
    shown.length = (sig_atomic_t)(length + left_over);
    if (line->drawn == 0)
        catch_signals();
    fprintf(line->stream, "\r%s%*s", text, (int)left_over, "");
    (void)fflush(line->stream); /* a line that cannot be drawn is no failure */
    line->length = length;
}

bool progress_line_begin(struct progress_line *line, FILE *stream)
{
    const char *kind = getenv("TERM");
    double time = clock_seconds();
    *line = (struct progress_line){.stream = stream, .began = time, .stage_began = time};
    return !terminal_is_quiet() && isatty(fileno(stream)) && !(kind && strcmp(kind, "dumb") == 0);
}

void progress_line_report(struct progress_line *line, const struct work_progress *progress)
{
    char text[MAX_LINE];
    double time = clock_seconds();
    if (progress->stage != line->stage) {
        line->stage = progress->stage;
        line->stage_began = time;
    }
    if (time - line->began < delay || time - line->drawn < interval || !in_foreground(line->stream))
        return;
    size_t columns = terminal_columns(line->stream);
    /* A character in the last column makes some terminals begin a new line. */
    progress_text(text, sizeof text, (columns ? columns : DEFAULT_COLUMNS) - 1, progress, time - line->stage_began);
    draw(line, text);
    line->drawn = time;
}

void progress_line_end(struct progress_line *line)
{
    if (line->drawn == 0)
        return;
    blank(fileno(line->stream), line->length);
    release_signals();
    line->drawn = 0;
    line->length = 0;
}
