/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "tools/terminal.h"

static double begun; /* seconds of clock_seconds */

void command_begin(void)
{
    int fd = open("/", O_PATH); /* reads and writes of it fail; it takes the lowest free number */
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/", O_PATH);
    if (fd >= 0)
        close(fd);
    begun = clock_seconds();
    fault_guard_process();
}

void command_outlives_readers(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
}

bool command_inputs_intact(struct arena *arena, const char *name, enum diag_format format)
{
    struct diags diags;
    diags_init(&diags, arena);
    if (fault_check_inputs(&diags) == ODLC_OK)
        return true;
    print_diags(stderr, name, diags.list.data, diags.list.count, format);
    return false;
}

/* Of this program; getrusage counts what the process was before exec, too. 0: the system does not tell. */
static double peak_megabytes(void)
{
    char line[256];
    unsigned long kibibytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && !kibibytes && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kibibytes = strtoul(line + 6, NULL, 10);
    if (status)
        (void)fclose(status);
    return (double)kibibytes * 1024e-6;
}

static void print_cost(const char *name, enum diag_format format)
{
    char message[128];
    (void)snprintf(message, sizeof message, "took %.2f s, %.2f s of processors, and %.1f MB of memory at most",
                   clock_seconds() - begun, (double)clock() / CLOCKS_PER_SEC, peak_megabytes());
    print_diag(stderr, name, &(struct odlc_diag){.severity = ODLC_NOTE, .code = "cost", .message = message}, format);
}

odlc_status command_finish(const char *name, enum diag_format format, odlc_status status)
{
    if (status == ODLC_ERR_NOMEM)
        return print_out_of_memory(name, format);
    if (terminal_is_verbose())
        print_cost(name, format);
    return status;
}

int command_end(const char *name, int status, int trouble)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || status == trouble)
        return status;
    fprintf(stderr, "%s: error: standard output could not be written\n", name);
    return trouble;
}
