/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/info_text.h"
#include "report/value_text.h"

enum {
    COL_ID,
    COL_NAME,
    COL_TYPE,
    COL_INPUTS,
    COL_OUTPUTS,
    COL_DIMS,
    COL_RUNTIMES,
    COL_PARAMETERS,
    COL_TARGET,
    N_COLUMNS
};

static const char *const headers[N_COLUMNS] = {"Id",       "Name",     "Type",       "Inputs", "Outputs",
                                               "Out Dims", "Runtimes", "Parameters", "Target"};

struct node_writer {
    struct arena *arena;
    const struct odlc_graph *graph;
    const struct info_options *options;
    struct table *table;
};

const char *short_number(struct arena *arena, uint64_t number)
{
    if (number >= 1000000)
        return arena_printf(arena, "%" PRIu64 "M", number / 1000000);
    if (number >= 1000)
        return arena_printf(arena, "%" PRIu64 "k", number / 1000);
    return arena_printf(arena, "%" PRIu64, number);
}

/* ---- tensors ---- */

static const char *operand_text(struct arena *arena, const struct odlc_operand *operand, bool is_input)
{
    const struct odlc_tensor *t = operand->tensor;
    if (!t)
        return *operand->name ? operand->name : "(absent)";
    return arena_printf(arena, "%s (data type: %s; tensor dimension: [%s]; tensor type: %s)%s", t->name, t->dtype,
                        t->rank ? dims_text(arena, t, ",") : "", t->kind,
                        is_input && strcmp(t->kind, "APP_WRITE") == 0 ? " [NW Input]" : "");
}

static void add_encodings(struct node_writer *w, struct cell *cell, const struct odlc_tensor *t)
{
    const bool all = w->options->all_encodings && t->encoding_axis >= 0;
    for (uint32_t i = 0; all && i < t->n_encodings; i++) {
        table_add_line(w->arena, w->table, cell,
                       arena_printf(w->arena, "%s encoding[%" PRIu32 "] : %s", t->name, i,
                                    encoding_text(w->arena, &t->encodings[i])));
    }
    if (t->n_encodings && !all)
        table_add_line(w->arena, w->table, cell,
                       arena_printf(w->arena, "%s encoding%s : %s", t->name, t->encoding_axis < 0 ? "" : "s",
                                    encodings_text(w->arena, t)));
}

/* Its encoding stands at that op, among the outputs. */
static bool comes_from_op(const struct odlc_tensor *t)
{
    return strcmp(t->kind, "NATIVE") == 0 || strcmp(t->kind, "APP_READ") == 0;
}

static void add_operands(struct node_writer *w, struct table_row *row, const struct odlc_op *op)
{
    struct cell *parameters = &row->cells[COL_PARAMETERS];
    for (size_t i = 0; i < op->n_inputs; i++) {
        table_add_line(w->arena, w->table, &row->cells[COL_INPUTS], operand_text(w->arena, &op->inputs[i], true));
        if (op->inputs[i].tensor && !comes_from_op(op->inputs[i].tensor))
            add_encodings(w, parameters, op->inputs[i].tensor);
    }
    for (size_t i = 0; i < op->n_outputs; i++) {
        const struct odlc_tensor *t = op->outputs[i].tensor;
        table_add_line(w->arena, w->table, &row->cells[COL_OUTPUTS], operand_text(w->arena, &op->outputs[i], false));
        table_add_line(w->arena, w->table, &row->cells[COL_DIMS], t ? dims_text(w->arena, t, "x") : "");
        if (t)
            add_encodings(w, parameters, t);
    }
}

/* ---- parameters ---- */

typedef VEC(const char *) line_list;

/* One line a value; those inside a nested list as outer.inner. */
static void list_attributes(struct arena *arena, line_list *lines, const struct odlc_attribute *attributes,
                            size_t count, const char *prefix, bool with_type)
{
    for (size_t i = 0; i < count; i++) {
        const struct odlc_attribute *a = &attributes[i];
        text line = {0};
        text_add(arena, &line, "%s%s", prefix, a->name);
        if (a->kind == ODLC_VALUE_NESTED) {
            list_attributes(arena, lines, a->nested, a->n_nested, arena_printf(arena, "%s.", line.data), with_type);
            continue;
        }
        text_add(arena, &line, ": ");
        attribute_text_add(arena, &line, a, with_type);
        vec_push(arena, lines, line.data);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *share(struct arena *arena, uint64_t part, uint64_t whole)
{
    return arena_printf(arena, "%s (%.3g%%)", short_number(arena, part), 100.0 * (double)part / (double)whole);
}

static void add_parameters(struct node_writer *w, struct cell *cell, const struct odlc_op *op)
{
    bool foreign = op->package && strcmp(op->package, "qti.aisw") != 0;
    line_list lines = {0};
    list_attributes(w->arena, &lines, op->attributes, op->n_attributes, "", foreign);
    for (size_t i = 0; i < op->n_params; i++)
        vec_push(w->arena, &lines,
                 arena_printf(w->arena, "%s: %s [%s]", op->params[i].name, op->params[i].dtype,
                              dims_text(w->arena, &op->params[i], ",")));
    if (lines.count)
        qsort(lines.data, lines.count, sizeof *lines.data, compare_lines);
    for (size_t i = 0; i < lines.count; i++)
        table_add_line(w->arena, w->table, cell, lines.data[i]);
    if (op->parameters)
        table_add_line(
            w->arena, w->table, cell,
            arena_printf(w->arena, "param count: %s", share(w->arena, op->parameters, w->graph->parameters)));
    if (op->macs)
        table_add_line(w->arena, w->table, cell,
                       arena_printf(w->arena, "MACs per inference: %s", share(w->arena, op->macs, w->graph->macs)));
}

struct table info_node_table(const struct info_options *options)
{
    return table_create(options->targets ? N_COLUMNS : COL_TARGET, headers);
}

void info_add_targets(struct arena *arena, struct table *table, struct cell *cell, const struct odlc_op *op,
                      unsigned targets)
{
    for (int i = 0; i < ODLC_PROCESSORS; i++) {
        const odlc_processor processor = (odlc_processor)i;
        if (!(targets >> i & 1))
            continue;
        const char *type = odlc_op_unlisted_type(op, processor);
        table_add_line(arena, table, cell,
                       arena_printf(arena, "%s: %s%s%s%s", odlc_processor_name(processor), info_listing(op, processor),
                                    type ? " (" : "", type ? type : "", type ? ": unknown)" : ""));
    }
}

/* The letters and their order are those of the tool that users come from. */
static const char *runtimes_text(struct arena *arena, unsigned runtimes)
{
    text t = {0};
    if (runtimes & ODLC_RUNTIME_DSP)
        text_add(arena, &t, "D");
    if (runtimes & ODLC_RUNTIME_GPU)
        text_add(arena, &t, "%sG", t.count ? " " : "");
    if (runtimes & ODLC_RUNTIME_CPU)
        text_add(arena, &t, "%sC", t.count ? " " : "");
    return t.count ? t.data : "-";
}

void info_make_node(const void *user, struct arena *arena, struct table *table, size_t index)
{
    const struct info_nodes *nodes = user;
    const struct odlc_op *op = &nodes->graph->ops[index];
    struct node_writer w = {.arena = arena, .graph = nodes->graph, .options = nodes->options, .table = table};
    if (!info_node_selected(op, nodes->options))
        return;
    struct table_row *row = table_add_row(arena, table);
    table_add_line(arena, table, &row->cells[COL_ID], arena_printf(arena, "%" PRIu32, op->id));
    table_add_line(arena, table, &row->cells[COL_NAME], op->name);
    table_add_line(arena, table, &row->cells[COL_TYPE], op->type);
    table_add_line(arena, table, &row->cells[COL_RUNTIMES], runtimes_text(arena, op->runtimes));
    add_operands(&w, row, op);
    add_parameters(&w, &row->cells[COL_PARAMETERS], op);
    if (nodes->options->targets)
        info_add_targets(arena, table, &row->cells[COL_TARGET], op, nodes->options->targets);
}

/* ---- CSV ---- */

static odlc_status write_node(struct arena *arena, const struct info_nodes *nodes, size_t index, info_write_fn *write,
                              void *user)
{
    const struct arena_mark mark = arena_mark(arena);
    struct table row = info_node_table(nodes->options);
    text csv = {0};
    info_make_node(nodes, arena, &row, index);
    table_add_csv(arena, &row, &csv);
    TRY(write(user, csv.data, csv.count));
    arena_rewind(arena, mark);
    return ODLC_OK;
}

odlc_status info_write_csv(struct arena *arena, const odlc_container *container, const struct info_options *options,
                           info_write_fn *write, void *user)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    const struct table empty = info_node_table(options);
    text names = {0};
    table_add_csv_headers(arena, &empty, &names);
    if (n_graphs)
        TRY(write(user, names.data, names.count));
    for (size_t i = 0; i < n_graphs; i++) {
        const struct info_nodes nodes = {&graphs[i], options};
        for (size_t k = 0; k < graphs[i].n_ops; k++)
            TRY(write_node(arena, &nodes, k, write, user));
    }
    return ODLC_OK;
}
