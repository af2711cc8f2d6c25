/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/open_page.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char HINT[] = "open the file in a browser yourself; xdg-open is in the package xdg-utils";

odlc_status open_page(struct arena *arena, struct diags *diags, const char *path)
{
    char program[] = "xdg-open", *argv[] = {program, arena_printf(arena, "%s%s", *path == '-' ? "./" : "", path), NULL};
    pid_t child;
    int ended = 0, failed = posix_spawnp(&child, program, NULL, NULL, argv, environ);
    if (failed == ENOMEM)
        return ODLC_ERR_NOMEM;
    if (failed)
        return diag_error(diags, failed == ENOENT ? ODLC_ERR_UNSUPPORTED : ODLC_ERR_IO, AT(.file = path, .hint = HINT),
                          "open", "the program 'xdg-open' could not be started: %s", strerror(failed));
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR)
            return diag_error(diags, ODLC_ERR_IO, AT(.file = path, .hint = HINT), "open",
                              "waiting for xdg-open failed: %s", strerror(errno));
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        return diag_error(diags, ODLC_ERR_IO, AT(.file = path, .hint = HINT), "open",
                          "the program 'xdg-open' found no browser for the page: it ended with %s %d",
                          WIFEXITED(ended) ? "status" : "signal",
                          WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
    return ODLC_OK;
}
