/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_WIDTH = 10000 };

static bool quiet, verbose;

static bool on_terminal(FILE *stream)
{
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd);
}

size_t terminal_columns(FILE *stream)
{
    struct winsize size;
    if (!on_terminal(stream) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

size_t terminal_width(FILE *stream)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long wanted = columns ? strtol(columns, &end, 10) : 0;
    if (wanted > 0 && wanted <= MAX_WIDTH && *end == '\0')
        return (size_t)wanted;
    return terminal_columns(stream);
}

bool terminal_colours(FILE *stream)
{
    const char *never = getenv("NO_COLOR"), *kind = getenv("TERM");
    return on_terminal(stream) && !(never && *never) && !(kind && strcmp(kind, "dumb") == 0);
}

struct text_form terminal_form(FILE *stream)
{
    return (struct text_form){.width = terminal_width(stream), .colours = terminal_colours(stream)};
}

void terminal_be_quiet(void)
{
    quiet = true;
}

bool terminal_is_quiet(void)
{
    return quiet;
}

void terminal_be_verbose(void)
{
    verbose = true;
}

bool terminal_is_verbose(void)
{
    return verbose;
}
