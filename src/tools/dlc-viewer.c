/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-viewer: a container as a page, or as a drawing. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/command.h"
#include "tools/explain/explain_page.h"
#include "tools/options.h"
#include "tools/progress_line.h"
#include "tools/text_file.h"
#include "tools/text_table.h"
#include "tools/viewer/viewer.h"

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-viewer.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-viewer.def"
    OPTIONS_COMMON(NULL),
};

static const struct command self = {
    .name = "dlc-viewer",
    .summary = "Shows the graphs of a DLC container in a web page that needs no network",
    .usage = "[-i] FILE -s FILE.html [options]",
    OPTION_ROWS(rows),
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    odlc_container *container, *before; /* before: that it is compared with */
    const struct odlc_graph *graph;     /* that is drawn, or shown first */
    size_t saved;                       /* bytes of the file that was written; 0: there is none */
};

static odlc_status find_graph(struct session *s)
{
    const char *name = options_value(&s->options, OPT_GRAPH, NULL), *hint;
    const char *path = options_value(&s->options, OPT_INPUT, NULL);
    size_t count;
    text known = {0};
    const struct odlc_graph *graphs = odlc_container_graphs(s->container, &count);
    if (!count)
        return diag_error(&s->diags, ODLC_ERR_UNSUPPORTED, AT(.file = path), "no-graph", "the container has no graph");
    for (size_t i = 0; i < count; i++) {
        if (!name || strcmp(graphs[i].name, name) == 0) {
            s->graph = &graphs[i];
            return ODLC_OK;
        }
        text_add(s->arena, &known, "%s'%s'", i ? ", " : "", graphs[i].name);
    }
    hint = arena_printf(s->arena, "its graphs are %s", known.data);
    return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = path, .hint = hint), "unknown-graph",
                      "there is no graph '%s'", name);
}

static void report_progress(void *line, uint64_t done, uint64_t total)
{
    static const char stage[] = "reading constants";
    progress_line_report(line, &(struct work_progress){.stage = stage, .done = done, .total = total});
}

static odlc_status make_page(struct session *s, text *result)
{
    struct progress_line line;
    struct json *report = NULL;
    const char *before = options_value(&s->options, OPT_COMPARE, NULL);
    struct diff_options everything = {.by_id = false};
    struct diff diff;
    if (options_given(&s->options, OPT_REPORT))
        TRY(viewer_read_report(s->arena, &s->diags, options_value(&s->options, OPT_REPORT, ""), s->container, &report));
    if (before) {
        TRY(odlc_container_open(s->before, before));
        for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
            everything.selected[i] = true;
        diff = diff_containers(s->arena, &everything, s->before, s->container);
    }
    struct viewer_subject subject = {
        .container = s->container, .shown = s->graph, .report = report, .diff = before ? &diff : NULL};
    if (progress_line_begin(&line, stderr)) {
        subject.progress = report_progress;
        subject.user = &line;
    }
    viewer_add_page(s->arena, &subject, result);
    progress_line_end(&line);
    return ODLC_OK;
}

static odlc_status make(struct session *s, text *result)
{
    text dot = {0};
    if (options_given(&s->options, OPT_DOT)) {
        viewer_add_dot(s->arena, s->graph, result);
        return ODLC_OK;
    }
    if (options_given(&s->options, OPT_EXPLAIN))
        return explain_page_add(s->arena, &s->diags, options_value(&s->options, OPT_EXPLAIN, ""), s->container, result);
    if (!options_given(&s->options, OPT_SVG))
        return make_page(s, result);
    viewer_add_dot(s->arena, s->graph, &dot);
    return viewer_run_graphviz(s->arena, &s->diags, &dot, result);
}

/* The file that is written; NULL: standard output. */
static const char *saved_path(const struct session *s)
{
    const char *path = options_value(&s->options, OPT_SAVE, "-");
    return strcmp(path, "-") == 0 ? NULL : path;
}

/* What follows when all went well: a line for people, and the browser. */
static odlc_status finish(struct session *s)
{
    const char *path = saved_path(s);
    if (!s->saved)
        return ODLC_OK;
    if (!options_given(&s->options, OPT_QUIET))
        fprintf(stderr, "%s: %zu ops of graph '%s', %.1f MB%s\n", path, s->graph->n_ops,
                printable(s->arena, s->graph->name), (double)s->saved / 1e6,
                options_given(&s->options, OPT_COMPARE) ? ", with what changed" : "");
    return options_given(&s->options, OPT_OPEN) ? viewer_open_page(s->arena, &s->diags, path) : ODLC_OK;
}

static odlc_status check_drawing(struct session *s, const char *form)
{
    static const struct {
        int id;
        const char *name;
    } of_pages[] = {{OPT_REPORT, "report"}, {OPT_COMPARE, "compare"}, {OPT_EXPLAIN, "explain"}, {OPT_OPEN, "open"}};
    for (size_t i = 0; i < COUNT_OF(of_pages); i++)
        if (options_given(&s->options, of_pages[i].id))
            return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = arena_printf(s->arena, "leave out %s", form)),
                              "usage", "--%s is for a page", of_pages[i].name);
    return ODLC_OK;
}

static odlc_status check_options(struct session *s)
{
    bool dot = options_given(&s->options, OPT_DOT), svg = options_given(&s->options, OPT_SVG);
    if (dot && svg)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage", "--dot and --svg exclude each other");
    if (dot || svg)
        TRY(check_drawing(s, dot ? "--dot" : "--svg"));
    if (options_given(&s->options, OPT_EXPLAIN) &&
        (options_given(&s->options, OPT_REPORT) || options_given(&s->options, OPT_COMPARE)))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "leave out --report and --compare"), "usage",
                          "--explain is for a page of its own");
    if (options_given(&s->options, OPT_REPORT) && options_given(&s->options, OPT_COMPARE))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "make two pages"), "usage",
                          "--report and --compare exclude each other: both colour the ops");
    if (options_given(&s->options, OPT_OPEN) && !saved_path(s))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "-s FILE.html"), "usage",
                          "--open needs a file: say where the page goes");
    if (!dot && !svg && !options_given(&s->options, OPT_SAVE) && isatty(STDOUT_FILENO))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "-s FILE.html"), "usage",
                          "a page is not for a terminal: say where it goes");
    return ODLC_OK;
}

static odlc_status view(struct session *s)
{
    text result = {0};
    TRY(check_options(s));
    TRY(odlc_container_open(s->container, options_value(&s->options, OPT_INPUT, "")));
    TRY(find_graph(s));
    TRY(make(s, &result));
    TRY(text_put(s->arena, &s->diags, options_value(&s->options, OPT_SAVE, "-"), result.data, result.count));
    s->saved = saved_path(s) ? result.count : 0;
    return ODLC_OK;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : view(s);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (!command_inputs_intact(s->arena, self.name, DIAG_TEXT))
        return ODLC_ERR_IO;
    if (status == ODLC_OK)
        status = finish(s);
    const odlc_container *const read[] = {s->container, s->before};
    for (size_t i = 0; i < COUNT_OF(read); i++) {
        size_t count;
        const struct odlc_diag *list = odlc_container_diags(read[i], &count);
        print_diags(stderr, self.name, list, count, DIAG_TEXT);
    }
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
    return status == ODLC_ERR_NOMEM ? print_out_of_memory(self.name, DIAG_TEXT) : status;
}

int main(int argc, char **argv)
{
    command_begin();
    struct session s = {.arena = arena_create(), .container = odlc_container_new(), .before = odlc_container_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.container && s.before) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    odlc_container_free(s.container);
    odlc_container_free(s.before);
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
