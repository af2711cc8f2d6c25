/* SPDX-License-Identifier: Apache-2.0 */
/* What a node's operands and params came to, for those who ask (udo-check). */
#include <string.h>

#include "udo/param_value.h"
#include "udo/site.h"

#define SHOWN_ELEMENTS 8

void report_begin(struct site_build *s)
{
    struct arena *arena = s->set->arena;
    s->report = arena_new(arena, struct odlc_udo_report);
    *s->report = (struct odlc_udo_report){.node = arena_strdup(arena, s->site->label),
                                          .op_type = s->def->type,
                                          .domain = s->site->domain ? s->site->domain : "",
                                          .package = s->def->package,
                                          .file = s->def->place.file,
                                          .line = s->def->place.line,
                                          .column = s->def->place.column};
}

void report_end(struct site_build *s)
{
    s->report->failed = s->errors > 0;
    for (size_t i = 0; i < s->report->n_inputs; i++) /* such nodes have their error later, in udo_finish */
        s->report->failed |= s->inputs[i].origin == ODLC_UDO_NOT_STATIC;
    vec_push(s->set->arena, &s->set->reports, *s->report);
}

static const char *layout_name(enum udo_layout layout)
{
    static const char *const names[] = {[UDO_LAYOUT_NHWC] = "NHWC", [UDO_LAYOUT_NCHW] = "NCHW"};
    return layout == UDO_LAYOUT_NONE ? NULL : names[layout];
}

static struct odlc_udo_value *describe(struct site_build *s, const struct udo_tensor *tensors, uint32_t count,
                                       uint32_t total)
{
    struct odlc_udo_value *values = arena_array(s->set->arena, struct odlc_udo_value, total);
    for (uint32_t i = 0; i < total; i++) {
        const struct udo_tensor *t = operand_of(tensors, count, total, i);
        values[i] = (struct odlc_udo_value){.is_tensor = 1};
        if (t) {
            values[i].name = t->name;
            values[i].layout = layout_name(t->layout);
        }
    }
    return values;
}

void report_inputs(struct site_build *s, uint32_t total)
{
    s->report->inputs = s->inputs = describe(s, s->def->inputs, s->def->n_inputs, total);
    s->report->n_inputs = total;
}

void report_outputs(struct site_build *s, uint32_t total)
{
    s->report->outputs = s->outputs = describe(s, s->def->outputs, s->def->n_outputs, total);
    s->report->n_outputs = total;
    for (uint32_t j = 0; j < total && j < s->site->n_out; j++)
        s->outputs[j].tensor = *s->site->out_names[j] ? s->site->out_names[j] : NULL;
}

void report_params(struct site_build *s)
{
    const struct udo_def *def = s->def;
    uint32_t total = def->n_scalar_params + def->n_tensor_params;
    struct odlc_udo_value *p = arena_array(s->set->arena, struct odlc_udo_value, total);
    s->report->params = s->params = p;
    s->report->n_params = total;
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        *p++ = (struct odlc_udo_value){.name = def->scalar_params[i].name};
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *t = &def->tensor_params[i];
        *p++ = (struct odlc_udo_value){.name = t->name, .layout = layout_name(t->layout), .is_tensor = 1};
    }
}

void report_type(struct odlc_udo_value *value, enum dtype dtype, const struct shape *shape)
{
    value->data_type = udo_type_name(dtype);
    value->rank = shape->rank;
    for (uint32_t i = 0; i < shape->rank; i++)
        value->dims[i] = shape->dims[i];
}

static void report_tensor(struct site_build *s, struct odlc_udo_value *value, tensor_id id)
{
    const struct tensor *t = graph_tensor(s->b->graph, id);
    value->tensor = t->name;
    report_type(value, t->type->dtype, &t->type->shape);
}

void report_native(struct site_build *s, const struct node *n)
{
    report_inputs(s, n->n_inputs);
    report_outputs(s, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        s->inputs[i].origin = ODLC_UDO_ABSENT;
        if (n->inputs[i] == NO_TENSOR)
            continue;
        bool is_static = graph_tensor(s->b->graph, n->inputs[i])->kind == TENSOR_STATIC;
        s->inputs[i].origin = is_static ? ODLC_UDO_STATIC : ODLC_UDO_DYNAMIC;
        report_tensor(s, &s->inputs[i], n->inputs[i]);
    }
    for (uint32_t j = 0; j < n->n_outputs; j++) {
        s->outputs[j].origin = ODLC_UDO_NATIVE;
        if (n->outputs[j] != NO_TENSOR)
            report_tensor(s, &s->outputs[j], n->outputs[j]);
    }
}

/* Element k of a tensor param, or the scalar. */
static void add_element(struct arena *arena, text *t, const struct param *p, uint64_t k)
{
    if (p->dtype == DT_STRING)
        text_add(arena, t, "%s", p->is_tensor ? p->strings[k] : p->s);
    else if (dtype_is_float(p->dtype))
        text_add(arena, t, "%.9g", p->is_tensor ? p->floats[k] : p->f);
    else
        text_add(arena, t, "%lld", (long long)(p->is_tensor ? p->ints[k] : p->i));
}

static const char *elements_text(struct arena *arena, const struct param *param)
{
    uint64_t count = param->is_tensor ? shape_count(&param->shape) : 1;
    text t = {0};
    text_add(arena, &t, "%s", param->is_tensor ? "[" : "");
    for (uint64_t k = 0; k < count && k < SHOWN_ELEMENTS; k++) {
        text_add(arena, &t, "%s", k ? ", " : "");
        add_element(arena, &t, param, k);
    }
    text_add(arena, &t, "%s%s", count > SHOWN_ELEMENTS ? ", ..." : "", param->is_tensor ? "]" : "");
    return t.data;
}

/* Nodes of one type have the same few numbers. */
static const char *number_text(struct udo_set *set, const struct param *param)
{
    const bool real = dtype_is_float(param->dtype);
    uint64_t bits;
    memcpy(&bits, real ? (const void *)&param->f : &param->i, sizeof bits);
    struct told_number *told = &set->told[bits * 0x9E3779B97F4A7C15u >> 60];
    if (!told->text || told->bits != bits || told->real != real)
        *told = (struct told_number){elements_text(set->arena, param), bits, real};
    return told->text;
}

void report_param(struct site_build *s, struct odlc_udo_value *value, enum odlc_udo_origin origin,
                  const struct param *param)
{
    static const struct shape scalar;
    const bool number = !param->is_tensor && param->dtype != DT_STRING;
    report_type(value, param->dtype, param->is_tensor ? &param->shape : &scalar);
    value->origin = origin;
    value->text = number ? number_text(s->set, param) : elements_text(s->set->arena, param);
}
