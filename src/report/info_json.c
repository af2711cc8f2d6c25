/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON; the schema is described in docs/dlc-info-json.md. */
#include "report/info_json.h"

#include <fnmatch.h>
#include "text/json_out.h"

#define MAX_ATTRIBUTE_VALUES 1024
#define MAX_TENSOR_VALUES 16

bool info_node_selected(const struct odlc_op *op, const struct info_options *options)
{
    return !options->nodes || fnmatch(options->nodes, op->name, 0) == 0;
}

const char *info_listing(const struct odlc_op *op, odlc_processor processor)
{
    static const char *const texts[] = {
        [ODLC_LISTING_UNKNOWN] = "unknown", [ODLC_LISTING_NO] = "no", [ODLC_LISTING_YES] = "yes"};
    return texts[odlc_op_listing(op, processor)];
}

void info_write_element(struct json_out *j, const struct odlc_tensor *t, uint64_t index)
{
    if (t->element == ODLC_CLASS_BOOL)
        json_bool(j, NULL, odlc_tensor_int(t, index) != 0);
    else if (t->element == ODLC_CLASS_FLOAT)
        json_double(j, NULL, odlc_tensor_double(t, index));
    else if (t->element == ODLC_CLASS_STRING)
        json_string(j, NULL, odlc_tensor_string(t, index));
    else if (t->element == ODLC_CLASS_UINT)
        json_uint(j, NULL, (uint64_t)odlc_tensor_int(t, index));
    else
        json_int(j, NULL, odlc_tensor_int(t, index));
}

void info_write_encoding(struct json_out *j, const struct odlc_encoding *encoding)
{
    json_object_inline(j, NULL);
    json_uint(j, "bitwidth", encoding->bitwidth);
    json_double(j, "min", encoding->min);
    json_double(j, "max", encoding->max);
    json_double(j, "scale", encoding->scale);
    json_int(j, "offset", encoding->offset);
    json_end_object(j);
}

static void write_encodings(struct json_out *j, const struct odlc_tensor *t)
{
    json_object(j, "quantization");
    json_int(j, "axis", t->encoding_axis);
    json_bool(j, "is_overridden", t->overridden);
    json_array(j, "encodings");
    for (uint32_t i = 0; i < t->n_encodings; i++)
        info_write_encoding(j, &t->encodings[i]);
    json_end_array(j);
    json_end_object(j);
}

/* dtype, dims and, when there are at most max_values, the values. */
static void write_contents(struct json_out *j, const struct odlc_tensor *t, uint64_t max_values)
{
    json_string(j, "dtype", t->dtype);
    json_array_inline(j, "dims");
    for (uint32_t i = 0; i < t->rank; i++)
        json_int(j, NULL, t->dims[i]);
    json_end_array(j);
    json_uint(j, "elements", t->count);
    if (odlc_tensor_readable(t) && t->count <= max_values) {
        json_array_inline(j, "values");
        for (uint64_t i = 0; i < t->count; i++)
            info_write_element(j, t, i);
        json_end_array(j);
    }
}

void info_write_tensor(struct json_out *j, const char *key, const struct odlc_tensor *t)
{
    json_object(j, key);
    json_string(j, "name", t->name);
    json_uint(j, "id", t->id);
    json_string(j, "kind", t->kind);
    write_contents(j, t, MAX_TENSOR_VALUES);
    json_uint(j, "dtype_code", t->dtype_code);
    json_uint(j, "axis_format", t->axis_format);
    json_uint(j, "data_size", t->data_size);
    if (t->n_encodings)
        write_encodings(j, t);
    json_end_object(j);
}

static void write_attributes(struct json_out *j, const char *key, const struct odlc_attribute *attributes, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        const struct odlc_attribute *a = &attributes[i];
        static const char *const kinds[] = {"bool", "int", "uint", "float", "string", "tensor", "nested"};
        json_object(j, NULL);
        json_string(j, "name", a->name);
        json_string(j, "kind", kinds[a->kind]);
        json_bool(j, "supplemental", a->supplemental);
        if (a->kind == ODLC_VALUE_TENSOR)
            write_contents(j, a->tensor, MAX_ATTRIBUTE_VALUES);
        else if (a->kind == ODLC_VALUE_NESTED)
            write_attributes(j, "nested", a->nested, a->n_nested);
        else if (a->dtype)
            json_string(j, "dtype", a->dtype);
        if (a->kind == ODLC_VALUE_BOOL)
            json_bool(j, "value", a->i != 0);
        else if (a->kind == ODLC_VALUE_INT)
            json_int(j, "value", a->i);
        else if (a->kind == ODLC_VALUE_UINT)
            json_uint(j, "value", (uint64_t)a->i);
        else if (a->kind == ODLC_VALUE_FLOAT)
            json_double(j, "value", a->f);
        else if (a->kind == ODLC_VALUE_STRING)
            json_string(j, "value", a->s);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_operands(struct json_out *j, const char *key, const struct odlc_operand *operands, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, *operands[i].name ? operands[i].name : NULL);
    json_end_array(j);
}

static void write_runtimes(struct json_out *j, unsigned runtimes)
{
    json_array(j, "runtimes");
    if (runtimes & ODLC_RUNTIME_DSP)
        json_string(j, NULL, "DSP");
    if (runtimes & ODLC_RUNTIME_GPU)
        json_string(j, NULL, "GPU");
    if (runtimes & ODLC_RUNTIME_CPU)
        json_string(j, NULL, "CPU");
    json_end_array(j);
}

/* What the lists of the processors that were asked for say. */
static void write_targets(struct json_out *j, const struct odlc_op *op, unsigned targets)
{
    json_object(j, "targets");
    for (int i = 0; i < ODLC_PROCESSORS; i++) {
        const odlc_processor processor = (odlc_processor)i;
        if (!(targets >> i & 1))
            continue;
        json_object_inline(j, odlc_processor_name(processor));
        json_string(j, "listed", info_listing(op, processor));
        json_string(j, "unlisted_type", odlc_op_unlisted_type(op, processor));
        json_end_object(j);
    }
    json_end_object(j);
}

static void write_node(struct json_out *j, const struct odlc_op *op, const struct info_options *options)
{
    json_object(j, NULL);
    json_uint(j, "id", op->id);
    json_string(j, "name", op->name);
    json_string(j, "type", op->type);
    json_string(j, "operator", op->operator_name);
    json_string(j, "package", op->package);
    json_bool(j, "executable", op->executable);
    write_runtimes(j, op->runtimes);
    if (options->targets)
        write_targets(j, op, options->targets);
    json_uint(j, "parameters", op->parameters);
    json_uint(j, "macs", op->macs);
    write_operands(j, "inputs", op->inputs, op->n_inputs);
    write_operands(j, "outputs", op->outputs, op->n_outputs);
    write_attributes(j, "attributes", op->attributes, op->n_attributes);
    if (op->n_params) {
        json_array(j, "params");
        for (size_t i = 0; i < op->n_params; i++)
            info_write_tensor(j, NULL, &op->params[i]);
        json_end_array(j);
    }
    json_end_object(j);
}

static void write_names(struct json_out *j, const char *key, const struct odlc_tensor *const *tensors, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, tensors[i]->name);
    json_end_array(j);
}

static void write_graph(struct json_out *j, const struct odlc_graph *g, const struct info_options *options)
{
    json_object(j, NULL);
    json_string(j, "name", g->name);
    json_bool(j, "counted", g->counted);
    json_uint(j, "parameters", g->parameters);
    json_uint(j, "macs", g->macs);
    json_uint(j, "memory", g->memory);
    json_uint(j, "memory_constants", g->memory_constants);
    json_uint(j, "memory_activations", g->memory_activations);
    json_string(j, "memory_peak", g->peak < g->n_ops ? g->ops[g->peak].name : NULL);
    write_names(j, "inputs", g->inputs, g->n_inputs);
    write_names(j, "outputs", g->outputs, g->n_outputs);
    json_array(j, "tensors");
    for (size_t i = 0; i < g->n_tensors; i++)
        info_write_tensor(j, NULL, &g->tensors[i]);
    json_end_array(j);
    json_array(j, "nodes");
    for (size_t i = 0; i < g->n_ops; i++)
        if (info_node_selected(&g->ops[i], options))
            write_node(j, &g->ops[i], options);
    json_end_array(j);
    json_end_object(j);
}

static void write_summary(struct json_out *j, const struct odlc_summary *s)
{
    json_string(j, "file", s->path);
    json_object_inline(j, "format");
    json_uint(j, "major", s->major);
    json_uint(j, "minor", s->minor);
    json_string(j, "params", s->params_format);
    json_end_object(j);
    json_array(j, "metadata");
    for (size_t i = 0; i < s->n_metadata; i++) {
        json_object_inline(j, NULL);
        json_string(j, "key", s->metadata[i].key);
        json_string(j, "value", s->metadata[i].value);
        json_end_object(j);
    }
    json_end_array(j);
    json_array(j, "entries");
    for (size_t i = 0; i < s->n_entries; i++) {
        json_object_inline(j, NULL);
        json_string(j, "name", s->entries[i].name);
        json_uint(j, "offset", s->entries[i].offset);
        json_uint(j, "size", s->entries[i].size);
        json_uint(j, "crc", s->entries[i].crc);
        json_bool(j, "compressed", s->entries[i].compressed);
        json_end_object(j);
    }
    json_end_array(j);
}

static void begin_report(struct json_out *j, const odlc_container *container)
{
    json_object(j, NULL);
    json_string(j, "schema", "opendlc.dlc-info");
    json_int(j, "schema_version", INFO_SCHEMA_VERSION);
    write_summary(j, odlc_container_summary(container));
}

void info_print_outline_json(FILE *stream, const odlc_container *container)
{
    struct json_out j = json_out_to(stream, false);
    begin_report(&j, container);
    json_array(&j, "graphs");
    json_end_array(&j);
    json_end_object(&j);
}

void info_print_json(FILE *stream, const odlc_container *container, const struct info_options *options)
{
    struct json_out j = json_out_to(stream, false);
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    begin_report(&j, container);
    json_array(&j, "graphs");
    for (size_t i = 0; i < n_graphs; i++)
        write_graph(&j, &graphs[i], options);
    json_end_array(&j);
    json_end_object(&j);
}
