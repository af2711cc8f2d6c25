/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-diff: what differs between two containers. */
#include "base/file.h"
#include "tools/command.h"
#include "tools/diff_print.h"
#include "tools/options.h"

enum { STATUS_SAME, STATUS_DIFFERENT, STATUS_TROUBLE };

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-diff.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-diff.def"
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
    bool different;
};

static struct diff_options choose(const struct options *options)
{
    static const int ids[ODLC_DIFF_CATEGORIES] = {OPT_METADATA,   OPT_COPYRIGHTS, OPT_LAYERS,
                                                  OPT_PARAMETERS, OPT_OUTPUTS,    OPT_DIMENSIONS,
                                                  OPT_TYPES,      OPT_ENCODINGS,  OPT_WEIGHTS};
    struct diff_options chosen = {.by_id = options_given(options, OPT_BY_ID), .hits = options_given(options, OPT_HITS)};
    bool any = false;
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        any |= chosen.selected[i] = options_given(options, ids[i]);
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES && !any; i++)
        chosen.selected[i] = true;
    return chosen;
}

static odlc_status save_csv(struct session *s, const struct diff *d, const char *path)
{
    struct out_file *out;
    text csv = {0};
    diff_csv(d, &csv);
    TRY(out_create(s->arena, &s->diags, path, &out));
    TRY(out_write(out, csv.data, csv.count));
    return out_commit(out);
}

static odlc_status compare(struct session *s)
{
    const char *csv = options_value(&s->options, OPT_SAVE, NULL);
    struct diff_options chosen = choose(&s->options);
    odlc_status first = odlc_container_open(s->containers[0], options_value(&s->options, OPT_FIRST, ""));
    odlc_status second = odlc_container_open(s->containers[1], options_value(&s->options, OPT_SECOND, ""));
    TRY(first);
    TRY(second);
    struct diff d = diff_containers(s->arena, &chosen, s->containers[0], s->containers[1]);
    s->different = diff_found(&d);
    if (csv)
        TRY(save_csv(s, &d, csv));
    if (options_given(&s->options, OPT_JSON))
        diff_print_json(stdout, &d);
    else
        diff_print_text(stdout, &d);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "the report could not be written");
    return ODLC_OK;
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
    return status == ODLC_ERR_NOMEM ? print_out_of_memory(self.name, format) : status;
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
    for (size_t i = 0; i < COUNT_OF(s.containers); i++)
        odlc_container_free(s.containers[i]);
    arena_destroy(s.arena);
    int end = status != ODLC_OK ? STATUS_TROUBLE : s.different ? STATUS_DIFFERENT : STATUS_SAME;
    return command_end(self.name, end, STATUS_TROUBLE);
}
