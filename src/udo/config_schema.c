/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of configs, from the tables that the reader uses. */
#include "text/json_out.h"
#include "udo/config_keys.h"
#include "udo/expr.h"
#include "udo/udo.h"
#include "udo/udo_cores.h"

static const char *const definitions[] = {
    [CONFIG_INPUT] = "#/definitions/input",        [CONFIG_OUTPUT] = "#/definitions/output",
    [CONFIG_PARAM] = "#/definitions/tensor_param", [CONFIG_SCALAR] = "#/definitions/scalar_param",
    [CONFIG_OPERATOR] = "#/definitions/operator",  [CONFIG_PACKAGE] = "#/definitions/package",
};
static const char ref_type[] = "#/definitions/type", ref_value[] = "#/definitions/value",
                  ref_one_value[] = "#/definitions/one_value";

static void write_words(struct json_out *j, const char *const *words, size_t count)
{
    json_array_inline(j, "enum");
    for (size_t i = 0; i < count; i++)
        json_string(j, NULL, words[i]);
    json_end_array(j);
}

static void write_reference(struct json_out *j, const char *key, const char *definition)
{
    json_object_inline(j, key);
    json_string(j, "$ref", definition);
    json_end_object(j);
}

/* most 0: any number */
static void write_list(struct json_out *j, const char *items, uint64_t least, uint64_t most)
{
    json_string(j, "type", "array");
    write_reference(j, "items", items);
    if (least)
        json_uint(j, "minItems", least);
    if (most)
        json_uint(j, "maxItems", most);
}

static void write_word_list(struct json_out *j, const char *const *words, size_t count)
{
    json_string(j, "type", "array");
    json_object(j, "items");
    write_words(j, words, count);
    json_end_object(j);
    json_uint(j, "maxItems", UDO_MAX_OPERANDS);
}

static void write_core_types(struct json_out *j)
{
    json_string(j, "type", "object");
    json_object(j, "properties");
    for (int core = 0; core < UDO_CORES; core++)
        write_reference(j, udo_core_names[core], ref_type);
    json_end_object(j);
    json_bool(j, "additionalProperties", false);
    json_uint(j, "minProperties", 1);
}

static void write_dimension(struct json_out *j)
{
    json_array(j, "anyOf");
    json_object_inline(j, NULL);
    json_string(j, "type", "integer");
    json_uint(j, "minimum", 0);
    json_end_object(j);
    json_object_inline(j, NULL);
    json_string(j, "type", "string");
    json_uint(j, "minLength", 1);
    json_uint(j, "maxLength", EXPR_MAX_LENGTH);
    json_end_object(j);
    json_end_array(j);
}

static void write_shape(struct json_out *j)
{
    json_array(j, "anyOf");
    json_object_inline(j, NULL);
    json_string(j, "type", "string");
    json_string(j, "pattern", "^same_as in[0-9]+$");
    json_end_object(j);
    json_object(j, NULL);
    json_string(j, "type", "array");
    json_object(j, "items");
    write_dimension(j);
    json_end_object(j);
    json_uint(j, "maxItems", MAX_RANK);
    json_end_object(j);
    json_end_array(j);
}

/* What stands at a key, but for lists of objects. */
static void write_word_form(struct json_out *j, enum config_form form)
{
    if (form == FORM_NAME || form == FORM_TEXT)
        json_string(j, "type", "string");
    if (form == FORM_NAME)
        json_uint(j, "minLength", 1);
    if (form == FORM_FLAG)
        json_string(j, "type", "boolean");
    if (form == FORM_UNSET)
        json_bool(j, "const", false);
    if (form == FORM_TYPE)
        write_words(j, config_types, config_n_types);
    if (form == FORM_LAYOUT)
        write_words(j, config_layouts, CONFIG_LAYOUTS);
    if (form == FORM_MODE)
        write_words(j, config_modes, CONFIG_MODES);
    if (form == FORM_NOTHING)
        write_reference(j, "not", "#/definitions/anything");
}

static void write_form(struct json_out *j, enum config_form form)
{
    switch (form) {
    case FORM_TYPES:
        write_core_types(j);
        break;
    case FORM_SHAPE:
        write_shape(j);
        break;
    case FORM_CORES:
        write_word_list(j, udo_core_names, UDO_CORES);
        break;
    case FORM_ARCHS:
        write_word_list(j, udo_archs, udo_n_archs);
        break;
    case FORM_OPERATORS:
        write_list(j, definitions[CONFIG_OPERATOR], 0, UDO_MAX_DEFINITIONS);
        break;
    case FORM_INPUTS:
        write_list(j, definitions[CONFIG_INPUT], 1, UDO_MAX_OPERANDS);
        break;
    case FORM_OUTPUTS:
        write_list(j, definitions[CONFIG_OUTPUT], 1, UDO_MAX_OPERANDS);
        break;
    case FORM_PARAMS:
        write_list(j, definitions[CONFIG_PARAM], 0, UDO_MAX_PARAMS);
        break;
    case FORM_SCALARS:
        write_list(j, definitions[CONFIG_SCALAR], 0, UDO_MAX_PARAMS);
        break;
    case FORM_VALUE:
    case FORM_ONE_VALUE:
        json_array(j, "allOf"); /* beside "$ref" a description would count for nothing */
        write_reference(j, NULL, form == FORM_VALUE ? ref_value : ref_one_value);
        json_end_array(j);
        break;
    default:
        write_word_form(j, form);
    }
}

static void write_pair(struct json_out *j, const char *first, const char *second)
{
    json_object_inline(j, NULL);
    json_array(j, "required");
    json_string(j, NULL, first);
    json_string(j, NULL, second);
    json_end_array(j);
    json_end_object(j);
}

/* One way to give a tensor's type. */
static void write_exclusion(struct json_out *j)
{
    json_object(j, "not");
    json_array(j, "anyOf");
    write_pair(j, "data_type", "per_core_data_types");
    write_pair(j, "data_type", "per_core_data_type");
    write_pair(j, "per_core_data_types", "per_core_data_type");
    json_end_array(j);
    json_end_object(j);
}

static void write_object(struct json_out *j, enum config_object object)
{
    json_object(j, definitions[object] + sizeof "#/definitions/" - 1);
    json_string(j, "type", "object");
    json_array_inline(j, "required");
    for (size_t i = 0; i < config_n_keys; i++)
        if (config_keys[i].object == object && config_keys[i].required)
            json_string(j, NULL, config_keys[i].name);
    json_end_array(j);
    json_object(j, "properties");
    for (size_t i = 0; i < config_n_keys; i++) {
        if (config_keys[i].object != object)
            continue;
        json_object(j, config_keys[i].name);
        json_string(j, "description", config_keys[i].text);
        write_form(j, config_keys[i].form);
        json_end_object(j);
    }
    json_end_object(j);
    if (object == CONFIG_INPUT || object == CONFIG_OUTPUT || object == CONFIG_PARAM)
        write_exclusion(j);
    json_end_object(j);
}

/* A number, a truth value, a string, or lists of values of the same kind. */
static void write_values(struct json_out *j, const char *reference, bool one)
{
    static const char *const kinds[] = {"number", "boolean", "string"};
    json_object(j, reference + sizeof "#/definitions/" - 1);
    json_array(j, "anyOf");
    json_object(j, NULL);
    json_array_inline(j, "type");
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        json_string(j, NULL, kinds[i]);
    json_end_array(j);
    json_end_object(j);
    json_object(j, NULL);
    if (one)
        write_list(j, reference, 1, 1);
    else
        write_list(j, reference, 0, 0);
    json_end_object(j);
    json_end_array(j);
    json_end_object(j);
}

void config_write_schema(FILE *stream)
{
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    json_string(&j, "title", "Description of user-defined ops (UDO config)");
    json_string(&j, "type", "object");
    json_uint(&j, "minProperties", 1);
    write_reference(&j, "additionalProperties", definitions[CONFIG_PACKAGE]);
    json_object(&j, "definitions");
    for (size_t i = COUNT_OF(definitions); i-- > 0;)
        write_object(&j, (enum config_object)i);
    json_object(&j, ref_type + sizeof "#/definitions/" - 1);
    write_words(&j, config_types, config_n_types);
    json_end_object(&j);
    write_values(&j, ref_value, false);
    write_values(&j, ref_one_value, true);
    json_object_inline(&j, "anything");
    json_end_object(&j);
    json_end_object(&j);
    json_end_object(&j);
}
