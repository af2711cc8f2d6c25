/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-diff: what differs between two containers. */
#include "tools/command.h"
#include "opendlc/diff.h"
#include "tools/given_text.h"
#include "tools/options.h"
#include "tools/progress_line.h"
#include "tools/terminal.h"
#include "tools/text_file.h"

enum { STATUS_SAME, STATUS_DIFFERENT, STATUS_TROUBLE };

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-diff.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-diff.def"
    OPTION_VERBOSE("General"),
    OPTIONS_COMMON("General"),
};

static const struct command self = {
    .name = "dlc-diff",
    .summary = "Prints what differs between two DLC containers",
    .usage = "[-i1] FILE [-i2] FILE [options]",
    OPTION_ROWS(rows),
    .epilogue =
        "The exit status is 0 when they are the same, 1 when they differ, and 2 when they could not be compared.",
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    odlc_container *containers[2];
    odlc_diff *diff; /* NULL until they are compared */
};

static struct odlc_diff_options choose(const struct options *options)
{
    static const int ids[ODLC_DIFF_CATEGORIES] = {OPT_METADATA,   OPT_COPYRIGHTS, OPT_LAYERS,
                                                  OPT_PARAMETERS, OPT_OUTPUTS,    OPT_DIMENSIONS,
                                                  OPT_TYPES,      OPT_ENCODINGS,  OPT_WEIGHTS};
    struct odlc_diff_options chosen = {.struct_size = sizeof chosen,
                                       .by_id = options_given(options, OPT_BY_ID),
                                       .hits = options_given(options, OPT_HITS)};
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        chosen.categories |= (unsigned)options_given(options, ids[i]) << i;
    return chosen;
}

static int report_progress(void *line, uint64_t done, uint64_t total)
{
    static const char stage[] = "comparing constants";
    progress_line_report(line, &(struct work_progress){.stage = stage, .done = done, .total = total});
    return 0;
}

static odlc_status find(struct session *s)
{
    struct odlc_diff_options chosen = choose(&s->options);
    struct progress_line line;
    if (progress_line_begin(&line, stderr)) {
        chosen.progress = report_progress;
        chosen.progress_user = &line;
    }
    const odlc_status status = odlc_diff_new(s->containers[0], s->containers[1], &chosen, &s->diff);
    progress_line_end(&line);
    return status;
}

static odlc_status print(struct session *s)
{
    const struct text_form form = terminal_form(stdout);
    const struct odlc_report_options options = {
        .struct_size = sizeof options, .width = form.width, .colours = form.colours};
    struct given_text *report = given_text_new(s->arena);
    if (options_given(&s->options, OPT_JSON))
        TRY(odlc_diff_json(s->diff, &report->text, &report->size));
    else
        TRY(odlc_diff_text(s->diff, &options, &report->text, &report->size));
    return text_put(s->arena, &s->diags, "-", report->text, report->size);
}

static odlc_status save(struct session *s, const char *path)
{
    struct given_text *csv = given_text_new(s->arena);
    TRY(odlc_diff_csv(s->diff, &csv->text, &csv->size));
    return text_put(s->arena, &s->diags, path, csv->text, csv->size);
}

static odlc_status compare(struct session *s)
{
    const char *csv = options_value(&s->options, OPT_SAVE, NULL);
    odlc_status first = odlc_container_open(s->containers[0], options_value(&s->options, OPT_FIRST, ""));
    odlc_status second = odlc_container_open(s->containers[1], options_value(&s->options, OPT_SECOND, ""));
    TRY(first);
    TRY(second);
    TRY(find(s));
    if (csv)
        TRY(save(s, csv));
    return print(s);
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : compare(s);
}

static enum diag_format diag_format(const struct session *s)
{
    return options_given(&s->options, OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, diag_format(s));
    odlc_status status = run_command(s, argc, argv);
    enum diag_format format = diag_format(s);
    if (!command_inputs_intact(s->arena, self.name, format))
        return ODLC_ERR_IO;
    for (size_t i = 0; i < COUNT_OF(s->containers); i++) {
        size_t count;
        const struct odlc_diag *list = odlc_container_diags(s->containers[i], &count);
        print_diags(stderr, self.name, list, count, format);
    }
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, format);
    return command_finish(self.name, format, status);
}

int main(int argc, char **argv)
{
    command_begin();
    struct session s = {.arena = arena_create(), .containers = {odlc_container_new(), odlc_container_new()}};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.containers[0] && s.containers[1]) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    int end = status != ODLC_OK ? STATUS_TROUBLE : s.diff && !odlc_diff_same(s.diff) ? STATUS_DIFFERENT : STATUS_SAME;
    odlc_diff_free(s.diff);
    for (size_t i = 0; i < COUNT_OF(s.containers); i++)
        odlc_container_free(s.containers[i]);
    arena_destroy(s.arena);
    return command_end(self.name, end, STATUS_TROUBLE);
}
