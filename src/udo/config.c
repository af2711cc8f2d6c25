/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/config.h"

#include <string.h>

#include "udo/udo_cores.h"

struct udo_place config_place(const struct config *c, const struct json_value *item)
{
    struct udo_place place = {
        .file = c->json->source.path, .pointer = json_pointer(c->json, item), .source = &c->json->source};
    source_line_column(&c->json->source, item->begin, &place.line, &place.column);
    return place;
}

bool config_is_object(const struct config *c, const struct json_value *item, const char *what)
{
    if (json_is(item, JSON_OBJECT))
        return true;
    (void)json_error(c->json, item, NULL, "udo-wrong-type", "%s must be an object", what);
    return false;
}

void config_check_keys(const struct config *c, const struct json_value *item, enum config_object object)
{
    size_t count = 0;
    const char **known = arena_array(c->arena, const char *, config_n_keys);
    for (size_t i = 0; i < config_n_keys; i++)
        if (config_keys[i].object == object)
            known[count++] = config_keys[i].name;
    for (const struct json_value *m = json_child(item); m; m = m->next) {
        size_t i = 0;
        while (i < count && strcmp(m->key, known[i]) != 0)
            i++;
        if (i < count)
            continue;
        bool shown = source_shows_warnings(&c->json->source);
        const char *nearest = shown ? nearest_word(m->key, known, count) : NULL;
        json_key_warn(c->json, m, nearest ? arena_printf(c->arena, "did you mean '%s'?", nearest) : NULL,
                      "udo-unknown-key", "unknown key '%s' is ignored", m->key);
    }
}

const char *config_string(const struct config *c, const struct json_value *object, const char *key, bool required)
{
    const struct json_value *item = json_member(object, key);
    if (!item) {
        if (required)
            (void)json_error(c->json, object, NULL, "udo-missing-key", "'%s' is missing", key);
        return NULL;
    }
    if (json_is(item, JSON_STRING) && *item->string)
        return item->string;
    (void)json_error(c->json, item, NULL, "udo-wrong-type", "'%s' must be a non-empty string", key);
    return NULL;
}

bool config_bool(const struct config *c, const struct json_value *object, const char *key)
{
    const struct json_value *item = json_member(object, key);
    if (item && !json_is(item, JSON_BOOL))
        (void)json_error(c->json, item, NULL, "udo-wrong-type", "'%s' must be true or false", key);
    return json_is(item, JSON_BOOL) && item->truth;
}

int config_word(const struct config *c, const struct json_value *item, const char *const *words, size_t count,
                const char *what)
{
    if (!json_is(item, JSON_STRING)) {
        (void)json_error(c->json, item, NULL, "udo-wrong-type", "the %s must be a string", what);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(item->string, words[i]) == 0)
            return (int)i;
    text list = {0};
    for (size_t i = 0; i < count; i++)
        text_add(c->arena, &list, "%s%s", i ? ", " : "", words[i]);
    const char *nearest = nearest_word(item->string, words, count);
    const char *hint = nearest ? arena_printf(c->arena, "did you mean %s? Known are %s", nearest, list.data)
                               : arena_printf(c->arena, "known are %s", list.data);
    (void)json_error(c->json, item, hint, "udo-unknown-word", "unknown %s '%s'", what, item->string);
    return -1;
}

int config_core(const struct config *c, const struct json_value *item, bool is_key)
{
    const char *word = is_key ? item->key : json_is(item, JSON_STRING) ? item->string : "";
    if (!is_key && !udo_is_npu(word))
        return config_word(c, item, udo_core_names, UDO_CORES, "core type");
    for (int core = 0; core < UDO_CORES; core++)
        if (strcmp(word, udo_core_names[core]) == 0)
            return core;
    const char *nearest = nearest_word(word, udo_core_names, UDO_CORES);
    const char *hint = udo_is_npu(word) ? "write DSP: it stands for the whole of the NPU, HTP and HTA included"
                       : nearest        ? arena_printf(c->arena, "did you mean %s? Known are CPU, GPU, DSP", nearest)
                                        : "known are CPU, GPU, DSP";
    (void)(is_key ? json_key_error : json_error)(c->json, item, hint, "udo-unknown-word", "unknown core type '%s'",
                                                 word);
    return -1;
}

/* ---- operators ---- */

/* An array member; NULL when it is absent. Its elements in *count, which is 0 when the member is something else. */
static const struct json_value *array_member(const struct config *c, const struct json_value *object, const char *key,
                                             uint32_t most, uint32_t *count)
{
    const struct json_value *array = json_member(object, key);
    *count = 0;
    if (array && !json_is(array, JSON_ARRAY)) {
        (void)json_error(c->json, array, NULL, "udo-wrong-type", "'%s' must be an array", key);
        return array;
    }
    size_t n = 0;
    for (const struct json_value *child = json_child(array); child; child = child->next)
        n++;
    if (n > most)
        (void)json_error(c->json, array, NULL, "udo-too-many", "more than %u %s", most, key);
    else
        *count = (uint32_t)n;
    return array;
}

static const struct udo_tensor *read_tensors(const struct config *c, const struct json_value *op, const char *key,
                                             enum config_object role, uint32_t n_inputs, uint32_t *count)
{
    uint32_t most = role == CONFIG_PARAM ? (uint32_t)UDO_MAX_PARAMS : UDO_MAX_OPERANDS;
    const struct json_value *array = array_member(c, op, key, most, count);
    struct udo_tensor *tensors = arena_array(c->arena, struct udo_tensor, *count);
    const struct json_value *item = *count ? json_child(array) : NULL;
    bool repeated = false;
    for (uint32_t i = 0; i < *count; i++, item = item->next) {
        config_read_tensor(c, item, role, n_inputs, &tensors[i]);
        if (tensors[i].repeated && repeated)
            (void)json_error(c->json, item, "the node tells how many one of them stands for, not two",
                             "udo-two-repeated", "only one of the %s may be repeated", key);
        repeated = repeated || tensors[i].repeated;
    }
    bool wanted = role != CONFIG_PARAM;
    if (wanted && !array)
        (void)json_error(c->json, op, NULL, "udo-missing-key", "'%s' is missing", key);
    else if (wanted && json_is(array, JSON_ARRAY) && !json_child(array))
        (void)json_error(c->json, array, NULL, "udo-no-operands", "'%s' needs at least one entry", key);
    return tensors;
}

static const struct udo_scalar *read_scalars(const struct config *c, const struct json_value *op, uint32_t *count)
{
    const struct json_value *array = array_member(c, op, "scalar_params", (uint32_t)UDO_MAX_PARAMS, count);
    struct udo_scalar *scalars = arena_array(c->arena, struct udo_scalar, *count);
    const struct json_value *item = *count ? json_child(array) : NULL;
    for (uint32_t i = 0; i < *count; i++, item = item->next)
        config_read_scalar(c, item, &scalars[i]);
    return scalars;
}

static void check_param_name(const struct config *c, struct map *seen, const char *name, const struct json_value *item)
{
    if (!name)
        return;
    if (udo_name_is_reserved(name))
        (void)json_error(c->json, item, NULL, "udo-reserved-name", "the name '%s' is the container's own", name);
    uint32_t first = map_add(seen, name, item->begin);
    if (first == MAP_NONE)
        return;
    (void)json_error(c->json, item, "params are found by their names", "udo-duplicate-param", "second param '%s'",
                     name);
    source_note(&c->json->source, first, "udo-first", "the first is here");
}

static void check_params(const struct config *c, const struct json_value *op, const struct udo_def *def)
{
    struct map seen;
    map_init(&seen, c->arena);
    const struct json_value *item = json_child(json_member(op, "scalar_params"));
    for (uint32_t i = 0; i < def->n_scalar_params; i++, item = item->next)
        check_param_name(c, &seen, def->scalar_params[i].name, item);
    item = json_child(json_member(op, "tensor_params"));
    for (uint32_t i = 0; i < def->n_tensor_params; i++, item = item->next)
        check_param_name(c, &seen, def->tensor_params[i].name, item);
    if (def->n_scalar_params + def->n_tensor_params > UDO_MAX_PARAMS)
        (void)json_error(c->json, op, NULL, "udo-too-many", "more than %zu params", UDO_MAX_PARAMS);
}

static uint32_t read_cores(const struct config *c, const struct json_value *op)
{
    uint32_t count, mask = 0;
    const struct json_value *array = array_member(c, op, "core_types", UDO_MAX_OPERANDS, &count);
    for (const struct json_value *item = count ? json_child(array) : NULL; item; item = item->next) {
        int core = config_core(c, item, false);
        if (core >= 0 && mask & 1u << core)
            json_warn(c->json, item, "remove one", "udo-twice", "second '%s' in core_types", udo_core_names[core]);
        if (core >= 0)
            mask |= 1u << core;
    }
    return mask;
}

static const char *const *read_archs(const struct config *c, const struct json_value *op, uint32_t *count)
{
    const struct json_value *array = array_member(c, op, "dsp_arch_types", UDO_MAX_OPERANDS, count);
    const char **archs = arena_array(c->arena, const char *, *count);
    const struct json_value *item = *count ? json_child(array) : NULL;
    for (uint32_t i = 0; i < *count; i++, item = item->next) {
        int arch = config_word(c, item, udo_archs, udo_n_archs, "DSP architecture");
        archs[i] = arch < 0 ? "" : udo_archs[arch];
        for (uint32_t k = 0; k < i; k++)
            if (arch >= 0 && strcmp(archs[k], archs[i]) == 0) {
                json_warn(c->json, item, "remove one", "udo-twice", "second '%s' in dsp_arch_types", archs[i]);
                break;
            }
    }
    return archs;
}

static const char *read_domain(const struct config *c, const struct json_value *op)
{
    const struct json_value *item = json_member(op, "domain");
    if (!item)
        return NULL;
    if (!json_is(item, JSON_STRING)) {
        (void)json_error(c->json, item, NULL, "udo-wrong-type", "'domain' must be a string");
        return NULL;
    }
    return strcmp(item->string, "ai.onnx") == 0 ? "" : item->string;
}

static void read_operator(const struct config *c, const struct json_value *op, const char *package)
{
    size_t errors = c->json->source.errors;
    if (!config_is_object(c, op, "an operator"))
        return;
    config_check_keys(c, op, CONFIG_OPERATOR);
    struct udo_def *def = arena_new(c->arena, struct udo_def);
    def->place = config_place(c, op);
    def->package = package;
    def->type = config_string(c, op, "type", true);
    def->domain = read_domain(c, op);
    def->inputs = read_tensors(c, op, "inputs", CONFIG_INPUT, 0, &def->n_inputs);
    def->outputs = read_tensors(c, op, "outputs", CONFIG_OUTPUT, def->n_inputs, &def->n_outputs);
    def->scalar_params = read_scalars(c, op, &def->n_scalar_params);
    def->tensor_params = read_tensors(c, op, "tensor_params", CONFIG_PARAM, 0, &def->n_tensor_params);
    def->cores = read_cores(c, op);
    def->dsp_arch_types = read_archs(c, op, &def->n_dsp_arch_types);
    check_params(c, op, def);
    if (c->json->source.errors != errors || !package)
        return;
    udo_advise(c->set, &c->json->source, def, def->cores & 1u << UDO_DSP);
    if (udo_add(c->set, def) != ODLC_OK)
        c->json->source.errors++;
}

/* ---- packages ---- */

static void read_package(const struct config *c, const struct json_value *package)
{
    if (!config_is_object(c, package, "a package"))
        return;
    config_check_keys(c, package, CONFIG_PACKAGE);
    const char *name = config_string(c, package, "UDO_PACKAGE_NAME", true);
    if (!json_member(package, "Operators"))
        (void)json_error(c->json, package, NULL, "udo-missing-key", "'Operators' is missing");
    uint32_t count;
    const struct json_value *operators = array_member(c, package, "Operators", UDO_MAX_DEFINITIONS, &count);
    for (const struct json_value *op = count ? json_child(operators) : NULL; op; op = op->next)
        read_operator(c, op, name);
}

static odlc_status read_config(struct udo_set *set, struct json *json)
{
    struct config c = {.set = set, .arena = set->arena, .json = json};
    if (!json_is(json->root, JSON_OBJECT))
        return json_error(json, json->root,
                          "the form is { \"UdoPackage_0\": { \"Operators\": […], \"UDO_PACKAGE_NAME\": \"…\" } }",
                          "udo-wrong-type", "the file must hold an object with one member per package");
    if (!json_child(json->root))
        return json_error(json, json->root, NULL, "udo-no-package", "the file holds no package");
    for (const struct json_value *package = json_child(json->root); package; package = package->next)
        read_package(&c, package);
    return json->source.errors ? ODLC_ERR_INVALID : ODLC_OK;
}

odlc_status udo_parse_json(struct udo_set *set, const char *path, const char *text, size_t size)
{
    struct json *json;
    TRY(json_parse(set->arena, set->diags, path, text, size, &json));
    return read_config(set, json);
}
