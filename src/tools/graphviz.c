/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/graphviz.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static odlc_status io_error(struct diags *diags, const char *what)
{
    return diag_error(diags, ODLC_ERR_IO, AT(.file = NULL), "io", "%s: %s", what, strerror(errno));
}

static void close_stream(void *stream)
{
    (void)fclose(stream);
}

/* Files, not pipes: neither program waits for the other. */
static odlc_status open_scratch(struct arena *arena, struct diags *diags, FILE **out)
{
    *out = tmpfile();
    if (!*out)
        return io_error(diags, "no temporary file can be made");
    arena_defer(arena, close_stream, *out);
    return ODLC_OK;
}

static odlc_status spawn_dot(struct diags *diags, FILE *in, FILE *out)
{
    char program[] = "dot", format[] = "-Tsvg", *argv[] = {program, format, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int ended = 0;
    if (posix_spawn_file_actions_init(&files) != 0)
        return ODLC_ERR_NOMEM;
    int failed = posix_spawn_file_actions_adddup2(&files, fileno(in), STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, fileno(out), STDOUT_FILENO);
    if (!failed)
        failed = posix_spawnp(&child, argv[0], &files, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    if (failed == ENOMEM)
        return ODLC_ERR_NOMEM;
    if (failed)
        return diag_error(diags, failed == ENOENT ? ODLC_ERR_UNSUPPORTED : ODLC_ERR_IO,
                          AT(.hint = "install Graphviz, or write the graph with --dot and draw it elsewhere"),
                          "graphviz", "the program 'dot' of Graphviz could not be started: %s", strerror(failed));
    while (waitpid(child, &ended, 0) < 0)
        if (errno != EINTR)
            return io_error(diags, "waiting for Graphviz failed");
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        return diag_error(diags, ODLC_ERR_IO, AT(.hint = "the page needs no Graphviz: -s FILE.html"), "graphviz",
                          "the program 'dot' of Graphviz failed with %s %d", WIFEXITED(ended) ? "status" : "signal",
                          WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
    return ODLC_OK;
}

odlc_status graphviz_draw(struct arena *arena, struct diags *diags, const char *dot, size_t size, text *svg)
{
    FILE *in, *out;
    char piece[8192];
    TRY(open_scratch(arena, diags, &in));
    TRY(open_scratch(arena, diags, &out));
    if (fwrite(dot, 1, size, in) != size || fflush(in) != 0 || fseek(in, 0, SEEK_SET) != 0)
        return io_error(diags, "a temporary file could not be written");
    TRY(spawn_dot(diags, in, out));
    rewind(out);
    for (size_t got; (got = fread(piece, 1, sizeof piece, out)) > 0;)
        text_add_bytes(arena, svg, piece, got);
    return ferror(out) ? io_error(diags, "the drawing could not be read") : ODLC_OK;
}
