/* The table of nodes. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/info.h"

/* Values of a tensor parameter beyond these are not printed: enough for any axes, strides or paddings. */
#define MAX_VALUES 64
#define FIRST_VALUES 8
#define MAX_STRING 120

enum { COL_ID, COL_NAME, COL_TYPE, COL_INPUTS, COL_OUTPUTS, COL_DIMS, COL_RUNTIMES, COL_PARAMETERS, N_COLUMNS };

static const char *const headers[N_COLUMNS] = {"Id",      "Name",     "Type",     "Inputs",
                                               "Outputs", "Out Dims", "Runtimes", "Parameters"};

struct node_writer {
    struct arena *arena;
    const struct odlc_graph *graph;
    const struct info_options *options;
    struct table *table;
};

const char *encoding_text(struct arena *arena, const struct odlc_encoding *encoding)
{
    return arena_printf(arena, "bitwidth %" PRIu32 ", min %.12f, max %.12f, scale %.12f, offset %.12f",
                        encoding->bitwidth, encoding->min, encoding->max, encoding->scale, (double)encoding->offset);
}

const char *short_number(struct arena *arena, uint64_t number)
{
    if (number >= 1000000)
        return arena_printf(arena, "%" PRIu64 "M", number / 1000000);
    if (number >= 1000)
        return arena_printf(arena, "%" PRIu64 "k", number / 1000);
    return arena_printf(arena, "%" PRIu64, number);
}

const char *dims_text(struct arena *arena, const struct odlc_tensor *tensor, const char *between)
{
    text dims = {0};
    if (!tensor->rank)
        return "scalar";
    for (uint32_t i = 0; i < tensor->rank; i++)
        text_add(arena, &dims, "%s%" PRId64, i ? between : "", tensor->dims[i]);
    return dims.data;
}

bool info_node_selected(const struct odlc_op *op, const struct info_options *options)
{
    return !options->nodes || fnmatch(options->nodes, op->name, 0) == 0;
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
    uint32_t printed = w->options->all_encodings ? t->n_encodings : t->n_encodings > 0;
    for (uint32_t i = 0; i < printed; i++) {
        const char *index = t->encoding_axis < 0 ? "" : arena_printf(w->arena, "[%" PRIu32 "]", i);
        table_add_line(
            w->arena, w->table, cell,
            arena_printf(w->arena, "%s encoding%s : %s", t->name, index, encoding_text(w->arena, &t->encodings[i])));
    }
    if (printed < t->n_encodings)
        table_add_line(w->arena, w->table, cell,
                       arena_printf(w->arena, "%s encodings in all: %" PRIu32 " along axis %" PRId32, t->name,
                                    t->n_encodings, t->encoding_axis));
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

void info_add_float(struct arena *arena, text *line, double value, bool is_double)
{
    char number[40];
    int digits = 6;
    do {
        snprintf(number, sizeof number, "%.*g", digits, value);
        double back = strtod(number, NULL);
        if (is_double ? back == value : (float)back == (float)value)
            break;
    } while (digits++ < 17);
    text_add(arena, line, "%s", number);
}

static void add_string(struct arena *arena, text *line, const char *s)
{
    size_t length = strlen(s);
    if (length <= MAX_STRING)
        text_add(arena, line, "%s", s);
    else
        text_add(arena, line, "%.*s... (%zu bytes)", MAX_STRING, s, length);
}

void info_add_element(struct arena *arena, text *line, const struct odlc_tensor *t, uint64_t index)
{
    switch (t->stored) {
    case ODLC_CLASS_BOOL:
        text_add(arena, line, "%s", odlc_tensor_int(t, index) ? "True" : "False");
        break;
    case ODLC_CLASS_FLOAT:
        info_add_float(arena, line, odlc_tensor_double(t, index), strcmp(t->stored_dtype, "Float_64") == 0);
        break;
    case ODLC_CLASS_STRING:
        add_string(arena, line, odlc_tensor_string(t, index));
        break;
    case ODLC_CLASS_UINT:
        text_add(arena, line, "%" PRIu64, (uint64_t)odlc_tensor_int(t, index));
        break;
    default:
        text_add(arena, line, "%" PRId64, odlc_tensor_int(t, index));
        break;
    }
}

/* Nested lists, as [[2, 2], [2, 2]]: brackets open where an index of an outer axis begins and close where it ends. */
static void add_all_elements(struct arena *arena, text *line, const struct odlc_tensor *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t inner = 1;
        uint32_t opening = 0, closing = 0;
        for (uint32_t axis = t->rank; axis-- > 0;) {
            inner *= (uint64_t)t->dims[axis];
            opening += i % inner == 0;
            closing += (i + 1) % inner == 0;
        }
        text_add(arena, line, "%s%.*s", i ? ", " : "", (int)opening, "[[[[[[[[");
        info_add_element(arena, line, t, i);
        text_add(arena, line, "%.*s", (int)closing, "]]]]]]]]");
    }
    if (!t->count)
        text_add(arena, line, "[]");
}

static void add_elements(struct arena *arena, text *line, const struct odlc_tensor *t)
{
    if (!odlc_tensor_readable(t)) {
        text_add(arena, line, "no data");
    } else if (t->count <= MAX_VALUES) {
        add_all_elements(arena, line, t);
    } else {
        text_add(arena, line, "[");
        for (uint64_t i = 0; i < FIRST_VALUES; i++) {
            info_add_element(arena, line, t, i);
            text_add(arena, line, ", ");
        }
        text_add(arena, line, "...] (%" PRIu64 " values)", t->count);
    }
}

static void add_value(struct arena *arena, text *line, const struct odlc_attribute *a, bool with_type)
{
    switch (a->kind) {
    case ODLC_VALUE_BOOL:
        text_add(arena, line, "%s", a->i ? "True" : "False");
        break;
    case ODLC_VALUE_INT:
        text_add(arena, line, "%" PRId64, a->i);
        break;
    case ODLC_VALUE_UINT:
        text_add(arena, line, "%" PRIu64, (uint64_t)a->i);
        break;
    case ODLC_VALUE_FLOAT:
        info_add_float(arena, line, a->f, a->dtype && strcmp(a->dtype, "Float_64") == 0);
        break;
    case ODLC_VALUE_STRING:
        add_string(arena, line, a->s);
        break;
    case ODLC_VALUE_TENSOR:
        add_elements(arena, line, a->tensor);
        if (with_type)
            text_add(arena, line, " (%s [%s])", a->tensor->dtype,
                     a->tensor->rank ? dims_text(arena, a->tensor, ",") : "");
        break;
    case ODLC_VALUE_NESTED:
        break;
    }
    if (with_type && a->dtype && a->kind != ODLC_VALUE_TENSOR && !a->supplemental)
        text_add(arena, line, " (%s)", a->dtype);
}

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
        add_value(arena, &line, a, with_type);
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

struct table info_node_table(struct arena *arena, const struct odlc_graph *graph, const struct info_options *options)
{
    struct table table = table_create(N_COLUMNS, headers);
    struct node_writer w = {.arena = arena, .graph = graph, .options = options, .table = &table};
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct odlc_op *op = &graph->ops[i];
        if (!info_node_selected(op, options))
            continue;
        struct table_row *row = table_add_row(arena, &table);
        table_add_line(arena, &table, &row->cells[COL_ID], arena_printf(arena, "%" PRIu32, op->id));
        table_add_line(arena, &table, &row->cells[COL_NAME], op->name);
        table_add_line(arena, &table, &row->cells[COL_TYPE], op->type);
        table_add_line(arena, &table, &row->cells[COL_RUNTIMES], op->executable ? "C" : "-");
        add_operands(&w, row, op);
        add_parameters(&w, &row->cells[COL_PARAMETERS], op);
    }
    return table;
}
