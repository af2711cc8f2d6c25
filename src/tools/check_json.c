/* SPDX-License-Identifier: Apache-2.0 */
/* udo-check's report as JSON: docs/udo-check-json.md. */
#include "tools/check.h"
#include "text/json_out.h"

static void write_operands(struct json_out *j, const char *key, const struct odlc_udo_operand *list, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        json_object_inline(j, NULL);
        json_string(j, "name", list[i].name);
        json_string(j, "data_type", list[i].data_type);
        json_string(j, "layout", list[i].layout);
        json_bool(j, "static", list[i].is_static);
        json_bool(j, "optional", list[i].is_optional);
        json_bool(j, "repeated", list[i].is_repeated);
        json_bool(j, "default", list[i].has_default);
        json_bool(j, "shape_rule", list[i].has_shape);
        json_end_object(j);
    }
    json_end_array(j);
}

static const char *origin_name(enum odlc_udo_origin origin)
{
    static const char *const names[] = {[ODLC_UDO_FAILED] = "failed",         [ODLC_UDO_DYNAMIC] = "dynamic",
                                        [ODLC_UDO_STATIC] = "static",         [ODLC_UDO_PROMOTED] = "promoted",
                                        [ODLC_UDO_NOT_STATIC] = "not_static", [ODLC_UDO_DEFAULT] = "default",
                                        [ODLC_UDO_ABSENT] = "absent",         [ODLC_UDO_ATTRIBUTE] = "attribute",
                                        [ODLC_UDO_SCHEMA] = "schema",         [ODLC_UDO_RULE] = "rule",
                                        [ODLC_UDO_DECLARED] = "declared",     [ODLC_UDO_NATIVE] = "native",
                                        [ODLC_UDO_LIKE_INPUT] = "like_input", [ODLC_UDO_LIBRARY] = "library"};
    return names[origin];
}

static void write_value(struct json_out *j, const struct odlc_udo_value *v, bool is_param)
{
    json_object_inline(j, NULL);
    json_string(j, "name", v->name);
    json_string(j, "origin", origin_name(v->origin));
    json_string(j, "data_type", v->data_type);
    if (v->data_type && v->is_tensor) {
        json_array_inline(j, "dims");
        for (uint32_t i = 0; i < v->rank; i++)
            json_int(j, NULL, v->dims[i]);
        json_end_array(j);
    } else {
        json_string(j, "dims", NULL);
    }
    json_string(j, "layout", v->layout);
    if (is_param) {
        json_string(j, "value", v->text);
    } else {
        json_string(j, "tensor", v->tensor);
        json_bool(j, "permuted", v->permuted);
    }
    json_end_object(j);
}

static void write_values(struct json_out *j, const char *key, const struct odlc_udo_value *list, size_t count,
                         bool are_params)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        write_value(j, &list[i], are_params);
    json_end_array(j);
}

static void write_permutes(struct json_out *j, const struct odlc_udo_report *r)
{
    json_array(j, "permutes");
    for (size_t i = 0; i < r->n_permutes; i++) {
        const struct odlc_udo_permute *p = &r->permutes[i];
        json_object_inline(j, NULL);
        json_string(j, "tensor", p->tensor);
        json_string(j, "from", p->from);
        json_string(j, "to", p->to);
        json_string(j, "where", p->after ? "after" : "before");
        json_string(j, "reason", p->reason);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_node(struct json_out *j, const struct check_node *node)
{
    const struct odlc_udo_report *r = node->report;
    json_object(j, NULL);
    json_string(j, "node", node->name);
    json_string(j, "status", !r ? "not_looked_at" : r->failed ? "failed" : "ok");
    if (r) {
        json_string(j, "domain", r->domain);
        write_values(j, "inputs", r->inputs, r->n_inputs, false);
        write_values(j, "outputs", r->outputs, r->n_outputs, false);
        write_values(j, "params", r->params, r->n_params, true);
        write_permutes(j, r);
    }
    json_end_object(j);
}

static void write_definition(struct json_out *j, const struct check_report *r, size_t i)
{
    const struct odlc_udo_definition *d = &r->definitions[i];
    json_object(j, NULL);
    json_string(j, "type", d->type);
    json_string(j, "package", d->package);
    json_string(j, "domain", d->domain);
    json_bool(j, "replaces_native", d->replaces_native);
    json_string(j, "file", d->file);
    json_uint(j, "line", d->line);
    json_uint(j, "column", d->column);
    json_string(j, "core_types", d->core_types);
    json_string(j, "dsp_arch_types", d->dsp_arch_types);
    write_operands(j, "inputs", d->inputs, d->n_inputs);
    write_operands(j, "outputs", d->outputs, d->n_outputs);
    write_operands(j, "scalar_params", d->scalar_params, d->n_scalar_params);
    write_operands(j, "tensor_params", d->tensor_params, d->n_tensor_params);
    json_array(j, "nodes");
    for (size_t k = 0; k < r->nodes[i].count; k++)
        write_node(j, &r->nodes[i].data[k]);
    json_end_array(j);
    json_end_object(j);
}

static void write_model(struct json_out *j, const struct check_report *r)
{
    if (!r->model) {
        json_string(j, "model", NULL);
        return;
    }
    size_t count = 0, of[3] = {0};
    const struct odlc_op_report *ops = r->conversion ? odlc_conversion_ops(r->conversion, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        of[ops[i].status]++;
    json_object(j, "model");
    json_string(j, "file", r->model);
    json_bool(j, "looked_at", r->looked_at);
    json_bool(j, "converts", r->convertible);
    json_uint(j, "native", of[ODLC_OP_NATIVE]);
    json_uint(j, "udo", of[ODLC_OP_UDO]);
    json_uint(j, "unsupported", of[ODLC_OP_UNSUPPORTED]);
    json_end_object(j);
}

void check_print_json(FILE *stream, const struct check_report *r)
{
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.udo-check");
    json_uint(&j, "schema_version", 1);
    json_array(&j, "files");
    for (size_t i = 0; i < r->n_files; i++)
        json_string(&j, NULL, r->files[i]);
    json_end_array(&j);
    json_uint(&j, "errors", r->errors);
    json_uint(&j, "warnings", r->warnings);
    write_model(&j, r);
    json_array(&j, "definitions");
    for (size_t i = 0; i < r->n_definitions; i++)
        write_definition(&j, r, i);
    json_end_array(&j);
    check_write_trials(&j, r->tried);
    json_end_object(&j);
}
