/* The report as text, in the layout that users of the vendor's recent releases know. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info.h"

#define LONGEST_RULE 1000 /* of a rule; a table may be wider */

static void print_heading(FILE *stream, struct arena *arena, const struct odlc_summary *s)
{
    fprintf(stream, "DLC info of: %s\n\n", printable(arena, s->path));
    fprintf(stream, "Model Version: %s\n", printable(arena, s->model_version));
    fprintf(stream, "Model Copyright:%s\n", printable(arena, s->model_copyright));
    fprintf(stream, "Converter command: %s\n", printable(arena, s->converter_command));
    fprintf(stream, "Quantizer command: %s\n", printable(arena, s->quantizer_command));
    fprintf(stream, "DLC created with converter version: %s\n", printable(arena, s->converter_version));
    fprintf(stream, "DLC format: %" PRIu32 ".%" PRIu32 ", parameters: %s\n", s->major, s->minor, s->params_format);
}

static void print_io_table(FILE *stream, struct arena *arena, const char *title,
                           const struct odlc_tensor *const *tensors, size_t count)
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
        if (t->n_encodings)
            table_add_line(arena, &table, &cells[3], encoding_text(arena, t->encodings));
    }
    table_print(stream, &table);
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

static void print_graph(FILE *stream, struct arena *arena, const struct odlc_graph *g,
                        const struct info_options *options)
{
    struct table nodes = info_node_table(arena, g, options);
    size_t width = table_width(&nodes);
    print_rule(stream, '=', width < LONGEST_RULE ? width : LONGEST_RULE);
    fprintf(stream, "Info of graph: %s\n", printable(arena, g->name));
    table_print(stream, &nodes);
    fprintf(stream, "Note: the file does not say which processors can run an op; Runtimes is about net-run\n"
                    "Key : C:net-run executes the op\n"
                    "      -:net-run has no implementation of it\n\n");
    print_io_table(stream, arena, "Input Name", g->inputs, g->n_inputs);
    print_io_table(stream, arena, "Output Name", g->outputs, g->n_outputs);
    print_totals(stream, arena, g);
    print_types(stream, arena, g);
    if (options->memory && g->memory)
        fprintf(stream, "Est. Steady-State Memory Needed to Run: %.1f MiB\n", (double)g->memory / (1024 * 1024));
    else if (options->memory)
        fprintf(stream, "Est. Steady-State Memory Needed to Run: not known\n");
}

void info_print_text(FILE *stream, struct arena *arena, const odlc_container *container,
                     const struct info_options *options)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    print_heading(stream, arena, odlc_container_summary(container));
    for (size_t i = 0; i < n_graphs; i++)
        print_graph(stream, arena, &graphs[i], options);
}
