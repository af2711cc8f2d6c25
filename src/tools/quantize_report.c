/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/quantize_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlc/record.h"
#include "op/op.h"
#include "op/registry.h"
#include "runtime/plan.h"
#include "tools/error_out.h"
#include "tools/progress_line.h"
#include "tools/quantize_inputs.h"
#include "tools/text_file.h"
#include "text/text_table.h"

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), wanted = strlen(suffix);
    return length > wanted && strcmp(path + length - wanted, suffix) == 0;
}

odlc_status quantize_report_check(struct diags *diags, const char *path)
{
    if (has_suffix(path, ".json") || has_suffix(path, ".html"))
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_USAGE, AT(.file = path, .hint = "FILE.html or FILE.json"), "option-value",
                      "option --report: the name does not say what kind of report it is to be");
}

/* ---- running ---- */

struct reporting {
    struct arena *arena, *scratch;
    struct diags *diags;
    const struct quantize_report *report;
    const struct graph *floats;
    struct quant_compare *compare;
};

static odlc_status give(void *user, tensor_id input, const void *values, bool is_native, const struct odlc_diag *place)
{
    return quant_compare_give(user, input, values, is_native, place);
}

static odlc_status give_and_compare(struct reporting *r, const struct inference *inference,
                                    const struct odlc_diag *place)
{
    TRY(quantize_inputs_give(r->scratch, r->diags, r->floats, inference, r->report->native_inputs, place, give,
                             r->compare));
    return quant_compare_run(r->compare, place);
}

static odlc_status run_line(struct reporting *r, const struct inference *inference)
{
    const struct odlc_diag place = {.file = r->report->list->path, .line = inference->line};
    return quantize_line_failed(r->diags, give_and_compare(r, inference, &place), &place);
}

static odlc_status run_all(struct reporting *r, struct progress_line *line, bool shows)
{
    const struct input_list *list = r->report->list;
    for (size_t i = 0; i < list->inferences.count; i++) {
        TRY(run_line(r, &list->inferences.data[i]));
        if (shows)
            progress_line_report(
                line, &(struct work_progress){
                          .stage = "comparing", .unit = " inputs", .done = i + 1, .total = list->inferences.count});
    }
    return ODLC_OK;
}

/* ---- results ---- */

static uint64_t constant_bytes(const struct graph *g)
{
    uint64_t bytes = 0;
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (graph_tensor(g, id)->kind == TENSOR_STATIC)
            bytes += tensor_bytes(graph_tensor(g, id)->type);
    return bytes;
}

static void print_worst(struct arena *arena, const struct quantize_numbers *n)
{
    enum { SHOWN = 10 };
    static const char *const headers[] = {"SQNR dB", "Own dB", "Cosine", "Saturated", "Levels", "Op", "Tensor"};
    struct table table = table_create(COUNT_OF(headers), headers);
    for (size_t i = 0; i < n->n_worst && i < SHOWN; i++) {
        const struct quant_layer *layer = &n->layers[n->worst[i]];
        const struct node *node = graph_producer(n->report->fixed, layer->fixed);
        const char *const cells[] = {
            error_decibels(arena, &layer->error),
            error_decibels(arena, &layer->own),
            arena_printf(arena, "%.6f", quant_error_cosine(&layer->error)),
            arena_printf(arena, "%.3g%%", 100 * (double)layer->saturated / (double)layer->error.count),
            layer->met ? arena_printf(arena, "%u", layer->levels) : "",
            node->op->name,
            graph_tensor(n->report->fixed, layer->fixed)->name};
        struct table_row *row = table_add_row(arena, &table);
        for (size_t k = 0; k < COUNT_OF(cells); k++)
            table_add_line(arena, &table, &row->cells[k], cells[k]);
    }
    printf("The layers that lost most, of %zu:\n", n->n_worst);
    table_print(stdout, &table);
}

static void print_compact(FILE *stream, const void *numbers)
{
    quantize_report_json(stream, numbers, true);
}

static odlc_status write_page(const struct reporting *r, const struct quantize_numbers *n)
{
    struct text_stream page;
    size_t size;
    const char *json = text_written(r->arena, print_compact, n, &size);
    if (!text_stream_open(&page))
        return ODLC_ERR_NOMEM;
    html_page_print(page.stream, &report_page, json, size);
    return text_file_write(r->arena, r->diags, &page, r->report->path);
}

static odlc_status write_report(const struct reporting *r, const struct quantize_numbers *n)
{
    struct text_stream file;
    if (has_suffix(r->report->path, ".html"))
        return write_page(r, n);
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    quantize_report_json(file.stream, n, false);
    return text_file_write(r->arena, r->diags, &file, r->report->path);
}

/* Computes both networks from all inputs. */
static odlc_status compare(struct reporting *r, bool only_outputs)
{
    const struct quantize_report *report = r->report;
    const struct quant_compare_options options = {.backends = report->backends,
                                                  .threads = report->threads,
                                                  .packages = report->packages,
                                                  .only_outputs = only_outputs};
    const struct dlc_file *dlc;
    struct graph *floats;
    struct progress_line line;
    TRY(dlc_open_graph(r->arena, r->diags, op_registry_new(r->arena), report->floats, "compared", NULL, &dlc, &floats));
    r->floats = floats;
    TRY(quant_compare_create(r->arena, r->scratch, r->diags, floats, report->fixed, &options, &r->compare));
    const bool shows = !only_outputs && progress_line_begin(&line, stderr); /* those are of one trial of many */
    const odlc_status status = run_all(r, &line, shows);
    if (shows)
        progress_line_end(&line);
    return status;
}

odlc_status quantize_report_make(struct arena *arena, struct arena *scratch, struct diags *diags,
                                 const struct quantize_report *report)
{
    struct reporting r = {.arena = arena, .scratch = scratch, .diags = diags, .report = report};
    TRY(compare(&r, false));
    struct quantize_numbers n = {.report = report,
                                 .floats = r.floats,
                                 .float_bytes = constant_bytes(r.floats),
                                 .fixed_bytes = constant_bytes(report->fixed)};
    n.layers = quant_compare_layers(r.compare, &n.n_layers);
    n.worst = quant_compare_worst(r.compare, arena, &n.n_worst);
    TRY(write_report(&r, &n));
    print_worst(arena, &n);
    return ODLC_OK;
}

odlc_status quantize_report_outputs(struct arena *arena, struct arena *scratch, struct diags *diags,
                                    const struct quantize_report *report, double *sqnr)
{
    struct reporting r = {.arena = arena, .scratch = scratch, .diags = diags, .report = report};
    size_t count;
    TRY(compare(&r, true));
    const struct quant_layer *layers = quant_compare_layers(r.compare, &count);
    *sqnr = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (graph_tensor(r.floats, layers[i].floats)->kind == TENSOR_OUTPUT)
            *sqnr = fmin(*sqnr, quant_error_sqnr(&layers[i].error));
    return ODLC_OK;
}
