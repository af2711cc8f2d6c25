/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/config.h"

#include <string.h>

#include "udo/param_value.h"

static enum dtype read_type(const struct config *c, const struct json_value *item)
{
    int word = config_word(c, item, config_types, config_n_types, "data type");
    return word < 0 ? DT_NONE : dtype_from_udo(config_types[word]);
}

static void read_per_core(const struct config *c, const struct json_value *table, struct udo_tensor *out)
{
    if (!json_is(table, JSON_OBJECT) || !json_child(table)) {
        (void)json_error(c->json, table, "the form is {\"CPU\": \"FLOAT_32\", \"DSP\": \"UINT_8\"}", "udo-wrong-type",
                         "'%s' must be an object with a type per core", table->key);
        return;
    }
    out->per_core = true;
    for (const struct json_value *entry = json_child(table); entry; entry = entry->next) {
        int core = config_core(c, entry, true);
        enum dtype dtype = read_type(c, entry);
        if (core < 0)
            continue;
        out->core_dtypes[core] = dtype;
        if (core == UDO_CPU || out->dtype == DT_NONE)
            out->dtype = out->core_dtypes[core];
    }
}

static void read_types(const struct config *c, const struct json_value *tensor, struct udo_tensor *out)
{
    const struct json_value *one = json_member(tensor, "data_type");
    const struct json_value *table = json_member(tensor, "per_core_data_types");
    const struct json_value *other = json_member(tensor, "per_core_data_type");
    if (table && other) {
        (void)json_key_error(c->json, other, NULL, "udo-two-types", "'%s' and '%s' at once", table->key, other->key);
        json_note(c->json, table, "udo-first", "the other table is here");
    }
    const struct json_value *first = table ? table : other;
    if (one && first) {
        (void)json_key_error(c->json, first, "give one type for all cores, or a type per core", "udo-two-types",
                             "'data_type' and '%s' at once", first->key);
        json_note(c->json, one, "udo-first", "the other type is here");
    }
    if (one)
        out->dtype = read_type(c, one);
    if (table)
        read_per_core(c, table, out);
    if (other)
        read_per_core(c, other, out);
}

static void read_default(const struct config *c, const struct json_value *tensor, enum config_object role,
                         struct udo_tensor *out)
{
    const struct json_value *item = json_member(tensor, "default_value");
    if (!item)
        return;
    if (role == CONFIG_OUTPUT)
        (void)json_key_error(c->json, item, NULL, "udo-output-default", "an output cannot have a default");
    else
        out->default_value = config_read_value(c, item, out->dtype, true);
}

/* Inputs and outputs count by position: their names may be absent, or empty as in the guide's template. */
static const char *read_name(const struct config *c, const struct json_value *tensor, enum config_object role)
{
    const struct json_value *name = json_member(tensor, "name");
    bool empty = json_is(name, JSON_STRING) && !*name->string;
    return empty && role != CONFIG_PARAM ? NULL : config_string(c, tensor, "name", role == CONFIG_PARAM);
}

void config_read_tensor(const struct config *c, const struct json_value *item, enum config_object role,
                        uint32_t n_inputs, struct udo_tensor *out)
{
    static const char *const roles[] = {"an input", "an output", "a tensor param"};
    *out = (struct udo_tensor){.place = config_place(c, item)};
    if (!config_is_object(c, item, roles[role]))
        return;
    config_check_keys(c, item, role);
    out->name = read_name(c, item, role);
    read_types(c, item, out);
    out->is_static = config_bool(c, item, "static");
    if (role == CONFIG_OUTPUT && out->is_static)
        (void)json_key_error(c->json, json_member(item, "static"), NULL, "udo-static-output",
                             "an output cannot be static");
    const struct json_value *layout = json_member(item, "tensor_layout");
    int word = layout ? config_word(c, layout, config_layouts, CONFIG_LAYOUTS, "tensor layout") : -1;
    out->layout = word < 0 ? UDO_LAYOUT_NONE : word == 0 ? UDO_LAYOUT_NHWC : UDO_LAYOUT_NCHW;
    const struct json_value *mode = json_member(item, "quantization_mode");
    word = mode ? config_word(c, mode, config_modes, CONFIG_MODES, "quantization mode") : -1;
    out->quantization_mode = word < 0 ? NULL : config_modes[word];
    out->repeated = role != CONFIG_PARAM && config_bool(c, item, "repeated");
    out->optional = role != CONFIG_PARAM && config_bool(c, item, "optional");
    read_default(c, item, role, out);
    const struct json_value *shape = json_member(item, "shape");
    if (role == CONFIG_OUTPUT && shape)
        config_read_shape(c, shape, n_inputs, out);
}

void config_read_scalar(const struct config *c, const struct json_value *item, struct udo_scalar *out)
{
    *out = (struct udo_scalar){.place = config_place(c, item)};
    if (!config_is_object(c, item, "a scalar param"))
        return;
    config_check_keys(c, item, CONFIG_SCALAR);
    out->name = config_string(c, item, "name", true);
    const struct json_value *type = json_member(item, "data_type");
    if (type)
        out->dtype = read_type(c, type);
    else
        (void)json_error(c->json, item, NULL, "udo-missing-key", "'data_type' is missing");
    const struct json_value *value = json_member(item, "default_value");
    if (value)
        out->default_value = config_read_value(c, value, out->dtype, false);
}
