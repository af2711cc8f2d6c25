/* SPDX-License-Identifier: Apache-2.0 */
/* The model as the page reads it (src/report/viewer/model.js). Tensors of a graph stand in a list, and operands are
 * positions in it; an operand that the graph does not describe is its name, an absent one null. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/constant_bytes.h"
#include "report/info_json.h"
#include "report/viewer/statistics.h"
#include "report/viewer/viewer.h"
#include "text/json_out.h"
#include "text/text_stream.h"

/* The page stays small however large the weights are. */
#define MAX_VALUES 16
#define MAX_ENCODINGS 16
#define MAX_STRING 2000
#define LARGEST_EXACT ((int64_t)1 << 53) /* of the page's numbers, which are doubles */

static const char *cut(struct arena *arena, const char *string)
{
    if (strlen(string) <= MAX_STRING)
        return string;
    return arena_printf(arena, "%.*s… (%zu bytes)", MAX_STRING, string, strlen(string));
}

static void write_int(struct json_out *j, const char *key, struct arena *arena, int64_t value)
{
    if (value >= -LARGEST_EXACT && value <= LARGEST_EXACT)
        json_int(j, key, value);
    else
        json_string(j, key, arena_printf(arena, "%lld", (long long)value));
}

static void write_uint(struct json_out *j, const char *key, struct arena *arena, uint64_t value)
{
    if (value <= (uint64_t)LARGEST_EXACT)
        json_uint(j, key, value);
    else
        json_string(j, key, arena_printf(arena, "%llu", (unsigned long long)value));
}

/* A float32 as the shortest decimal that reads back as the same float32: 0.2, not 0.20000000298. */
static void write_float(struct json_out *j, const char *key, double value, const char *dtype)
{
    bool narrow = dtype && strcmp(dtype, "Float_64") != 0;
    char number[40];
    if (narrow && isfinite(value))
        for (int digits = 6; digits <= 9; digits++) {
            snprintf(number, sizeof number, "%.*g", digits, value);
            if (strtof(number, NULL) == (float)value) {
                value = strtod(number, NULL);
                break;
            }
        }
    json_double(j, key, value);
}

static void write_element(struct json_out *j, struct arena *arena, const struct odlc_tensor *t, uint64_t index)
{
    if (t->element == ODLC_CLASS_BOOL)
        json_bool(j, NULL, odlc_tensor_int(t, index) != 0);
    else if (t->element == ODLC_CLASS_FLOAT)
        write_float(j, NULL, odlc_tensor_double(t, index), t->dtype);
    else if (t->element == ODLC_CLASS_STRING)
        json_string(j, NULL, cut(arena, odlc_tensor_string(t, index)));
    else if (t->element == ODLC_CLASS_UINT)
        write_uint(j, NULL, arena, (uint64_t)odlc_tensor_int(t, index));
    else
        write_int(j, NULL, arena, odlc_tensor_int(t, index));
}

static void write_statistics(struct json_out *j, struct arena *arena, const struct odlc_tensor *t)
{
    struct statistics s = statistics_of(t);
    json_object(j, "statistics");
    write_uint(j, "finite", arena, s.finite);
    write_uint(j, "zeros", arena, s.zeros);
    json_double(j, "min", s.min);
    json_double(j, "max", s.max);
    json_double(j, "mean", s.mean);
    json_double(j, "std", s.std);
    json_array(j, "bins");
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        write_uint(j, NULL, arena, s.bins[i]);
    json_end_array(j);
    json_end_object(j);
}

static void write_encodings(struct json_out *j, const struct odlc_tensor *t)
{
    json_object(j, "quantization");
    json_int(j, "axis", t->encoding_axis);
    json_uint(j, "count", t->n_encodings);
    json_array(j, "encodings");
    for (uint32_t i = 0; i < t->n_encodings && i < MAX_ENCODINGS; i++)
        info_write_encoding(j, &t->encodings[i]);
    json_end_array(j);
    json_end_object(j);
}

static bool has_statistics(const struct odlc_tensor *t)
{
    return t->count > MAX_VALUES && t->element != ODLC_CLASS_STRING && t->element != ODLC_CLASS_BOOL;
}

/* A few values, and what all are like. */
static void write_values(struct json_out *j, struct arena *arena, const struct odlc_tensor *t)
{
    if (has_statistics(t))
        write_statistics(j, arena, t);
    json_array(j, "values");
    for (uint64_t i = 0; i < t->count && i < MAX_VALUES; i++)
        write_element(j, arena, t, i);
    json_end_array(j);
}

/* dtype, dims and encodings. */
static void write_type(struct json_out *j, struct arena *arena, const struct odlc_tensor *t)
{
    json_string(j, "dtype", t->dtype);
    json_array(j, "dims");
    for (uint32_t i = 0; i < t->rank; i++)
        write_int(j, NULL, arena, t->dims[i]);
    json_end_array(j);
    write_uint(j, "elements", arena, t->count);
    if (t->n_encodings)
        write_encodings(j, t);
}

/* All that is said of a tensor, and not of its place. */
static void write_contents(struct json_out *j, struct arena *arena, const struct odlc_tensor *t)
{
    write_type(j, arena, t);
    if (odlc_tensor_readable(t))
        write_values(j, arena, t);
}

/* What is written, and how far that is. */
struct written_model {
    struct arena *arena;
    const struct viewer_subject *subject;
    uint64_t done, total; /* bytes of tensors */
    bool stopped;         /* the rest is not written */
};

static void write_tensor(struct json_out *j, struct written_model *model, const struct odlc_tensor *t)
{
    struct arena *arena = model->arena;
    struct viewer_later *later = model->subject->later;
    json_object(j, NULL);
    json_string(j, "name", t->name);
    json_uint(j, "id", t->id);
    json_string(j, "kind", t->kind);
    write_uint(j, "bytes", arena, t->data_size);
    if (later && odlc_tensor_readable(t) && has_statistics(t)) {
        write_type(j, arena, t);
        json_uint(j, "later", later->count);
        vec_push(arena, later, t);
    } else {
        write_contents(j, arena, t);
    }
    json_end_object(j);
}

static void write_attributes(struct json_out *j, struct arena *arena, const char *key,
                             const struct odlc_attribute *attributes, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        const struct odlc_attribute *a = &attributes[i];
        json_object(j, NULL);
        json_string(j, "name", a->name);
        if (a->supplemental)
            json_bool(j, "supplemental", true);
        if (a->kind == ODLC_VALUE_TENSOR)
            write_contents(j, arena, a->tensor);
        else if (a->kind == ODLC_VALUE_NESTED)
            write_attributes(j, arena, "nested", a->nested, a->n_nested);
        else if (a->dtype)
            json_string(j, "dtype", a->dtype);
        if (a->kind == ODLC_VALUE_BOOL)
            json_bool(j, "value", a->i != 0);
        else if (a->kind == ODLC_VALUE_INT)
            write_int(j, "value", arena, a->i);
        else if (a->kind == ODLC_VALUE_UINT)
            write_uint(j, "value", arena, (uint64_t)a->i);
        else if (a->kind == ODLC_VALUE_FLOAT)
            write_float(j, "value", a->f, a->dtype);
        else if (a->kind == ODLC_VALUE_STRING)
            json_string(j, "value", cut(arena, a->s));
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_operands(struct json_out *j, const char *key, const struct odlc_graph *g,
                           const struct odlc_operand *operands, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        if (operands[i].tensor)
            json_int(j, NULL, operands[i].tensor - g->tensors);
        else
            json_string(j, NULL, *operands[i].name ? operands[i].name : NULL);
    json_end_array(j);
}

static void write_op(struct json_out *j, struct written_model *model, const struct odlc_graph *g,
                     const struct odlc_op *op)
{
    struct arena *arena = model->arena;
    json_object(j, NULL);
    json_uint(j, "id", op->id);
    json_string(j, "name", op->name);
    json_string(j, "type", op->type);
    json_string(j, "package", op->package);
    json_bool(j, "udo", viewer_is_udo(op));
    json_bool(j, "executable", op->executable);
    write_uint(j, "parameters", arena, op->parameters);
    write_uint(j, "macs", arena, op->macs);
    write_operands(j, "inputs", g, op->inputs, op->n_inputs);
    write_operands(j, "outputs", g, op->outputs, op->n_outputs);
    write_attributes(j, arena, "attributes", op->attributes, op->n_attributes);
    json_array(j, "params");
    for (size_t i = 0; i < op->n_params; i++)
        write_tensor(j, model, &op->params[i]);
    json_end_array(j);
    json_end_object(j);
}

static void write_positions(struct json_out *j, const char *key, const struct odlc_graph *g,
                            const struct odlc_tensor *const *tensors, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_int(j, NULL, tensors[i] - g->tensors);
    json_end_array(j);
}

static void note_tensor(struct written_model *model, const struct odlc_tensor *t)
{
    const struct progress *progress = model->subject->progress;
    model->done += t->data_size;
    if (progress && t->data_size && !progress->report(progress->user, model->done, model->total))
        model->stopped = true;
}

static void write_graph(struct json_out *j, struct written_model *model, const struct odlc_graph *g)
{
    struct arena *arena = model->arena;
    json_object(j, NULL);
    json_string(j, "name", g->name);
    json_bool(j, "counted", g->counted);
    write_uint(j, "parameters", arena, g->parameters);
    write_uint(j, "macs", arena, g->macs);
    write_uint(j, "memory", arena, g->memory);
    write_positions(j, "inputs", g, g->inputs, g->n_inputs);
    write_positions(j, "outputs", g, g->outputs, g->n_outputs);
    json_array(j, "tensors");
    for (size_t i = 0; i < g->n_tensors && !model->stopped; i++) {
        write_tensor(j, model, &g->tensors[i]);
        note_tensor(model, &g->tensors[i]);
    }
    json_end_array(j);
    json_array(j, "ops");
    for (size_t i = 0; i < g->n_ops; i++)
        write_op(j, model, g, &g->ops[i]);
    json_end_array(j);
    json_end_object(j);
}

static void write_summary(struct json_out *j, struct arena *arena, const struct odlc_summary *s)
{
    const char *slash = strrchr(s->path, '/');
    json_string(j, "file", slash ? slash + 1 : s->path);
    json_string(j, "format", arena_printf(arena, "%u.%u", s->major, s->minor));
    json_string(j, "params_format", s->params_format);
    json_array(j, "metadata");
    for (size_t i = 0; i < s->n_metadata; i++) {
        json_array(j, NULL);
        json_string(j, NULL, s->metadata[i].key);
        json_string(j, NULL, cut(arena, s->metadata[i].value));
        json_end_array(j);
    }
    json_end_array(j);
    json_array(j, "entries");
    for (size_t i = 0; i < s->n_entries; i++) {
        json_array(j, NULL);
        json_string(j, NULL, s->entries[i].name);
        write_uint(j, NULL, arena, s->entries[i].size);
        json_end_array(j);
    }
    json_end_array(j);
}

static void write_graphs(struct json_out *j, struct written_model *model, const odlc_container *container)
{
    size_t count;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    json_array(j, "graphs");
    for (size_t i = 0; i < count; i++)
        write_graph(j, model, &graphs[i]);
    json_end_array(j);
}

static void write_differences(FILE *stream, const void *diff)
{
    diff_print_json(stream, diff);
}

/* The container that the page compares its own with, and what differs, as dlc-diff --json prints it. */
static void write_compared(struct json_out *j, struct written_model *model, const struct diff *diff)
{
    struct arena *arena = model->arena;
    size_t size;
    const char *differences = text_written(arena, write_differences, diff, &size);
    json_object(j, "compared");
    write_summary(j, arena, odlc_container_summary(diff->containers[0]));
    write_graphs(j, model, diff->containers[0]);
    json_written(j, "differences", differences, size);
    json_end_object(j);
}

static void write_container(FILE *stream, const void *data)
{
    struct written_model *model = *(struct written_model *const *)data;
    const struct viewer_subject *subject = model->subject;
    struct json_out j = json_out_to(stream, true);
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(subject->container, &n_graphs);
    json_object(&j, NULL);
    write_summary(&j, model->arena, odlc_container_summary(subject->container));
    json_int(&j, "shown", subject->shown - graphs);
    if (subject->report) {
        size_t length;
        const char *report = json_source(subject->report, subject->report->root, &length);
        json_written(&j, "report", report, length);
    }
    write_graphs(&j, model, subject->container);
    if (subject->diff)
        write_compared(&j, model, subject->diff);
    json_end_object(&j);
}

odlc_status viewer_model(struct arena *arena, struct diags *diags, const struct viewer_subject *subject,
                         const char **json, size_t *size)
{
    struct written_model model = {.arena = arena, .subject = subject, .total = constant_bytes(subject->container)};
    struct written_model *const written = &model;
    if (subject->diff)
        model.total += constant_bytes(subject->diff->containers[0]);
    TRY(progress_report(subject->progress, diags, 0, model.total));
    *json = text_written(arena, write_container, &written, size);
    return model.stopped ? progress_stopped(diags) : ODLC_OK;
}

struct left_values {
    struct arena *arena;
    const struct odlc_tensor *tensor;
};

static void write_left(FILE *stream, const void *data)
{
    const struct left_values *left = data;
    struct json_out j = json_out_to(stream, true);
    json_object(&j, NULL);
    write_values(&j, left->arena, left->tensor);
    json_end_object(&j);
}

const char *viewer_values(struct arena *arena, const struct odlc_tensor *tensor, size_t *size)
{
    return text_written(arena, write_left, &(struct left_values){arena, tensor}, size);
}
