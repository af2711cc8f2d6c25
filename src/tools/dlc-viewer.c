/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-viewer: a container as a page, or as a drawing. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "opendlc/report.h"
#include "text/text_table.h"
#include "tools/command.h"
#include "tools/given_text.h"
#include "tools/graphviz.h"
#include "tools/open_page.h"
#include "tools/options.h"
#include "tools/progress_line.h"
#include "tools/text_file.h"

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-viewer.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-viewer.def"
    OPTION_VERBOSE(NULL),
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
    size_t saved;                       /* bytes of the file that was written; 0: there is none */
};

/* The file that is written; NULL: standard output. */
static const char *saved_path(const struct session *s)
{
    const char *path = options_value(&s->options, OPT_SAVE, "-");
    return strcmp(path, "-") == 0 ? NULL : path;
}

/* Where the work is: a comparison comes before the constants of the page. */
struct watched {
    struct progress_line line;
    bool compares;
    uint64_t before; /* what was done last */
};

static int report_progress(void *user, uint64_t done, uint64_t total)
{
    static const char comparing[] = "comparing constants", reading[] = "reading constants";
    struct watched *w = user;
    w->compares = w->compares && done >= w->before;
    w->before = done;
    progress_line_report(
        &w->line, &(struct work_progress){.stage = w->compares ? comparing : reading, .done = done, .total = total});
    return 0;
}

/* Maps the file of an option, if that is given. */
static odlc_status map_option(struct session *s, int option, const struct odlc_bytes **out)
{
    const char *path = options_value(&s->options, option, NULL);
    struct file *file;
    if (!path)
        return ODLC_OK;
    TRY(file_map(s->arena, &s->diags, path, &file));
    struct odlc_bytes *bytes = arena_new(s->arena, struct odlc_bytes);
    *bytes = (struct odlc_bytes){path, file->data, file->size};
    *out = bytes;
    return ODLC_OK;
}

static odlc_status make_page(struct session *s, struct given_text *result)
{
    const char *before = options_value(&s->options, OPT_COMPARE, NULL);
    struct watched watched = {.compares = before != NULL};
    struct odlc_page_options options = {.struct_size = sizeof options,
                                        .graph = options_value(&s->options, OPT_GRAPH, NULL)};
    TRY(map_option(s, OPT_REPORT, &options.report));
    TRY(map_option(s, OPT_EXPLAIN, &options.explanation));
    if (before) {
        TRY(odlc_container_open(s->before, before));
        options.before = s->before;
    }
    if (progress_line_begin(&watched.line, stderr))
        odlc_container_set_progress(s->container, report_progress, &watched);
    const odlc_status status = odlc_container_page(s->container, &options, &result->text, &result->size);
    odlc_container_set_progress(s->container, NULL, NULL);
    progress_line_end(&watched.line);
    return status;
}

static odlc_status draw(struct session *s, struct given_text *dot, text *svg)
{
    TRY(odlc_container_dot(s->container, options_value(&s->options, OPT_GRAPH, NULL), &dot->text, &dot->size));
    return options_given(&s->options, OPT_SVG) ? graphviz_draw(s->arena, &s->diags, dot->text, dot->size, svg)
                                               : ODLC_OK;
}

static odlc_status make(struct session *s)
{
    struct given_text *made = given_text_new(s->arena);
    text svg = {0};
    if (options_given(&s->options, OPT_DOT) || options_given(&s->options, OPT_SVG))
        TRY(draw(s, made, &svg));
    else
        TRY(make_page(s, made));
    const char *bytes = svg.count ? svg.data : made->text;
    const size_t size = svg.count ? svg.count : made->size;
    TRY(text_put(s->arena, &s->diags, options_value(&s->options, OPT_SAVE, "-"), bytes, size));
    s->saved = saved_path(s) ? size : 0;
    return ODLC_OK;
}

/* What follows when all went well: a line for people, and the browser. */
static odlc_status finish(struct session *s)
{
    const char *path = saved_path(s);
    if (!s->saved)
        return ODLC_OK;
    size_t count;
    const char *name = options_value(&s->options, OPT_GRAPH, NULL);
    const struct odlc_graph *graphs = odlc_container_graphs(s->container, &count);
    const struct odlc_graph *shown = name ? odlc_container_find_graph(s->container, name) : graphs;
    if (!options_given(&s->options, OPT_QUIET))
        fprintf(stderr, "%s: %zu ops of graph '%s', %.1f MB%s\n", path, shown->n_ops, printable(s->arena, shown->name),
                (double)s->saved / 1e6, options_given(&s->options, OPT_COMPARE) ? ", with what changed" : "");
    return options_given(&s->options, OPT_OPEN) ? open_page(s->arena, &s->diags, path) : ODLC_OK;
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
    TRY(check_options(s));
    TRY(odlc_container_open(s->container, options_value(&s->options, OPT_INPUT, "")));
    return make(s);
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
    return command_finish(self.name, DIAG_TEXT, status);
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
