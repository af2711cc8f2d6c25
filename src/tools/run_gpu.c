/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_gpu.h"

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

/* What the command line says comes before the file. */
static odlc_status apply_options(struct diags *diags, odlc_gpu *gpu, const struct run_gpu_options *options)
{
    static const struct {
        const char *word;
        enum odlc_gpu_performance performance;
        enum odlc_gpu_priority priority;
    } words[] = {{"high", ODLC_GPU_HIGH, ODLC_GPU_PRIORITY_HIGH},
                 {"normal", ODLC_GPU_NORMAL, ODLC_GPU_PRIORITY_NORMAL},
                 {"low", ODLC_GPU_LOW, ODLC_GPU_PRIORITY_LOW}};
    struct odlc_gpu_config config = odlc_gpu_configuration(gpu);
    bool knows_hint = !options->perf_hint, knows_priority = !options->priority;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (options->perf_hint && strcmp(options->perf_hint, words[i].word) == 0) {
            config.performance = words[i].performance;
            knows_hint = true;
        }
        if (options->priority && strcmp(options->priority, words[i].word) == 0) {
            config.priority = words[i].priority;
            knows_priority = true;
        }
    }
    if (!knows_hint)
        return bad_word(diags, "perf_hint", options->perf_hint);
    if (!knows_priority)
        return bad_word(diags, "priority_hint", options->priority);
    if (options->is_half)
        config.precision = ODLC_GPU_FP16;
    return odlc_gpu_configure(gpu, &config);
}

odlc_status run_gpu_settle(struct arena *arena, struct diags *diags, const struct run_gpu_options *options,
                           struct run_settings *settings)
{
    const bool is_asked = options->config_file || options->perf_hint;
    if (options->is_first && settings->backends.given)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--backend gpu,cpu,reference"), "option-value",
                          "options --use_gpu%s and --backend both say who executes", options->is_half ? "_fp16" : "");
    if (options->is_first)
        settings->backends = gpu_first(arena);
    const bool executes = is_among("gpu", settings->backends.data, settings->backends.count);
    if (is_asked && !executes)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "add --use_gpu"), "option-value",
                          "option --%s is for the GPU, which does not execute here",
                          options->config_file ? "config_file" : "perf_hint");
    if (options->priority && !executes)
        diag_note(diags, AT(.file = NULL), "option-ignored",
                  "option --priority_hint has no effect: the host executes the graph");
    settings->gpu = odlc_gpu_new();
    if (!settings->gpu)
        return ODLC_ERR_NOMEM;
    if (options->config_file)
        TRY(odlc_gpu_configure_from_file(settings->gpu, options->config_file));
    return executes ? apply_options(diags, settings->gpu, options) : ODLC_OK;
}

odlc_status run_gpu_check(const struct run_settings *settings, const struct run_worker *worker)
{
    const char *const name = odlc_run_graph_name(worker->run);
    return odlc_gpu_check_graphs(settings->gpu, &name, 1);
}
