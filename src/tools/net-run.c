/* SPDX-License-Identifier: Apache-2.0 */
/* net-run: executes a container on raw input files. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/c_locale.h"
#include "base/foreign.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/run_compare.h"
#include "tools/run_expected.h"
#include "tools/run_gpu.h"
#include "tools/run_report.h"
#include "tools/run_threads.h"
#include "tools/terminal.h"

static const char on_the_host[] = "the host executes the graph, whatever processor is asked for";

enum {
#define OPTION OPTION_IDS
#include "tools/net-run.def"
};
static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/net-run.def"
    OPTION_VERBOSE(NULL),
    OPTIONS_COMMON(NULL),
};

static const struct command self = {
    .name = "net-run",
    .summary = "Executes a DLC container and writes its results as raw files",
    .usage = "[--container] FILE [--input_list] FILE [options]",
    OPTION_ROWS(rows),
    .epilogue = "Raw files hold the elements in row-major order, little-endian. See net-run(1).",
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    struct run_settings settings;
    struct run_crew crew;
};

/* ---- settings ---- */

static struct run_names names_of(struct session *s, int option)
{
    struct run_names names = {.given = options_given(&s->options, option)};
    options_names(s->arena, &s->options, option, &names.data, &names.count);
    return names;
}

static odlc_status read_isolation(struct session *s)
{
    struct run_settings *settings = &s->settings;
    settings->isolates = options_given(&s->options, OPT_ISOLATE);
    TRY(options_int(&s->options, &s->diags, OPT_TIMEOUT, 1, 1000000, &settings->isolate_seconds));
    if (settings->isolate_seconds && !settings->isolates)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "add --isolate"), "option-value",
                          "option --isolate_timeout is for executions in a process of their own");
    return ODLC_OK;
}

static bool is_container(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".dlc") == 0;
}

static bool is_folder(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

static odlc_status end_comparison(const struct run_worker *w)
{
    return w->expected ? run_expected_end(w->expected) : w->compare ? run_compare_end(w->compare) : ODLC_OK;
}

static odlc_status read_comparison(struct session *s)
{
    struct run_settings *settings = &s->settings;
    const char *text = options_value(&s->options, OPT_TOLERANCE, "1e-4");
    char *end;
    settings->compared = names_of(s, OPT_COMPARE);
    settings->compares_containers = settings->compared.count == 1 && is_container(settings->compared.data[0]);
    settings->compare_json = options_value(&s->options, OPT_COMPARE_JSON, NULL);
    settings->compares_files = settings->compared.count == 1 && is_folder(settings->compared.data[0]);
    if (settings->compare_json && !settings->compares_containers && !settings->compares_files)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "--compare FILE.dlc, or a folder"), "option-value",
                          "option --compare_json is for the comparison with a container or with files");
    settings->tolerance = c_strtod(text, &end);
    if (end == text || *end || !(settings->tolerance >= 0))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "a number such as 1e-4"), "option-value",
                          "option --compare_tolerance: '%s' is no tolerance", text);
    if (settings->compared.given && (settings->isolates || settings->debug))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value",
                          "option --compare goes with neither --isolate nor --debug");
    return ODLC_OK;
}

/* 0 where the command line says nothing. */
static odlc_status read_threads(struct session *s)
{
    struct run_settings *settings = &s->settings;
    int64_t threads = 0, jobs = 0;
    TRY(options_int(&s->options, &s->diags, OPT_THREADS, 1, MAX_THREADS, &threads));
    TRY(options_int(&s->options, &s->diags, OPT_JOBS, 1, MAX_JOBS, &jobs));
    settings->threads = (unsigned)threads;
    settings->jobs = (unsigned)jobs;
    if (jobs > 1 && (settings->isolates || settings->compared.given))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "leave out --jobs"), "option-value",
                          "option --jobs: with %s there is one inference at a time",
                          settings->isolates ? "--isolate" : "--compare");
    return ODLC_OK;
}

/* "2M" */
static odlc_status read_size(struct session *s, int option, int64_t *out)
{
    const char *text = options_value(&s->options, option, NULL);
    char *end;
    if (!text)
        return ODLC_OK;
    const long long number = strtoll(text, &end, 10);
    const unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    if (end == text || end[shift != 0] || number < 1 || number > INT64_C(1) << 40)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "bytes, for example 2097152, 2048K or 2M"),
                          "option-value", "option --tcm_size: '%s' is no size", text);
    *out = (int64_t)number << shift;
    return ODLC_OK;
}

static odlc_status read_plugins(struct session *s)
{
    const char *form = options_value(&s->options, OPT_EXPLAIN, NULL);
    s->settings.explains = options_given(&s->options, OPT_EXPLAIN);
    if (form && strcmp(form, "json") != 0 && !run_report_is_file(form))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "--explain, --explain=json or --explain=FILE.json"),
                          "option-value", "option --explain: '%s' is no form", form);
    TRY(options_int(&s->options, &s->diags, OPT_SLICES, 1, 1024, &s->settings.slices));
    return read_size(s, OPT_TCM_SIZE, &s->settings.tcm_size);
}

static bool measures(const struct options *o)
{
    return options_given(o, OPT_ITERATIONS) || options_given(o, OPT_DURATION) || options_given(o, OPT_PROFILE) ||
           options_given(o, OPT_PROFILE_JSON) || options_given(o, OPT_TRACE);
}

static odlc_status read_settings(struct session *s)
{
    struct run_settings *settings = &s->settings;
    const struct options *o = &s->options;
    settings->container = options_value(o, OPT_CONTAINER, "");
    settings->output_dir = options_value(o, OPT_OUTPUT_DIR, "./output");
    settings->registrations = names_of(s, OPT_UDO_PACKAGES);
    settings->packages = names_of(s, OPT_OP_PACKAGES);
    settings->backends = names_of(s, OPT_BACKEND);
    settings->results = names_of(s, OPT_OUTPUT_TENSORS);
    settings->nodes = names_of(s, OPT_OUTPUT_LAYERS);
    settings->native_inputs = options_given(o, OPT_NATIVE_INPUTS);
    settings->native_outputs = options_given(o, OPT_NATIVE_OUTPUTS);
    settings->npy_outputs = options_given(o, OPT_NPY);
    settings->debug = options_given(o, OPT_DEBUG);
    settings->traces = options_given(o, OPT_TRACE);
    settings->times_kernels =
        options_given(o, OPT_PROFILE) || options_given(o, OPT_PROFILE_JSON) || options_given(o, OPT_TRACE);
    settings->iterations = 1;
    TRY(options_int(o, &s->diags, OPT_ITERATIONS, 1, 1000000, &settings->iterations));
    TRY(options_int(o, &s->diags, OPT_DURATION, 1, 1000000, &settings->duration));
    TRY(read_plugins(s));
    TRY(read_isolation(s));
    TRY(read_comparison(s));
    TRY(read_threads(s));
    const struct run_gpu_options gpu = {.is_first = options_given(o, OPT_USE_GPU) || options_given(o, OPT_USE_GPU_FP16),
                                        .is_half = options_given(o, OPT_USE_GPU_FP16),
                                        .priority = options_value(o, OPT_PRIORITY, NULL),
                                        .config_file = options_value(o, OPT_CONFIG_FILE, NULL),
                                        .perf_hint = options_value(o, OPT_PERF_HINT, NULL),
                                        .context_cache = options_value(o, OPT_CONTEXT_CACHE, NULL),
                                        .performance_cache = options_value(o, OPT_PERFORMANCE_CACHE, NULL),
                                        .rebuilds = options_given(o, OPT_REBUILD_CACHE),
                                        .tunes = options_given(o, OPT_TUNING)};
    return run_gpu_settle(s->arena, &s->diags, &gpu, settings);
}

/* ---- running ---- */

static odlc_status print_reports(struct session *s, size_t executed)
{
    const struct options *o = &s->options;
    if (!executed)
        return ODLC_OK;
    if (options_given(o, OPT_PROFILE))
        run_report_profile(s->arena, &s->crew);
    if (options_given(o, OPT_PROFILE_JSON))
        TRY(run_report_json(s->arena, &s->diags, &s->crew, options_value(o, OPT_PROFILE_JSON, "")));
    if (options_given(o, OPT_TRACE))
        TRY(run_report_trace(s->arena, &s->diags, &s->crew, options_value(o, OPT_TRACE, "")));
    return ODLC_OK;
}

static odlc_status infer_all(struct session *s)
{
    size_t executed = 0, failed = 0;
    odlc_status failure = ODLC_OK;
    TRY(run_crew_work(&s->crew, s->arena));
    for (unsigned i = 0; i < s->crew.count; i++) {
        const struct run_worker *w = &s->crew.workers[i];
        executed += w->executed;
        failed += w->failed;
        failure = w->failed ? w->failure : failure;
    }
    TRY(print_reports(s, executed));
    run_gpu_report(&s->settings);
    if (!terminal_is_quiet())
        printf("%zu inference%s executed; results are in %s\n", executed, executed == 1 ? "" : "s",
               s->settings.output_dir);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "standard output cannot be written");
    return failed ? failure : end_comparison(&s->crew.workers[0]);
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    if (options_answered(&s->options))
        return ODLC_OK;
    TRY(read_settings(s));
    run_threads_restart(&s->settings, argv);
    const char *list = options_value(&s->options, OPT_INPUT_LIST, "");
    TRY(input_list_take_stream(s->arena, &s->diags, list));
    TRY(input_list_read(s->arena, &s->diags, list, &s->settings.list));
    run_threads_settle(&s->settings, measures(&s->options));
    run_crew_init(&s->crew, s->arena, &s->settings);
    TRY(run_crew_prepare(&s->crew));
    if (options_given(&s->options, OPT_EXPLAIN))
        TRY(run_report_explain(s->arena, &s->diags, &s->crew.workers[0],
                               options_value(&s->options, OPT_EXPLAIN, NULL)));
    const odlc_status status = infer_all(s);
    const odlc_status closed = odlc_gpu_close(s->settings.gpu); /* what was built serves the next time all the same */
    return status == ODLC_OK ? closed : status;
}

/* The library does not know what options choose results by. */
static void print_run_diag(const struct odlc_diag *diag)
{
    struct odlc_diag told = *diag;
    if (strcmp(told.code, "run-no-kernel") == 0 && told.hint)
        told.hint = "tensors that do not depend on it can be computed: name them with --set_output_tensors";
    print_diag(stderr, self.name, &told, DIAG_TEXT);
}

/* What the worker has to say that failed first, else the first one. */
static void print_all(const struct session *s)
{
    const struct run_worker *w = s->crew.guilty ? s->crew.guilty : s->crew.workers;
    size_t count;
    if (w && w->run) {
        const struct odlc_diag *list = odlc_run_diags(w->run, &count);
        for (size_t i = 0; i < count; i++)
            print_run_diag(&list[i]);
        print_diags(stderr, self.name, w->diags.list.data, w->diags.list.count, DIAG_TEXT);
    }
    if (s->settings.gpu) {
        const struct odlc_diag *list = odlc_gpu_diags(s->settings.gpu, &count);
        print_diags(stderr, self.name, list, count, DIAG_TEXT);
    }
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (status != ODLC_OK && !command_inputs_intact(s->arena, self.name, DIAG_TEXT))
        return ODLC_ERR_IO;
    print_all(s);
    return command_finish(self.name, DIAG_TEXT, status);
}

int main(int argc, char **argv)
{
    foreign_guard_process(self.name);
    command_begin();
    struct session s = {.arena = arena_create()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    run_crew_free(&s.crew);
    odlc_gpu_free(s.settings.gpu);
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
