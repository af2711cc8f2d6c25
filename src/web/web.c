/* SPDX-License-Identifier: Apache-2.0 */
/* The reader in a browser: what worker.js calls. One pair of containers is open at a time; whoever wants others starts
 * a worker anew, whose memory is empty. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/stored.h"
#include "report/viewer/viewer.h"
#include "web/imports.h"

#define EXPORT __attribute__((used, visibility("default")))

/* Copies of flatbuffers begin with this room, and get more where they do not fit: lists of tensors are small, but older
 * forms have the weights among them. No flatbuffer is larger than the last one. */
static const uint64_t ROOMS[] = {16u << 20, 256u << 20, (UINT64_C(2) << 30) - (1u << 20)};

struct web_file {
    int number;
    char *name;
    struct file_source source;
    odlc_container *container; /* NULL: there is no such file, or it is not open */
};

static struct web_file files[2]; /* that is shown, that it is compared with */
static struct arena *arena;      /* of the model, and of what is said of the files */
static struct arena *scratch;    /* of the values that were asked for last */
static struct diags own;         /* what the page says beyond the containers' diagnostics */
static struct viewer_later later;
static const char *text_out;
static size_t text_size;

static int read_file(void *user, uint64_t offset, void *bytes, size_t size)
{
    const struct web_file *file = user;
    return web_read(file->number, (double)offset, bytes, size) == 0 ? 0 : EIO;
}

/* Room for the name of a file and its NUL; NULL: there is no memory. */
EXPORT char *web_file(int number, double size, size_t name_bytes)
{
    struct web_file *file = &files[number];
    *file = (struct web_file){.number = number, .name = calloc(1, name_bytes + 1)};
    file->source = (struct file_source){.size = (uint64_t)size, .read = read_file, .user = file};
    return file->name;
}

EXPORT const char *web_text(void)
{
    return text_out;
}

EXPORT size_t web_text_size(void)
{
    return text_size;
}

static odlc_status open_file(struct web_file *file)
{
    odlc_status status = ODLC_ERR_NOMEM;
    for (size_t i = 0; i < COUNT_OF(ROOMS); i++) {
        odlc_container_free(file->container);
        file->container = odlc_container_new();
        if (!file->container)
            return ODLC_ERR_NOMEM;
        file->source.room = ROOMS[i];
        file->source.needs_room = false;
        file->source.error = 0;
        status = container_open_source(file->container, file->name, &file->source);
        if (status == ODLC_OK || !file->source.needs_room)
            break;
    }
    return status;
}

static void give_text(const text *result)
{
    text_out = result->data;
    text_size = result->count;
}

static void add_diags(const struct odlc_diag *list, size_t count, text *words)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = odlc_diag_format(&list[i], ODLC_DIAG_TEXT, "file", NULL, 0);
        char *line = arena_alloc(arena, length + 1);
        (void)odlc_diag_format(&list[i], ODLC_DIAG_TEXT, "file", line, length + 1);
        text_add_bytes(arena, words, line, length);
    }
}

/* What there is to say of the files, as the commands print it. */
static void tell_diags(void)
{
    text words = {0};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t count = 0;
        const struct odlc_diag *list = files[i].container ? odlc_container_diags(files[i].container, &count) : NULL;
        add_diags(list, count, &words);
    }
    add_diags(own.list.data, own.list.count, &words);
    give_text(&words);
}

EXPORT void web_diags(void)
{
    text_size = 0;
    if (arena && !setjmp(*arena_catch(arena)))
        tell_diags();
}

static odlc_status open_files(void)
{
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (files[i].name)
            TRY(open_file(&files[i]));
    return ODLC_OK;
}

/* Of bytes that could not be read, zeros stand in what was made. */
static odlc_status check_read(void)
{
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (files[i].source.error)
            return diag_error(&own, ODLC_ERR_IO, AT(.file = files[i].name, .hint = "open it again"), "io",
                              "cannot read: the file changed, or is not there any more");
    return ODLC_OK;
}

/* Whoever does not want the model ends the worker. */
static bool report_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    web_progress((double)done, (double)total);
    return true;
}

static odlc_status tell_model(void)
{
    const struct progress progress = {.report = report_progress};
    struct diff_options everything = {.progress = &progress};
    size_t count;
    struct diff diff;
    const struct odlc_graph *graphs = odlc_container_graphs(files[0].container, &count);
    if (!count)
        return diag_error(&own, ODLC_ERR_UNSUPPORTED, AT(.file = files[0].name), "no-graph",
                          "the container has no graph");
    struct viewer_subject subject = {
        .container = files[0].container, .shown = graphs, .later = &later, .progress = &progress};
    if (files[1].container) {
        for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
            everything.selected[i] = true;
        diff = diff_containers(arena, &everything, files[1].container, files[0].container);
        subject.diff = &diff;
    }
    later = (struct viewer_later){0};
    TRY(viewer_model(arena, &own, &subject, &text_out, &text_size));
    return check_read();
}

/* Opens the files that web_file told of, and makes the model of the first one (web_text). Gives an odlc_status, of
 * which web_diags tells more. */
EXPORT int web_open(void)
{
    arena_destroy(arena);
    arena = arena_create();
    text_size = 0;
    if (!arena || setjmp(*arena_catch(arena)))
        return ODLC_ERR_NOMEM;
    diags_init(&own, arena);
    odlc_status status = open_files();
    return (int)(status == ODLC_OK ? tell_model() : status);
}

/* Makes the values of the constant that the model numbers so (web_text). */
EXPORT int web_values(size_t number)
{
    text_size = 0;
    arena_destroy(scratch);
    scratch = arena_create();
    if (number >= later.count || !scratch || setjmp(*arena_catch(scratch)) || setjmp(*arena_catch(arena)))
        return ODLC_ERR_NOMEM;
    text_out = viewer_values(scratch, later.data[number], &text_size);
    return (int)check_read();
}
