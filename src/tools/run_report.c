/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "text/json_out.h"
#include "tools/text_file.h"
#include "text/text_table.h"

/* Each line for itself: names of the model may have what must not reach a terminal. */
static void print_lines(struct arena *arena, const char *lines)
{
    for (const char *line = lines; line && *line;) {
        const char *end = strchr(line, '\n');
        printf("%s\n", printable(arena, end ? arena_strndup(arena, line, (size_t)(end - line)) : line));
        line = end ? end + 1 : NULL;
    }
}

bool run_report_is_file(const char *form)
{
    static const char suffix[] = ".json";
    const size_t length = strlen(form);
    return length >= sizeof suffix && strcmp(form + length - (sizeof suffix - 1), suffix) == 0;
}

static void explain_as_json(const struct run_worker *w, FILE *stream)
{
    size_t n_steps, n_refusals;
    const struct odlc_step *steps = odlc_run_steps(w->run, &n_steps);
    const struct odlc_refusal *refusals = odlc_run_refusals(w->run, &n_refusals);
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.net-run-explain");
    json_uint(&j, "schema_version", 1);
    json_string(&j, "container", w->settings->container);
    json_array(&j, "steps");
    for (size_t i = 0; i < n_steps; i++) {
        const char *words = odlc_run_explanation(w->run, i, ODLC_EXPLAIN_JSON);
        json_object(&j, NULL);
        json_string(&j, "backend", steps[i].backend);
        json_string(&j, "op", steps[i].op);
        json_string(&j, "node", steps[i].node);
        if (words)
            json_raw(&j, "plugin", words);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_array(&j, "refusals");
    for (size_t i = 0; i < n_refusals; i++) {
        json_object_inline(&j, NULL);
        json_string(&j, "backend", refusals[i].backend);
        json_string(&j, "op", refusals[i].op);
        json_string(&j, "node", refusals[i].node);
        json_string(&j, "reason", refusals[i].reason);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
}

static void explain_in_words(struct arena *arena, const struct run_worker *w)
{
    size_t n_steps, n_refusals;
    const struct odlc_step *steps = odlc_run_steps(w->run, &n_steps);
    const struct odlc_refusal *refusals = odlc_run_refusals(w->run, &n_refusals);
    printf("%-12s %-24s %s\n", "Backend", "Op", "Node");
    for (size_t i = 0; i < n_steps; i++)
        printf("%-12s %-24s %s\n", steps[i].backend, steps[i].op, printable(arena, steps[i].node));
    for (size_t i = 0; i < n_refusals; i++)
        printf("%s does not take %s (%s): %s\n", refusals[i].backend, printable(arena, refusals[i].node),
               refusals[i].op, refusals[i].reason);
    for (size_t i = 0; i < n_steps; i++)
        print_lines(arena, odlc_run_explanation(w->run, i, ODLC_EXPLAIN_TEXT));
}

odlc_status run_report_explain(struct arena *arena, struct diags *diags, const struct run_worker *w, const char *form)
{
    struct text_stream file;
    if (!form) {
        explain_in_words(arena, w);
        return ODLC_OK;
    }
    if (!run_report_is_file(form)) {
        explain_as_json(w, stdout);
        return ODLC_OK;
    }
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    explain_as_json(w, file.stream);
    return text_file_write(arena, diags, &file, form);
}

/* ---- means ---- */

/* All workers execute the same steps. */
struct means {
    const struct odlc_step *steps;
    size_t n_steps;
    double *milliseconds, total; /* of an execution */
    double *device;              /* per step: of its kernels */
    struct odlc_kernel *kernels; /* with the nanoseconds of all executions */
    size_t n_kernels;
    double executions;
};

static double kernel_milliseconds(const struct means *m, size_t kernel)
{
    return (double)m->kernels[kernel].nanoseconds / 1e6 / (m->executions > 0 ? m->executions : 1);
}

static void add_kernels(struct arena *arena, const struct run_crew *crew, struct means *m)
{
    m->n_kernels = crew->workers[0].n_kernels;
    m->kernels = arena_array(arena, struct odlc_kernel, m->n_kernels);
    m->device = arena_array(arena, double, m->n_steps);
    for (unsigned i = 0; i < crew->count; i++)
        for (size_t k = 0; k < m->n_kernels && k < crew->workers[i].n_kernels; k++) {
            const uint64_t before = m->kernels[k].nanoseconds;
            m->kernels[k] = crew->workers[i].kernels[k];
            m->kernels[k].nanoseconds += before;
        }
    for (size_t k = 0; k < m->n_kernels; k++)
        m->device[m->kernels[k].step] += kernel_milliseconds(m, k);
}

static struct means means_of(struct arena *arena, const struct run_crew *crew)
{
    struct means m = {0};
    m.steps = odlc_run_steps(crew->workers[0].run, &m.n_steps);
    m.milliseconds = arena_array(arena, double, m.n_steps);
    for (unsigned i = 0; i < crew->count; i++) {
        const struct run_worker *w = &crew->workers[i];
        m.executions += (double)w->executions;
        for (size_t k = 0; w->step_times && k < m.n_steps; k++)
            m.milliseconds[k] += (double)w->step_times[k] / 1e6;
    }
    add_kernels(arena, crew, &m);
    for (size_t k = 0; k < m.n_steps; k++) {
        m.milliseconds[k] /= m.executions > 0 ? m.executions : 1;
        m.total += m.milliseconds[k];
    }
    return m;
}

static double share(const struct means *m, size_t step)
{
    return m->total > 0 ? m->milliseconds[step] / m->total : 0;
}

/* Kernels of a name. */
struct kernel_sum {
    const char *name;
    size_t calls;
    double milliseconds;
};

static int by_time(const void *a, const void *b)
{
    const struct kernel_sum *x = a, *y = b;
    return x->milliseconds < y->milliseconds ? 1 : x->milliseconds > y->milliseconds ? -1 : strcmp(x->name, y->name);
}

static void print_kernels(struct arena *arena, const struct means *m)
{
    struct kernel_sum *sums = arena_array(arena, struct kernel_sum, m->n_kernels);
    struct map places;
    double total = 0;
    uint32_t count = 0;
    map_init(&places, arena);
    for (size_t k = 0; k < m->n_kernels; k++) {
        const uint32_t known = map_add(&places, m->kernels[k].name, count);
        struct kernel_sum *sum = &sums[known == MAP_NONE ? count++ : known];
        sum->name = m->kernels[k].name;
        sum->calls++;
        sum->milliseconds += kernel_milliseconds(m, k);
        total += kernel_milliseconds(m, k);
    }
    qsort(sums, count, sizeof(*sums), by_time);
    printf("\n%10s %7s %6s  %s\n", "device ms", "%", "calls", "Kernel");
    for (uint32_t i = 0; i < count; i++)
        printf("%10.3f %7.2f %6zu  %s\n", sums[i].milliseconds, total > 0 ? 100 * sums[i].milliseconds / total : 0,
               sums[i].calls, sums[i].name);
    printf("%10.3f %7.2f %6zu  all kernels\n", total, 100.0, m->n_kernels);
}

/* Steps with the device's times beside the host's. */
static void print_device_steps(struct arena *arena, const struct means *m)
{
    printf("%10s %7s %10s  %-24s %s\n", "ms", "%", "device ms", "Op", "Node");
    for (size_t i = 0; i < m->n_steps; i++)
        printf("%10.3f %7.2f %10.3f  %-24s %s\n", m->milliseconds[i], 100 * share(m, i), m->device[i], m->steps[i].op,
               printable(arena, m->steps[i].node));
    printf("%10.3f %7.2f  all of %zu steps, mean of %.0f executions\n", m->total, 100.0, m->n_steps, m->executions);
    print_kernels(arena, m);
}

void run_report_profile(struct arena *arena, const struct run_crew *crew)
{
    const struct means m = means_of(arena, crew);
    if (m.n_kernels) {
        print_device_steps(arena, &m);
        return;
    }
    printf("%10s %7s  %-24s %s\n", "ms", "%", "Op", "Node");
    for (size_t i = 0; i < m.n_steps; i++)
        printf("%10.3f %7.2f  %-24s %s\n", m.milliseconds[i], 100 * share(&m, i), m.steps[i].op,
               printable(arena, m.steps[i].node));
    printf("%10.3f %7.2f  all of %zu steps, mean of %.0f executions\n", m.total, 100.0, m.n_steps, m.executions);
}

/* ---- files ---- */

/* Of a step with kernels. */
static void put_kernels(struct json_out *j, const struct means *m, size_t step, size_t *kernel)
{
    if (*kernel == m->n_kernels || m->kernels[*kernel].step != step)
        return;
    json_double(j, "device_milliseconds", m->device[step]);
    json_array(j, "kernels");
    for (; *kernel < m->n_kernels && m->kernels[*kernel].step == step; ++*kernel) {
        json_object(j, NULL);
        json_string(j, "kernel", m->kernels[*kernel].name);
        json_double(j, "milliseconds", kernel_milliseconds(m, *kernel));
        json_end_object(j);
    }
    json_end_array(j);
}

odlc_status run_report_json(struct arena *arena, struct diags *diags, const struct run_crew *crew, const char *path)
{
    struct text_stream file;
    const struct means m = means_of(arena, crew);
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    struct json_out j = json_out_to(file.stream, false);
    json_object(&j, NULL);
    json_string(&j, "container", crew->settings->container);
    json_uint(&j, "threads", crew->settings->threads);
    json_uint(&j, "jobs", crew->settings->jobs);
    json_double(&j, "executions", m.executions);
    json_double(&j, "milliseconds", m.total);
    json_array(&j, "steps");
    for (size_t i = 0, kernel = 0; i < m.n_steps; i++) {
        json_object_inline(&j, NULL);
        json_string(&j, "node", m.steps[i].node);
        json_string(&j, "op", m.steps[i].op);
        json_string(&j, "backend", m.steps[i].backend);
        json_uint(&j, "nodes", m.steps[i].n_nodes);
        json_double(&j, "milliseconds", m.milliseconds[i]);
        json_double(&j, "share", share(&m, i));
        put_kernels(&j, &m, i, &kernel);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return text_file_write(arena, diags, &file, path);
}

static uint64_t first_begin(const struct run_crew *crew)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < crew->count; i++)
        if (crew->workers[i].spans.count && crew->workers[i].spans.data[0].begin < first)
            first = crew->workers[i].spans.data[0].begin;
    return first;
}

/* A complete event ("X") of the trace event format; its unit is the microsecond. */
static void put_span(struct json_out *j, const struct odlc_step *step, const struct run_span *span, unsigned worker,
                     uint64_t origin)
{
    json_object_inline(j, NULL);
    json_string(j, "name", span->kernel ? span->kernel : step->op);
    json_string(j, "cat", span->kernel ? "kernel" : step->backend);
    json_string(j, "ph", "X");
    json_uint(j, "pid", span->kernel ? 2 : 1); /* the host, and the device */
    json_uint(j, "tid", worker);
    json_double(j, "ts", (double)(int64_t)(span->begin - origin) / 1e3);
    json_double(j, "dur", (double)span->nanoseconds / 1e3);
    json_object(j, "args");
    json_string(j, "node", step->node);
    json_uint(j, "inference", span->number);
    json_end_object(j);
    json_end_object(j);
}

odlc_status run_report_trace(struct arena *arena, struct diags *diags, const struct run_crew *crew, const char *path)
{
    struct text_stream file;
    size_t n_steps;
    const uint64_t origin = first_begin(crew);
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    struct json_out j = json_out_to(file.stream, false);
    json_object(&j, NULL);
    json_array(&j, "traceEvents");
    for (unsigned i = 0; i < crew->count; i++) {
        const struct run_worker *w = &crew->workers[i];
        const struct odlc_step *steps = odlc_run_steps(w->run, &n_steps);
        for (size_t k = 0; k < w->spans.count; k++)
            put_span(&j, &steps[w->spans.data[k].step], &w->spans.data[k], i, origin);
    }
    json_end_array(&j);
    json_string(&j, "displayTimeUnit", "ms");
    json_end_object(&j);
    return text_file_write(arena, diags, &file, path);
}
