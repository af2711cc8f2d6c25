/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_worker.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "tools/run_compare.h"

/* ---- opening ---- */

/* PATH:PROVIDER, or PATH:PROVIDER:TARGET; other targets than CPU, GPU, and the HTP of plugins, are for other hosts. */
static odlc_status load_op_package(struct run_worker *w, odlc_run *run, const char *value)
{
    const char *colon = strchr(value, ':');
    if (!colon || colon == value || !colon[1])
        return diag_error(&w->diags, ODLC_ERR_USAGE,
                          AT(.hint = "LIBRARY:PROVIDER, for example libMine.so:MineInterfaceProvider"), "option-value",
                          "option --op_packages: '%s' names no function that provides the package", value);
    const char *provider = colon + 1, *target = strchr(provider, ':');
    if (target && strcasecmp(target + 1, "cpu") != 0 && strcasecmp(target + 1, "gpu") != 0 &&
        strcasecmp(target + 1, "htp") != 0)
        return diag_error(&w->diags, ODLC_ERR_UNSUPPORTED, AT(.hint = "CPU, GPU, HTP, or no target"), "option-value",
                          "option --op_packages: packages for target %s cannot be executed here", target + 1);
    const size_t length = target ? (size_t)(target - provider) : strlen(provider);
    return odlc_run_add_op_package(run, arena_strndup(w->arena, value, (size_t)(colon - value)),
                                   arena_strndup(w->arena, provider, length));
}

static odlc_status load_packages(struct run_worker *w, odlc_run *run)
{
    const struct run_names registrations = w->settings->registrations, packages = w->settings->packages;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < registrations.count; i++) {
        odlc_status loaded = odlc_run_add_op_package(run, registrations.data[i], NULL);
        status = status == ODLC_OK ? loaded : status; /* the errors of all are reported */
    }
    for (size_t i = 0; i < packages.count; i++) {
        odlc_status loaded = load_op_package(w, run, packages.data[i]);
        status = status == ODLC_OK ? loaded : status;
    }
    return status;
}

/* A graph without inputs is executed once. */
static odlc_status check_list(struct run_worker *w, const odlc_run *run)
{
    size_t n_inputs;
    odlc_run_inputs(run, &n_inputs);
    if (w->settings->list.inferences.count || !n_inputs)
        return ODLC_OK;
    return diag_error(&w->diags, ODLC_ERR_USAGE, AT(.file = w->settings->list.path), "input-list",
                      "the input list names no inputs");
}

odlc_status run_open(struct run_worker *w, odlc_run *run, const char *container, const struct run_names *backends)
{
    const struct run_settings *s = w->settings;
    TRY(odlc_run_open(run, container));
    TRY(check_list(w, run));
    if (s->isolates)
        TRY(odlc_run_isolate(run, (unsigned)s->isolate_seconds));
    TRY(load_packages(w, run));
    TRY(odlc_run_set_threads(run, s->threads));
    TRY(odlc_run_set_plugins(run, (uint64_t)s->tcm_size, (unsigned)s->slices));
    if (s->explains)
        TRY(odlc_run_set_explained(run));
    TRY(odlc_run_set_gpu(run, s->gpu));
    TRY(odlc_run_time_kernels(run, s->times_kernels));
    return backends->given ? odlc_run_set_backends(run, backends->data, backends->count) : ODLC_OK;
}

/* ---- what to compute ---- */

/* A name with a comma in it can be had through the input list. */
static odlc_status want_named(struct run_worker *w)
{
    const struct run_names *tensors = &w->settings->results, *nodes = &w->settings->nodes;
    if (tensors->given ? !tensors->count : !nodes->count)
        return diag_error(&w->diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value", "option --%s names nothing",
                          tensors->given ? "set_output_tensors" : "set_output_layers");
    return tensors->given ? odlc_run_want(w->run, tensors->data, tensors->count)
                          : odlc_run_want_nodes(w->run, nodes->data, nodes->count);
}

static odlc_status choose_results(struct run_worker *w)
{
    const struct input_list *list = &w->settings->list;
    const bool tensors = w->settings->results.given, nodes = w->settings->nodes.given;
    const bool all = w->settings->debug, listed = list->choice != LIST_ALL_OUTPUTS;
    if (tensors + nodes + all + listed > 1)
        return diag_error(
            &w->diags, ODLC_ERR_USAGE, AT(.file = listed ? list->path : NULL), "outputs-twice",
            "results are chosen in several ways: use one of --set_output_tensors, --set_output_layers, --debug, and a "
            "first line with # or %% in the input list");
    if (tensors || nodes)
        return want_named(w);
    if (all)
        return odlc_run_want_each(w->run, w->settings->native_outputs ? ODLC_NATIVE : ODLC_FLOATS, run_results_show, w);
    if (list->choice == LIST_NODES)
        return odlc_run_want_nodes(w->run, list->chosen, list->n_chosen);
    if (list->choice == LIST_TENSORS)
        return odlc_run_want(w->run, list->chosen, list->n_chosen);
    return odlc_run_want_outputs(w->run);
}

/* ---- at work ---- */

bool run_worker_create(const struct run_settings *settings, pthread_mutex_t *reading, struct run_worker *out)
{
    *out = (struct run_worker){.settings = settings,
                               .reading = reading,
                               .arena = arena_create(),
                               .scratch = arena_create(),
                               .run = odlc_run_new()};
    if (!out->arena || !out->scratch || !out->run)
        return false;
    diags_init(&out->diags, out->arena);
    return true;
}

void run_worker_free(struct run_worker *w)
{
    run_compare_free(w->compare);
    odlc_run_free(w->run);
    arena_destroy(w->scratch);
    arena_destroy(w->arena);
}

odlc_status run_worker_open(struct run_worker *w)
{
    return run_open(w, w->run, w->settings->container, &w->settings->backends);
}

odlc_status run_worker_prepare(struct run_worker *w)
{
    size_t n_steps;
    TRY(choose_results(w));
    TRY(run_results_check(w));
    odlc_run_steps(w->run, &n_steps);
    w->step_times = arena_array(w->arena, uint64_t, n_steps);
    if (w->settings->compared.given && !w->settings->compares_files)
        return run_compare_prepare(w, &w->compare);
    return ODLC_OK;
}

/* Each execution has the same kernels. */
static void add_kernels(struct run_worker *w)
{
    size_t count;
    const struct odlc_kernel *kernels = odlc_run_kernels(w->run, &count);
    if (!w->kernels) {
        w->kernels = arena_array(w->arena, struct odlc_kernel, count);
        w->n_kernels = count;
    }
    for (size_t i = 0; i < count && i < w->n_kernels; i++) {
        const uint64_t before = w->kernels[i].nanoseconds;
        w->kernels[i] = kernels[i];
        w->kernels[i].nanoseconds += before;
        if (w->settings->traces)
            vec_push(w->arena, &w->spans,
                     (struct run_span){kernels[i].name, (uint32_t)kernels[i].step, w->number, kernels[i].begin,
                                       kernels[i].nanoseconds});
    }
}

/* Each inference has its part of the duration. */
static bool time_is_left(const struct run_worker *w, uint64_t began)
{
    const size_t count = w->settings->list.inferences.count;
    return w->settings->duration &&
           clock_nanoseconds() - began < (uint64_t)w->settings->duration * 1000000000u / (count ? count : 1);
}

static odlc_status execute(struct run_worker *w)
{
    size_t n_steps;
    const struct odlc_step *steps = odlc_run_steps(w->run, &n_steps);
    const uint64_t began = clock_nanoseconds();
    for (w->iteration = 0; w->iteration < w->settings->iterations || time_is_left(w, began); w->iteration++) {
        TRY(odlc_run_execute(w->run));
        for (size_t k = 0; k < n_steps; k++)
            w->step_times[k] += steps[k].nanoseconds;
        for (size_t k = 0; w->settings->traces && k < n_steps; k++)
            vec_push(w->arena, &w->spans,
                     (struct run_span){NULL, (uint32_t)k, w->number, steps[k].begin, steps[k].nanoseconds});
        add_kernels(w);
    }
    w->executions += (uint64_t)w->iteration;
    return ODLC_OK;
}

/* An execution that failed ends the work, but for --isolate: then the others go on. */
static odlc_status leave_out(struct run_worker *w, const struct inference *inference, odlc_status status)
{
    if (!w->settings->isolates || status == ODLC_ERR_NOMEM)
        return status;
    if (w->failed++ == 0)
        w->failure = status;
    return diag_error(&w->diags, ODLC_OK, AT(.file = w->settings->list.path, .line = inference->line),
                      "inference-failed", "inference %zu has no results", w->number);
}

odlc_status run_worker_infer(struct run_worker *w, size_t number)
{
    /* A graph without inputs is executed once; nobody can name an input of it. */
    static const struct inference without_inputs;
    const struct input_list *list = &w->settings->list;
    const struct inference *inference = list->inferences.count ? &list->inferences.data[number] : &without_inputs;
    w->number = number;
    TRY(run_inputs_load(w, w->run, inference));
    const odlc_status status = execute(w);
    if (status != ODLC_OK)
        return leave_out(w, inference, status);
    w->executed++;
    if (!w->settings->debug)
        TRY(run_results_write(w));
    return w->compare ? run_compare_infer(w->compare, inference) : ODLC_OK;
}
