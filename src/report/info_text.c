/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text, in the layout that users of the vendor's recent releases know. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/info_text.h"
#include "report/value_text.h"

#define LONGEST_RULE 1000 /* of a rule; a table may be wider */

/* A line of the heading, no longer than `width`. */
static void print_line(FILE *stream, struct arena *arena, const char *title, const char *words, size_t width)
{
    const char *line = arena_printf(arena, "%s%s", title, printable(arena, words));
    if (!width || display_width(line) <= width || width < 8) {
        fprintf(stream, "%s\n", line);
        return;
    }
    size_t length = 0, columns = 0; /* characters of UTF-8 begin with a byte that does not continue one */
    for (; line[length] && columns < width - 3; columns++)
        for (length++; (line[length] & 0xC0) == 0x80; length++) {
        }
    fprintf(stream, "%.*s...\n", (int)length, line);
}

/* In the compact form no wider than the text is to be. */
static void print_heading(FILE *stream, struct arena *arena, const struct odlc_summary *s,
                          const struct info_options *options)
{
    const size_t width = options->compact ? options->form.width : 0;
    print_line(stream, arena, "DLC info of: ", s->path, 0);
    fputc('\n', stream);
    print_line(stream, arena, "Model Version: ", s->model_version, width);
    print_line(stream, arena, "Model Copyright:", s->model_copyright, width);
    print_line(stream, arena, "Converter command: ", s->converter_command, width);
    print_line(stream, arena, "Quantizer command: ", s->quantizer_command, width);
    print_line(stream, arena, "DLC created with converter version: ", s->converter_version, width);
    fprintf(stream, "DLC format: %" PRIu32 ".%" PRIu32 ", parameters: %s\n", s->major, s->minor, s->params_format);
}

static void add_io_encodings(struct arena *arena, struct table *table, struct cell *cell, const struct odlc_tensor *t,
                             bool all)
{
    all = all && t->encoding_axis >= 0;
    if (t->n_encodings && !all)
        table_add_line(arena, table, cell, encodings_text(arena, t));
    for (uint32_t i = 0; all && i < t->n_encodings; i++)
        table_add_line(arena, table, cell, encoding_text(arena, &t->encodings[i]));
}

static void print_io_table(FILE *stream, struct arena *arena, const char *title,
                           const struct odlc_tensor *const *tensors, size_t count, const struct info_options *options)
{
    const char *const headers[] = {title, "Dimensions", "Type", "Encoding Info"};
    bool quantized = false;
    for (size_t i = 0; i < count; i++)
        quantized |= tensors[i]->n_encodings > 0;
    struct table table = table_create(quantized ? 4 : 3, headers);
    for (size_t i = 0; i < count; i++) {
        const struct odlc_tensor *t = tensors[i];
        struct cell *cells = table_add_row(arena, &table)->cells;
        table_add_line(arena, &table, &cells[0], t->name);
        table_add_line(arena, &table, &cells[1], dims_text(arena, t, ","));
        table_add_line(arena, &table, &cells[2], t->dtype);
        if (quantized)
            add_io_encodings(arena, &table, &cells[3], t, options->all_encodings);
    }
    table_print_fitted(stream, arena, &table, &options->form);
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each type once, sorted. */
static void print_types(FILE *stream, struct arena *arena, const struct odlc_graph *g)
{
    const char **types = arena_array(arena, const char *, g->n_ops);
    for (size_t i = 0; i < g->n_ops; i++)
        types[i] = g->ops[i].type;
    qsort(types, g->n_ops, sizeof *types, compare_strings);
    fprintf(stream, "Ops used by Graph:");
    for (size_t i = 0; i < g->n_ops; i++)
        if (i == 0 || strcmp(types[i], types[i - 1]) != 0)
            fprintf(stream, "%s %s", i ? "," : "", printable(arena, types[i]));
    fputc('\n', stream);
}

static void print_totals(FILE *stream, struct arena *arena, const struct odlc_graph *g)
{
    if (!g->counted) {
        fprintf(stream, "Total parameters: not counted\nTotal MACs per inference: not counted\n");
        return;
    }
    fprintf(stream,
            "Total parameters: %" PRIu64 " (%" PRIu64 " MB assuming single precision float. This is 4 bytes for each "
            "parameter, not what the model needs to run)\n",
            g->parameters, g->parameters / (1024 * 1024 / 4));
    fprintf(stream, "Total MACs per inference: %s%s\n", short_number(arena, g->macs), g->macs ? " (100%)" : "");
}

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1024 * 1024);
}

static void print_memory(FILE *stream, struct arena *arena, const struct odlc_graph *g)
{
    fprintf(stream, "Est. Steady-State Memory Needed to Run: %.1f MiB\n", mebibytes(g->memory));
    fprintf(stream, "  parameters and other constants: %.1f MiB (%" PRIu64 " bytes)\n", mebibytes(g->memory_constants),
            g->memory_constants);
    fprintf(stream, "  inputs and largest live set of activations: %.1f MiB (%" PRIu64 " bytes)%s%s\n",
            mebibytes(g->memory_activations), g->memory_activations, g->peak < g->n_ops ? ", at " : "",
            g->peak < g->n_ops ? printable(arena, g->ops[g->peak].name) : "");
}

static bool any_runtime(const struct odlc_graph *g, unsigned runtime)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].runtimes & runtime)
            return true;
    return false;
}

static void print_nodes(FILE *stream, struct arena *arena, const struct odlc_graph *g,
                        const struct info_options *options)
{
    struct info_nodes shown = {g, options};
    table_row_fn *const make_node = options->compact ? info_make_compact_node : info_make_node;
    struct table nodes = options->compact ? info_compact_table(options) : info_node_table(options);
    const bool colours = options->form.colours;
    table_measure_rows(arena, &nodes, g->n_ops, make_node, &shown);
    table_fit(arena, &nodes, options->form.width);
    nodes.bold_headers = colours;
    size_t width = table_width(&nodes);
    print_rule(stream, '=', width < LONGEST_RULE ? width : LONGEST_RULE);
    fprintf(stream, "%sInfo of graph: %s%s\n", colours ? "\x1b[1m" : "", printable(arena, g->name),
            colours ? "\x1b[0m" : "");
    table_print_rows(stream, arena, &nodes, g->n_ops, make_node, &shown);
}

static void print_key(FILE *stream, const struct odlc_graph *g)
{
    fprintf(stream,
            "Note: the file does not say which processors can run an op; Runtimes is about net-run\n"
            "Key : C:net-run executes the op\n"
            "%s%s      -:net-run has no implementation of it\n\n",
            any_runtime(g, ODLC_RUNTIME_GPU) ? "      G:a package has the op for the GPU\n" : "",
            any_runtime(g, ODLC_RUNTIME_DSP) ? "      D:a package has the op for the DSP\n" : "");
}

static void print_graph(FILE *stream, struct arena *arena, const struct odlc_graph *g,
                        const struct info_options *options)
{
    print_nodes(stream, arena, g, options);
    if (options->compact)
        fprintf(stream, "--wide shows inputs, parameters and encodings; --tensor NAME shows a tensor\n\n");
    else
        print_key(stream, g);
    if (options->targets)
        fprintf(stream, "Target is about published lists of operators and types; unknown: none speaks of it\n\n");
    print_io_table(stream, arena, "Input Name", g->inputs, g->n_inputs, options);
    print_io_table(stream, arena, "Output Name", g->outputs, g->n_outputs, options);
    print_totals(stream, arena, g);
    print_types(stream, arena, g);
    if (options->memory)
        print_memory(stream, arena, g);
}

/* What the zip holds beside the model: caches that were prepared for one processor, and anything else. */
static void print_extra_entries(FILE *stream, struct arena *arena, const struct odlc_summary *s,
                                const struct info_options *options)
{
    static const char *const headers[] = {"Extra Entry", "Bytes"};
    struct table table = table_create(COUNT_OF(headers), headers);
    for (size_t i = 0; i < s->n_entries; i++) {
        const char *name = s->entries[i].name;
        if (strncmp(name, "model", 5) == 0 || strncmp(name, "dlc.metadata", 12) == 0)
            continue;
        struct cell *cells = table_add_row(arena, &table)->cells;
        table_add_line(arena, &table, &cells[0], name);
        table_add_line(arena, &table, &cells[1], arena_printf(arena, "%" PRIu64, s->entries[i].size));
    }
    if (table.rows.count)
        table_print_fitted(stream, arena, &table, &options->form);
}

void info_print_text(FILE *stream, struct arena *arena, const odlc_container *container,
                     const struct info_options *options)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    const struct odlc_summary *s = odlc_container_summary(container);
    print_heading(stream, arena, s, options);
    for (size_t i = 0; i < n_graphs; i++)
        print_graph(stream, arena, &graphs[i], options);
    print_extra_entries(stream, arena, s, options);
}
