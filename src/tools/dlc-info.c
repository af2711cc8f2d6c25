/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-info: what is in a container. */
#include <string.h>

#include "base/file.h"
#include "base/foreign.h"
#include "report/info_details.h"
#include "tools/command.h"
#include "tools/npy_out.h"
#include "tools/options.h"
#include "tools/terminal.h"

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-info.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-info.def"
    OPTION_VERBOSE(NULL),
    OPTIONS_COMMON(NULL),
};

static const struct command self = {
    .name = "dlc-info",
    .summary = "Prints what is in a DLC container",
    .usage = "[-i] FILE [options]",
    OPTION_ROWS(rows),
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    odlc_container *container;
    bool findings_printed; /* the container's diagnostics are on stdout already */
};

static odlc_status write_part(void *out, const void *bytes, size_t size)
{
    return out_write(out, bytes, size);
}

static odlc_status save_csv(struct session *s, const struct info_options *shown, const char *path)
{
    struct out_file *out;
    TRY(out_create(s->arena, &s->diags, path, &out));
    TRY(info_write_csv(s->arena, s->container, shown, write_part, out));
    return out_commit(out);
}

static bool as_json(const struct session *s)
{
    return options_given(&s->options, OPT_JSON);
}

static odlc_status tensor_report(struct session *s, const char *name)
{
    const char *npy = options_value(&s->options, OPT_DUMP, NULL);
    const struct text_form form = terminal_form(stdout);
    struct info_tensor which;
    TRY(info_find_tensor(s->arena, &s->diags, s->container, name, &which));
    if (npy)
        TRY(npy_write(s->arena, &s->diags, npy, s->container, which.tensor, options_given(&s->options, OPT_REAL)));
    if (as_json(s))
        info_print_tensor_json(stdout, s->container, &which);
    else
        info_print_tensor(stdout, s->arena, &which, &form);
    return ODLC_OK;
}

static void warn_unmatched(struct session *s, const struct info_options *shown)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(s->container, &n_graphs);
    for (size_t i = 0; i < n_graphs; i++)
        for (size_t k = 0; k < graphs[i].n_ops; k++)
            if (info_node_selected(&graphs[i].ops[k], shown))
                return;
    diag_warn(&s->diags, AT(.file = NULL), "info-nodes", "no node has a name that matches %s", shown->nodes);
}

/* The bits of the processors that are named. */
static odlc_status read_targets(struct session *s, unsigned *out)
{
    const char *const *names;
    size_t count;
    *out = 0;
    options_names(s->arena, &s->options, OPT_TARGET, &names, &count);
    for (size_t i = 0; i < count; i++) {
        int k = 0;
        while (k < ODLC_PROCESSORS && strcmp(names[i], odlc_processor_name((odlc_processor)k)) != 0)
            k++;
        if (k == ODLC_PROCESSORS)
            return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "cpu, gpu, dsp, aip or htp"), "option-value",
                              "option --target: there is no processor %s", names[i]);
        *out |= 1u << k;
    }
    return ODLC_OK;
}

static odlc_status node_report(struct session *s)
{
    struct info_options shown = {.nodes = options_value(&s->options, OPT_NODES, NULL),
                                 .all_encodings = options_given(&s->options, OPT_ENCODINGS),

                                 .memory = options_given(&s->options, OPT_MEMORY),
                                 .form = terminal_form(stdout)};
    shown.compact = shown.form.width && !options_given(&s->options, OPT_WIDE) && !shown.all_encodings;
    const char *csv = options_value(&s->options, OPT_SAVE, NULL);
    TRY(read_targets(s, &shown.targets));
    if (shown.nodes)
        warn_unmatched(s, &shown);
    if (csv)
        TRY(save_csv(s, &shown, csv));
    if (as_json(s))
        info_print_json(stdout, s->container, &shown);
    else
        info_print_text(stdout, s->arena, s->container, &shown);
    return ODLC_OK;
}

/* Findings are results. Trouble with reading the file at all is not: it goes where errors go. */
static odlc_status verification(struct session *s, const char *path)
{
    odlc_status status = odlc_container_open(s->container, path);
    if (status == ODLC_OK)
        status = odlc_container_verify(s->container);
    if (status != ODLC_OK && status != ODLC_ERR_INVALID && status != ODLC_ERR_UNSUPPORTED && status != ODLC_ERR_LIMIT)
        return status;
    s->findings_printed = true;
    if (as_json(s))
        info_print_findings_json(stdout, s->container);
    else
        info_print_findings(stdout, s->arena, s->container, terminal_colours(stdout));
    return status;
}

/* The errors of all are reported. */
static odlc_status add_packages(struct session *s)
{
    const char *const *names;
    size_t count;
    odlc_status status = ODLC_OK;
    options_names(s->arena, &s->options, OPT_UDO_PACKAGES, &names, &count);
    for (size_t i = 0; i < count; i++) {
        odlc_status added = odlc_container_add_op_package(s->container, names[i]);
        status = status == ODLC_OK ? added : status;
    }
    return status;
}

static odlc_status full_report(struct session *s, const char *path)
{
    const struct info_options outline = {.form = terminal_form(stdout)};
    const char *tensor = options_value(&s->options, OPT_TENSOR, NULL);
    odlc_status status = odlc_container_open(s->container, path);
    if (status == ODLC_ERR_UNSUPPORTED && odlc_container_summary(s->container)->path) {
        if (as_json(s))
            info_print_outline_json(stdout, s->container);
        else
            info_print_text(stdout, s->arena, s->container, &outline);
    }
    TRY(status);
    TRY(add_packages(s));
    return tensor ? tensor_report(s, tensor) : node_report(s);
}

static odlc_status check_options(struct session *s)
{
    bool tensor = options_given(&s->options, OPT_TENSOR), verify = options_given(&s->options, OPT_VERIFY);
    if (options_given(&s->options, OPT_DUMP) && !tensor)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "--dump needs --tensor, which says what to dump");
    if (options_given(&s->options, OPT_REAL) && !options_given(&s->options, OPT_DUMP))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "--real is about --dump, which is not given");
    const bool packages = options_given(&s->options, OPT_UDO_PACKAGES);
    if ((packages || options_given(&s->options, OPT_TARGET)) && (verify || tensor))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "--%s is about the table of nodes: it excludes --verify and --tensor",
                          packages ? "udo_package_path" : "target");
    if (verify && (tensor || options_given(&s->options, OPT_SAVE)))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "--verify makes no report: it excludes --tensor and --save");
    if (tensor && options_given(&s->options, OPT_SAVE))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "--save writes the table of nodes: it excludes --tensor");
    return ODLC_OK;
}

static odlc_status report(struct session *s)
{
    const char *path = options_value(&s->options, OPT_INPUT, "");
    TRY(check_options(s));
    odlc_status status = options_given(&s->options, OPT_VERIFY) ? verification(s, path) : full_report(s, path);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "the report could not be written");
    return status;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : report(s);
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
    size_t count;
    const struct odlc_diag *list = odlc_container_diags(s->container, &count);
    if (!s->findings_printed)
        print_diags(stderr, self.name, list, count, format);
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, format);
    return command_finish(self.name, format, status);
}

int main(int argc, char **argv)
{
    foreign_guard_process(self.name);
    command_begin();
    struct session s = {.arena = arena_create(), .container = odlc_container_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.container) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    odlc_container_free(s.container);
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
