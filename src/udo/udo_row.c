/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/udo_row.h"

#include <string.h>

#include "op/op.h"
#include "udo/param_value.h"
#include "udo/site.h"
#include "udo/udo_cores.h"

/* ---- what the node carries for inspection ---- */

static void add_separator(struct arena *arena, text *t, const char *separator)
{
    if (t->count)
        text_add(arena, t, "%s", separator);
}

static const char *core_text(struct arena *arena, const struct udo_def *def)
{
    text t = {0};
    for (int core = 0; core < UDO_CORES; core++) {
        if (!(def->cores & 1u << core))
            continue;
        add_separator(arena, &t, ",");
        text_add(arena, &t, "%s", udo_core_names[core]);
    }
    return t.data;
}

static const char *arch_text(struct arena *arena, const struct udo_def *def)
{
    text t = {0};
    for (uint32_t i = 0; i < def->n_dsp_arch_types; i++) {
        add_separator(arena, &t, ",");
        text_add(arena, &t, "%s", def->dsp_arch_types[i]);
    }
    return t.data;
}

/* "in0: CPU=FLOAT_32,DSP=UINT_8" */
static void add_core_types(struct arena *arena, text *t, const char *label, const enum dtype core_dtypes[UDO_CORES])
{
    add_separator(arena, t, "; ");
    text_add(arena, t, "%s: ", label);
    const char *separator = "";
    for (int core = 0; core < UDO_CORES; core++) {
        if (core_dtypes[core] == DT_NONE)
            continue;
        text_add(arena, t, "%s%s=%s", separator, udo_core_names[core], udo_type_name(core_dtypes[core]));
        separator = ",";
    }
}

static const char *type_text(struct arena *arena, const struct udo_def *def)
{
    text t = {0};
    for (uint32_t i = 0; i < def->n_inputs; i++)
        if (def->inputs[i].per_core)
            add_core_types(arena, &t, arena_printf(arena, "in%u", i), def->inputs[i].core_dtypes);
    for (uint32_t i = 0; i < def->n_outputs; i++)
        if (def->outputs[i].per_core)
            add_core_types(arena, &t, arena_printf(arena, "out%u", i), def->outputs[i].core_dtypes);
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        if (def->scalar_params[i].per_core)
            add_core_types(arena, &t, arena_printf(arena, "param %s", def->scalar_params[i].name),
                           def->scalar_params[i].core_dtypes);
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        if (def->tensor_params[i].per_core)
            add_core_types(arena, &t, arena_printf(arena, "param %s", def->tensor_params[i].name),
                           def->tensor_params[i].core_dtypes);
    return t.data;
}

static void add_name(struct arena *arena, text *t, const char *name)
{
    add_separator(arena, t, ",");
    for (const char *c = name; *c; c++)
        text_add(arena, t, "%s%c", *c == ',' || *c == '\\' ? "\\" : "", *c);
}

/* The names of all params as they stand in the config, which containers sort: plugins get params by their places. */
static const char *order_text(struct arena *arena, const struct udo_def *def)
{
    text t = {0};
    uint32_t scalar = 0, tensor = 0;
    while (def->use_qhpi && (scalar < def->n_scalar_params || tensor < def->n_tensor_params)) {
        const struct udo_scalar *s = scalar < def->n_scalar_params ? &def->scalar_params[scalar] : NULL;
        const struct udo_tensor *p = tensor < def->n_tensor_params ? &def->tensor_params[tensor] : NULL;
        const bool is_scalar = s && (!p || udo_stands_before(&s->place, &p->place));
        add_name(arena, &t, is_scalar ? s->name : p->name);
        scalar += is_scalar;
        tensor += !is_scalar;
    }
    return t.data;
}

bool udo_name_is_reserved(const char *name)
{
    static const char *const reserved[] = {"packageName",  UDO_PARAM_CORES,    UDO_PARAM_ARCHS, UDO_PARAM_TYPES,
                                           UDO_PARAM_QHPI, UDO_PARAM_DECLARED, UDO_PARAM_ORDER};
    for (size_t i = 0; i < COUNT_OF(reserved); i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return false;
}

static void make_supplemental(struct arena *arena, struct udo_def *def)
{
    const char *const names[] = {UDO_PARAM_CORES, UDO_PARAM_ARCHS, UDO_PARAM_TYPES, UDO_PARAM_QHPI, UDO_PARAM_ORDER};
    const char *const values[COUNT_OF(names)] = {core_text(arena, def), arch_text(arena, def), type_text(arena, def),
                                                 def->use_qhpi ? "true" : NULL, order_text(arena, def)};
    struct param *params = arena_array(arena, struct param, COUNT_OF(names));
    def->n_supplemental = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (values[i])
            params[def->n_supplemental++] =
                (struct param){.set = true, .usage = 2, .name = names[i], .dtype = DT_STRING, .s = values[i]};
    def->supplemental = params;
}

/* ---- the row ---- */

static const struct param_def *row_params(struct arena *arena, const struct udo_def *def, uint32_t *count)
{
    *count = def->n_scalar_params + def->n_tensor_params + def->n_supplemental + 1;
    struct param_def *params = arena_array(arena, struct param_def, *count), *p = params;
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        *p++ = (struct param_def){.name = def->scalar_params[i].name,
                                  .dtype = dtype_narrowed(def->scalar_params[i].dtype),
                                  .presence = PARAM_OPTIONAL};
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        *p++ = (struct param_def){.name = def->tensor_params[i].name,
                                  .dtype = dtype_narrowed(def->tensor_params[i].dtype),
                                  .presence = PARAM_OPTIONAL,
                                  .is_tensor = true};
    for (uint32_t i = 0; i < def->n_supplemental; i++)
        *p++ = (struct param_def){
            .name = def->supplemental[i].name, .dtype = DT_STRING, .presence = PARAM_OPTIONAL, .supplemental = true};
    *p = (struct param_def){
        .name = UDO_PARAM_DECLARED, .dtype = DT_STRING, .presence = PARAM_OPTIONAL, .supplemental = true};
    return params;
}

/* The least count of inputs that a node may have: up to the last one that must be there. */
static uint8_t least_inputs(const struct udo_def *def)
{
    uint32_t count = def->n_inputs;
    while (count > 0 && def->inputs[count - 1].optional)
        count--;
    return (uint8_t)count;
}

uint32_t least_outputs(const struct udo_def *def)
{
    uint32_t count = def->n_outputs;
    while (count > 1 && def->outputs[count - 1].optional)
        count--;
    return count;
}

static uint8_t most(const struct udo_tensor *tensors, uint32_t count)
{
    return repeated_of(tensors, count) < count ? VARIADIC : (uint8_t)count;
}

void udo_add_row(struct op_registry *registry, struct arena *arena, struct udo_def *def)
{
    make_supplemental(arena, def);
    struct op row = {
        .name = def->type,
        .dlc_type = def->type,
        .min_inputs = least_inputs(def),
        .max_inputs = most(def->inputs, def->n_inputs),
        .min_outputs = (uint8_t)least_outputs(def),
        .max_outputs = most(def->outputs, def->n_outputs),
        .package = def->package,
        .udo = def,
    };
    row.params = row_params(arena, def, &row.n_params);
    def->row = op_registry_add(registry, &row);
}
