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

static odlc_status apply_hint(struct diags *diags, odlc_gpu *gpu, const char *hint)
{
    static const struct {
        const char *word;
        enum odlc_gpu_performance performance;
    } hints[] = {{"high", ODLC_GPU_HIGH}, {"normal", ODLC_GPU_NORMAL}, {"low", ODLC_GPU_LOW}};
    struct odlc_gpu_config config = odlc_gpu_configuration(gpu);
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        if (strcmp(hint, hints[i].word) == 0) {
            config.performance = hints[i].performance;
            return odlc_gpu_configure(gpu, &config);
        }
    return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "high, normal or low"), "option-value",
                      "option --perf_hint: '%s' is no hint", hint);
}

odlc_status run_gpu_settle(struct arena *arena, struct diags *diags, const struct run_gpu_options *options,
                           struct run_settings *settings)
{
    const bool is_asked = options->config_file || options->perf_hint;
    if (options->is_first && settings->backends.given)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--backend gpu,cpu,reference"), "option-value",
                          "options --use_gpu and --backend both say who executes");
    if (options->is_first)
        settings->backends = gpu_first(arena);
    if (is_asked && !is_among("gpu", settings->backends.data, settings->backends.count))
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "add --use_gpu"), "option-value",
                          "option --%s is for the GPU, which does not execute here",
                          options->config_file ? "config_file" : "perf_hint");
    settings->gpu = odlc_gpu_new();
    if (!settings->gpu)
        return ODLC_ERR_NOMEM;
    if (options->config_file)
        TRY(odlc_gpu_configure_from_file(settings->gpu, options->config_file));
    return options->perf_hint ? apply_hint(diags, settings->gpu, options->perf_hint) : ODLC_OK;
}

odlc_status run_gpu_check(const struct run_settings *settings, const odlc_run *run)
{
    const char *const name = odlc_run_graph_name(run);
    return odlc_gpu_check_graphs(settings->gpu, &name, 1);
}
