/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/command.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fault.h"

void command_begin(void)
{
    int fd = open("/", O_PATH); /* reads and writes of it fail; it takes the lowest free number */
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/", O_PATH);
    if (fd >= 0)
        close(fd);
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

int command_end(const char *name, int status, int trouble)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || status == trouble)
        return status;
    fprintf(stderr, "%s: error: standard output could not be written\n", name);
    return trouble;
}
