/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_gpu.h"

#include <stdio.h>
#include <string.h>

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The GPU, then the default: what it does not take is computed as without it. */
static struct run_names gpu_first(struct arena *arena)
{
    static const char *const order[] = {"gpu", "cpu", "reference", "package", "plugin"};
    const char *const *known = odlc_backend_names();
    const char **names = arena_array(arena, const char *, COUNT_OF(order));
    struct run_names out = {.data = names, .given = true};
    size_t n_known = 0;
    while (known[n_known])
        n_known++;
    for (size_t i = 0; i < COUNT_OF(order); i++)
        if (i == 0 || is_among(order[i], known, n_known))
            names[out.count++] = order[i];
    return out;
}

static odlc_status bad_word(struct diags *diags, const char *option, const char *word)
{
    return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "high, normal or low"), "option-value",
                      "option --%s: '%s' is none", option, word);
}

/* Hints of the command line, which come before the file's. */
static odlc_status apply_hints(struct diags *diags, const struct run_gpu_options *options,
                               struct odlc_gpu_config *config)
{
    static const struct {
        const char *word;
        enum odlc_gpu_performance performance;
        enum odlc_gpu_priority priority;
    } words[] = {{"high", ODLC_GPU_HIGH, ODLC_GPU_PRIORITY_HIGH},
                 {"normal", ODLC_GPU_NORMAL, ODLC_GPU_PRIORITY_NORMAL},
                 {"low", ODLC_GPU_LOW, ODLC_GPU_PRIORITY_LOW}};
    bool knows_hint = !options->perf_hint, knows_priority = !options->priority;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (options->perf_hint && strcmp(options->perf_hint, words[i].word) == 0) {
            config->performance = words[i].performance;
            config->given |= ODLC_GPU_GIVEN_PERFORMANCE;
            knows_hint = true;
        }
        if (options->priority && strcmp(options->priority, words[i].word) == 0) {
            config->priority = words[i].priority;
            knows_priority = true;
        }
    }
    if (!knows_hint)
        return bad_word(diags, "perf_hint", options->perf_hint);
    return knows_priority ? ODLC_OK : bad_word(diags, "priority_hint", options->priority);
}

/* What the command line says comes before what the file does. */
static odlc_status apply(struct diags *diags, odlc_gpu *gpu, const struct run_gpu_options *options)
{
    struct odlc_gpu_config config = odlc_gpu_configuration(gpu);
    TRY(apply_hints(diags, options, &config));
    if (options->is_half) {
        config.precision = ODLC_GPU_FP16;
        config.given |= ODLC_GPU_GIVEN_PRECISION;
    }
    if (options->context_cache)
        config.context_cache = options->context_cache;
    if (options->performance_cache)
        config.performance_cache = options->performance_cache;
    config.rebuild_context_cache = options->rebuilds;
    config.tuning |= options->tunes;
    return odlc_gpu_configure(gpu, &config);
}

/* The first option that is for the GPU; NULL: none is given. */
static const char *option_of(const struct run_gpu_options *options)
{
    return options->config_file         ? "config_file"
           : options->perf_hint         ? "perf_hint"
           : options->context_cache     ? "context_cache"
           : options->performance_cache ? "performance_cache_dir"
           : options->tunes             ? "enable_tuning_mode"
                                        : NULL;
}

odlc_status run_gpu_settle(struct arena *arena, struct diags *diags, const struct run_gpu_options *options,
                           struct run_settings *settings)
{
    if (options->is_first && settings->backends.given)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--backend gpu,cpu,reference"), "option-value",
                          "options --use_gpu%s and --backend both say who executes", options->is_half ? "_fp16" : "");
    if (options->is_first)
        settings->backends = gpu_first(arena);
    const bool executes = is_among("gpu", settings->backends.data, settings->backends.count);
    if (option_of(options) && !executes)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "add --use_gpu"), "option-value",
                          "option --%s is for the GPU, which does not execute here", option_of(options));
    if (options->rebuilds && !options->context_cache)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--context_cache FILE"), "option-value",
                          "option --rebuild_context_cache: no context cache is named");
    if (options->priority && !executes)
        diag_note(diags, AT(.file = NULL), "option-ignored",
                  "option --priority_hint has no effect: the host executes the graph");
    settings->gpu = odlc_gpu_new();
    if (!settings->gpu)
        return ODLC_ERR_NOMEM;
    if (options->config_file)
        TRY(odlc_gpu_configure_from_file(settings->gpu, options->config_file));
    return executes ? apply(diags, settings->gpu, options) : ODLC_OK;
}

odlc_status run_gpu_check(const struct run_settings *settings, const odlc_run *run)
{
    const char *const name = odlc_run_graph_name(run);
    return odlc_gpu_check_graphs(settings->gpu, &name, 1);
}

/* ---- what tuning gained ---- */

static void print_choice(const struct odlc_gpu_choice *c)
{
    printf("%9.1f %9.1f %6.2fx %5llu  %s: %s instead of %s\n    in %s\n", c->usual_microseconds, c->microseconds,
           c->microseconds > 0 ? c->usual_microseconds / c->microseconds : 1, (unsigned long long)c->uses, c->kernel,
           c->choice, c->usual, c->in);
}

void run_gpu_report(const struct run_settings *settings)
{
    const struct odlc_gpu_config config = odlc_gpu_configuration(settings->gpu);
    double before = 0, after = 0;
    size_t count, gained = 0;
    if (!config.tuning)
        return;
    const struct odlc_gpu_choice *list = odlc_gpu_choices(settings->gpu, &count);
    const struct odlc_gpu_counts counts = odlc_gpu_count(settings->gpu);
    printf("usual us  tuned us   gain  uses  Tuned\n");
    for (size_t i = 0; i < count; i++) {
        before += list[i].usual_microseconds * (double)list[i].uses;
        after += list[i].microseconds * (double)list[i].uses;
        if (strcmp(list[i].choice, list[i].usual) != 0) {
            print_choice(&list[i]);
            gained++;
        }
    }
    printf("%9.1f %9.1f %6.2fx        all that was tuned: %zu choices, %zu of them others than usual\n", before, after,
           after > 0 ? before / after : 1, count, gained);
    printf("tuning took %.1f s of %.1f s: %llu choices measured, %llu left for lack of time\n",
           (double)counts.tuning_nanoseconds / 1e9, (config.tuning_budget ? config.tuning_budget : 60000) / 1e3,
           (unsigned long long)counts.measured, (unsigned long long)counts.skipped);
}
