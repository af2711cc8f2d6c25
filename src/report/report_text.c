/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "api/container_work.h"
#include "text/text_stream.h"

void odlc_text_free(char *text)
{
    free(text);
}

struct printing {
    report_print_fn *print;
    struct arena *arena;
    const void *subject;
};

static void print_subject(FILE *stream, const void *user)
{
    const struct printing *p = user;
    p->print(stream, p->arena, p->subject);
}

odlc_status report_text_in(struct arena *arena, report_print_fn *print, const void *subject, char **text, size_t *size)
{
    const struct printing printing = {print, arena, subject};
    size_t length;
    const char *written = text_written(arena, print_subject, &printing, &length);
    char *copy = malloc(length + 1);
    if (!copy)
        return ODLC_ERR_NOMEM;
    memcpy(copy, written, length + 1);
    *text = copy;
    *size = length;
    return ODLC_OK;
}

odlc_status report_text(report_print_fn *print, const void *subject, char **text, size_t *size)
{
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena))) {
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    const odlc_status status = report_text_in(arena, print, subject, text, size);
    arena_destroy(arena);
    return status;
}

odlc_status report_work_for(odlc_container *container, report_make_fn *make, const void *options, char **text,
                            size_t *size)
{
    struct diags *diags = container_diags(container);
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)) || setjmp(*arena_catch(diags->arena))) {
        arena_destroy(arena);
        return ODLC_ERR_NOMEM;
    }
    const odlc_status status = make(&(struct report_work){arena, diags, container, text, size}, options);
    arena_destroy(arena);
    return status;
}

odlc_status report_check_open(struct diags *diags, const odlc_container *container)
{
    if (odlc_container_summary(container)->path)
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "not-open", "there is no open container to report");
}

odlc_status report_find_graph(struct arena *arena, struct diags *diags, const odlc_container *container,
                              const char *name, const struct odlc_graph **out)
{
    const char *path = odlc_container_summary(container)->path;
    size_t count;
    text known = {0};
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    TRY(report_check_open(diags, container));
    if (!count)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = path), "no-graph", "the container has no graph");
    for (size_t i = 0; i < count; i++) {
        if (!name || strcmp(graphs[i].name, name) == 0) {
            *out = &graphs[i];
            return ODLC_OK;
        }
        text_add(arena, &known, "%s'%s'", i ? ", " : "", graphs[i].name);
    }
    return diag_error(diags, ODLC_ERR_USAGE,
                      AT(.file = path, .hint = arena_printf(arena, "its graphs are %s", known.data)), "unknown-graph",
                      "there is no graph '%s'", name);
}
