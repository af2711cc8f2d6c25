/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-viewer makes, of a container of the public API. */
#include "api/container_work.h"
#include "base/struct_size.h"
#include "report/explain/explain_page.h"
#include "report/report_text.h"
#include "report/viewer/viewer.h"

/* ---- the page ---- */

struct model {
    const char *json;
    size_t size;
};

static void print_page(FILE *stream, struct arena *arena, const void *subject)
{
    const struct model *model = subject;
    (void)arena;
    html_page_print(stream, &viewer_page, model->json, model->size);
}

static void print_explanation(FILE *stream, struct arena *arena, const void *subject)
{
    (void)arena;
    explain_page_print(stream, subject);
}

static odlc_status explain(const struct report_work *w, const struct odlc_bytes *explanation)
{
    struct json *read;
    TRY(explain_page_read(w->arena, w->diags, explanation, w->container, &read));
    return report_text_in(w->arena, print_explanation, read, w->text, w->size);
}

static odlc_status compare(const struct report_work *w, const odlc_container *before, const struct diff **out)
{
    struct diff *diff = arena_new(w->arena, struct diff);
    struct diff_options *everything = arena_new(w->arena, struct diff_options);
    everything->progress = container_progress(w->container);
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        everything->selected[i] = true;
    *diff = diff_containers(w->arena, everything, before, w->container);
    *out = diff;
    return diff->stopped ? progress_stopped(w->diags) : ODLC_OK;
}

static bool has_graphs(const odlc_container *container)
{
    size_t count;
    (void)odlc_container_graphs(container, &count);
    return count > 0;
}

static odlc_status refuse(const struct report_work *w, const char *message)
{
    return diag_error(w->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage", "%s", message);
}

static odlc_status make_page(const struct report_work *w, const void *given)
{
    struct odlc_page_options options;
    struct viewer_subject subject = {.container = w->container, .progress = container_progress(w->container)};
    struct json *report = NULL;
    struct model model;
    if (!struct_read(&options, sizeof options, given))
        return refuse(w, "the options have no size, or members that this version does not know");
    if (!!options.before + !!options.report + !!options.explanation > 1)
        return refuse(w, "a page has a container before, a report or an explanation, and not two of them");
    if (options.before && !has_graphs(options.before))
        return refuse(w, "the container before is not open");
    TRY(report_find_graph(w->arena, w->diags, w->container, options.graph, &subject.shown));
    if (options.explanation)
        return explain(w, options.explanation);
    if (options.report)
        TRY(viewer_read_report(w->arena, w->diags, options.report, w->container, &report));
    subject.report = report;
    if (options.before)
        TRY(compare(w, options.before, &subject.diff));
    TRY(viewer_model(w->arena, w->diags, &subject, &model.json, &model.size));
    return report_text_in(w->arena, print_page, &model, w->text, w->size);
}

/* ---- the drawing ---- */

static void print_dot(FILE *stream, struct arena *arena, const void *graph)
{
    text dot = {0};
    viewer_add_dot(arena, graph, &dot);
    (void)fwrite(dot.data, 1, dot.count, stream);
}

static odlc_status make_dot(const struct report_work *w, const void *name)
{
    const struct odlc_graph *graph = NULL;
    TRY(report_find_graph(w->arena, w->diags, w->container, name, &graph));
    return report_text_in(w->arena, print_dot, graph, w->text, w->size);
}

/* ---- both ---- */

odlc_status odlc_container_page(odlc_container *container, const struct odlc_page_options *options, char **text,
                                size_t *size)
{
    return report_work_for(container, make_page, options, text, size);
}

odlc_status odlc_container_dot(odlc_container *container, const char *graph, char **text, size_t *size)
{
    return report_work_for(container, make_dot, graph, text, size);
}
