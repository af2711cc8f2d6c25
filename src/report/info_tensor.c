/* SPDX-License-Identifier: Apache-2.0 */
/* One tensor in detail. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/container_work.h"
#include "report/info_details.h"
#include "report/report_text.h"
#include "text/json_out.h"

#define FIRST_VALUES 16

enum { TILE = 4096 };

typedef VEC(const char *) name_list;

/* ---- finding it ---- */

/* Whether this is the tensor; its name is kept for suggestions otherwise. */
static bool is_named(struct arena *arena, name_list *known, const char *name, const char *wanted)
{
    vec_push(arena, known, name);
    return strcmp(name, wanted) == 0;
}

/* Tensors of the graph, tensors of attributes by their own names, weights of version 3 as layer:name. */
static bool find_in_graph(struct arena *arena, name_list *known, const struct odlc_graph *g, const char *name,
                          struct info_tensor *out)
{
    *out = (struct info_tensor){.graph = g};
    for (size_t i = 0; i < g->n_tensors; i++) {
        out->tensor = &g->tensors[i];
        if (is_named(arena, known, g->tensors[i].name, name))
            return true;
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        out->owner = &g->ops[i];
        for (size_t k = 0; k < g->ops[i].n_attributes; k++) {
            out->tensor = g->ops[i].attributes[k].tensor;
            if (out->tensor && is_named(arena, known, out->tensor->name, name))
                return true;
        }
        for (size_t k = 0; k < g->ops[i].n_params; k++) {
            out->tensor = &g->ops[i].params[k];
            if (is_named(arena, known, arena_printf(arena, "%s:%s", g->ops[i].name, out->tensor->name), name))
                return true;
        }
    }
    return false;
}

odlc_status info_find_tensor(struct arena *arena, struct diags *diags, const odlc_container *container,
                             const char *name, struct info_tensor *out)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    const char *const spellings[] = {name, container_other_spelling(arena, name)};
    name_list known = {0};
    for (size_t i = 0; i < COUNT_OF(spellings) * n_graphs; i++)
        if (find_in_graph(arena, &known, &graphs[i % n_graphs], spellings[i / n_graphs], out))
            return ODLC_OK;
    const char *near = nearest_word(name, known.data, known.count);
    const char *hint =
        near ? arena_printf(arena, "did you mean '%s'?", near) : "the report of the whole container lists all";
    return diag_error(diags, ODLC_ERR_INVALID, AT(.file = odlc_container_summary(container)->path, .hint = hint),
                      "info-tensor", "the container has no tensor named %s", name);
}

/* ---- statistics ---- */

struct statistics {
    double min, max, mean, deviation; /* of the finite values; NaN when there are none */
    uint64_t finite, zeros, nans, infinities;
};

static void load(const struct odlc_tensor *t, bool real, uint64_t first, size_t count, double *values)
{
    if (real)
        odlc_tensor_reals(t, first, count, values);
    else
        odlc_tensor_doubles(t, first, count, values);
}

static void count_value(struct statistics *s, double value, double *sum)
{
    s->nans += isnan(value) != 0;
    s->infinities += isinf(value) != 0;
    s->zeros += value == 0;
    if (!isfinite(value))
        return;
    s->min = s->finite ? fmin(s->min, value) : value;
    s->max = s->finite ? fmax(s->max, value) : value;
    s->finite++;
    *sum += value;
}

/* Two passes: deviations are summed around the mean, so nothing cancels out. */
static struct statistics measure(const struct odlc_tensor *t, bool real)
{
    struct statistics s = {.min = NAN, .max = NAN};
    double values[TILE], sum = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t first = 0; first < t->count; first += TILE) {
            size_t count = t->count - first < TILE ? (size_t)(t->count - first) : TILE;
            load(t, real, first, count, values);
            for (size_t i = 0; i < count; i++) {
                if (pass == 0)
                    count_value(&s, values[i], &sum);
                else if (isfinite(values[i]))
                    squares += (values[i] - s.mean) * (values[i] - s.mean);
            }
        }
        s.mean = sum / (double)s.finite;
    }
    s.deviation = sqrt(squares / (double)s.finite);
    return s;
}

/* True when stored and real values differ: the data are fixed-point numbers with an encoding. */
static bool is_quantized(const struct odlc_tensor *tensor)
{
    return tensor->n_encodings && tensor->element == ODLC_CLASS_FIXED;
}

static bool is_number(const struct odlc_tensor *t)
{
    return odlc_tensor_readable(t) && t->element != ODLC_CLASS_STRING;
}

/* ---- text ---- */

static const char *value_text(struct arena *arena, const struct odlc_tensor *t, bool real, double value)
{
    bool is_single = t->element == ODLC_CLASS_FLOAT && strcmp(t->dtype, "Float_64") != 0;
    text line = {0};
    if (isnan(value))
        return "nan";
    float_text_add(arena, &line, value, !real && !is_single);
    return line.data;
}

static void add_statistics(struct arena *arena, struct table *table, const struct odlc_tensor *t, bool real)
{
    struct statistics s = measure(t, real);
    const char *const cells[] = {real ? "real" : "stored",
                                 value_text(arena, t, real, s.min),
                                 value_text(arena, t, real, s.max),
                                 arena_printf(arena, "%.9g", s.mean),
                                 arena_printf(arena, "%.9g", s.deviation),
                                 arena_printf(arena, "%" PRIu64, s.zeros),
                                 arena_printf(arena, "%" PRIu64, s.nans),
                                 arena_printf(arena, "%" PRIu64, s.infinities)};
    struct table_row *row = table_add_row(arena, table);
    for (size_t i = 0; i < COUNT_OF(cells); i++)
        table_add_line(arena, table, &row->cells[i], cells[i]);
}

static void print_first(FILE *stream, struct arena *arena, const struct odlc_tensor *t, bool real)
{
    text line = {0};
    for (uint64_t i = 0; i < t->count && i < FIRST_VALUES; i++) {
        double value;
        text_add(arena, &line, "%s", i ? ", " : "");
        if (real) {
            odlc_tensor_reals(t, i, 1, &value);
            text_add(arena, &line, "%s", value_text(arena, t, true, value));
        } else {
            element_text_add(arena, &line, t, i);
        }
    }
    fprintf(stream, "First %s values: %s%s\n", real ? "real" : "stored", line.count ? printable(arena, line.data) : "",
            t->count > FIRST_VALUES ? ", ..." : "");
}

static void print_values(FILE *stream, struct arena *arena, const struct odlc_tensor *t, const struct text_form *form)
{
    static const char *const headers[] = {"Values", "Min", "Max", "Mean", "Std", "Zeros", "NaN", "Inf"};
    bool quantized = is_quantized(t);
    if (!odlc_tensor_readable(t)) {
        fprintf(stream, "Data: none\n");
        return;
    }
    if (is_number(t)) {
        struct table table = table_create(COUNT_OF(headers), headers);
        fprintf(stream, "Data: %" PRIu64 " bytes of %s\n", t->data_size, t->dtype);
        add_statistics(arena, &table, t, false);
        if (quantized)
            add_statistics(arena, &table, t, true);
        table_print_fitted(stream, arena, &table, form);
    }
    print_first(stream, arena, t, false);
    if (quantized)
        print_first(stream, arena, t, true);
}

static bool is_among(const struct odlc_operand *operands, size_t count, const struct odlc_tensor *t)
{
    for (size_t i = 0; i < count; i++)
        if (operands[i].tensor == t)
            return true;
    return false;
}

static void print_users(FILE *stream, struct arena *arena, const struct info_tensor *which)
{
    const struct odlc_graph *g = which->graph;
    if (which->owner)
        fprintf(stream, "Parameter of: %s\n", printable(arena, which->owner->name));
    for (size_t i = 0; i < g->n_ops && !which->owner; i++)
        if (is_among(g->ops[i].outputs, g->ops[i].n_outputs, which->tensor))
            fprintf(stream, "Written by: %s\n", printable(arena, g->ops[i].name));
    for (size_t i = 0; i < g->n_ops && !which->owner; i++)
        if (is_among(g->ops[i].inputs, g->ops[i].n_inputs, which->tensor))
            fprintf(stream, "Read by: %s\n", printable(arena, g->ops[i].name));
}

void info_print_tensor(FILE *stream, struct arena *arena, const struct info_tensor *which, const struct text_form *form)
{
    const struct odlc_tensor *t = which->tensor;
    fprintf(stream, "Tensor: %s\n", printable(arena, t->name));
    fprintf(stream, "Graph: %s\n", printable(arena, which->graph->name));
    fprintf(stream, "Tensor type: %s\n", t->kind);
    fprintf(stream, "Data type: %s\n", t->dtype);
    fprintf(stream, "Tensor dimension: [%s]\n", t->rank ? dims_text(arena, t, ",") : "");
    fprintf(stream, "Elements: %" PRIu64 "\n", t->count);
    print_users(stream, arena, which);
    for (uint32_t i = 0; i < t->n_encodings; i++) {
        const char *index = t->encoding_axis < 0 ? "" : arena_printf(arena, "[%" PRIu32 "]", i);
        fprintf(stream, "Encoding%s: %s\n", index, encoding_text(arena, &t->encodings[i]));
    }
    if (t->overridden)
        fprintf(stream, "Overridden: the encodings are given, not the quantizer's own\n");
    print_values(stream, arena, t, form);
}

/* ---- JSON ---- */

static void write_statistics(struct json_out *j, const struct odlc_tensor *t, bool real)
{
    struct statistics s = measure(t, real);
    json_object(j, NULL);
    json_string(j, "of", real ? "real" : "stored");
    if (s.finite) {
        json_double(j, "min", s.min);
        json_double(j, "max", s.max);
        json_double(j, "mean", s.mean);
        json_double(j, "std", s.deviation);
    }
    json_uint(j, "zeros", s.zeros);
    json_uint(j, "nans", s.nans);
    json_uint(j, "infinities", s.infinities);
    json_array_inline(j, "first");
    for (uint64_t i = 0; i < t->count && i < FIRST_VALUES; i++) {
        double value;
        if (real) {
            odlc_tensor_reals(t, i, 1, &value);
            json_double(j, NULL, value);
        } else {
            info_write_element(j, t, i);
        }
    }
    json_end_array(j);
    json_end_object(j);
}

static void write_users(struct json_out *j, const char *key, const struct info_tensor *which, bool writers)
{
    const struct odlc_graph *g = which->graph;
    json_array(j, key);
    for (size_t i = 0; i < g->n_ops && !which->owner; i++) {
        const struct odlc_op *op = &g->ops[i];
        if (is_among(writers ? op->outputs : op->inputs, writers ? op->n_outputs : op->n_inputs, which->tensor))
            json_string(j, NULL, op->name);
    }
    json_end_array(j);
}

void info_print_tensor_json(FILE *stream, const odlc_container *container, const struct info_tensor *which)
{
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.dlc-tensor");
    json_int(&j, "schema_version", INFO_SCHEMA_VERSION);
    json_string(&j, "file", odlc_container_summary(container)->path);
    json_string(&j, "graph", which->graph->name);
    if (which->owner)
        json_string(&j, "parameter_of", which->owner->name);
    info_write_tensor(&j, "tensor", which->tensor);
    write_users(&j, "written_by", which, true);
    write_users(&j, "read_by", which, false);
    json_array(&j, "statistics");
    if (is_number(which->tensor)) {
        write_statistics(&j, which->tensor, false);
        if (is_quantized(which->tensor))
            write_statistics(&j, which->tensor, true);
    }
    json_end_array(&j);
    json_end_object(&j);
}
