/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions in the JSON form. */
#include <string.h>

#include "udo/expr.h"
#include "udo/param_value.h"
#include "udo/udo_cores.h"
#include "udo/udo_write.h"

enum role { INPUT, OUTPUT, PARAM };

static void put_string(struct udo_writer *w, const char *string)
{
    text_add(w->arena, &w->out, "\"");
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_add(w->arena, &w->out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            text_add(w->arena, &w->out, "\\u%04x", (unsigned)*c);
        else
            text_add_bytes(w->arena, &w->out, c, 1);
    }
    text_add(w->arena, &w->out, "\"");
}

/* A member of an object on one line; the first has no comma. */
static void put_key(struct udo_writer *w, bool *first, const char *key)
{
    text_add(w->arena, &w->out, "%s\"%s\": ", *first ? "" : ", ", key);
    *first = false;
}

static void put_member(struct udo_writer *w, bool *first, const char *key, const char *value)
{
    if (!value)
        return;
    put_key(w, first, key);
    put_string(w, value);
}

static void put_flag(struct udo_writer *w, bool *first, const char *key, bool holds)
{
    if (!holds)
        return;
    put_key(w, first, key);
    text_add(w->arena, &w->out, "true");
}

static void put_leaf(struct udo_writer *w, const struct param *value, uint64_t k)
{
    if (value->dtype == DT_STRING)
        put_string(w, value->is_tensor ? value->strings[k] : value->s);
    else if (value->dtype == DT_BOOL)
        text_add(w->arena, &w->out, "%s", (value->is_tensor ? value->ints[k] : value->i) ? "true" : "false");
    else
        write_number(w, value, k);
}

static void put_default(struct udo_writer *w, bool *first, const struct param *value)
{
    if (!value)
        return;
    put_key(w, first, "default_value");
    write_nested(w, value, "[]", put_leaf);
}

/* Of the types that an operand takes, the one that JSON can name. */
static const char *type_word(struct udo_writer *w, const struct udo_place *place, const char *label, enum dtype dtype,
                             uint64_t several)
{
    if (several)
        write_lost(w, place, "%s takes several types; JSON gives it one", label);
    for (int i = DT_NONE; !dtype_info(dtype)->udo && i < DT_COUNT; i++)
        if (several & DTYPE_BIT(i) && dtype_info((enum dtype)i)->udo)
            dtype = (enum dtype)i;
    if (!dtype_info(dtype)->udo)
        write_impossible(w, place, "%s is of type %s, which JSON has no word for", label, udo_type_name(dtype));
    return dtype_info(dtype)->udo;
}

static void put_types(struct udo_writer *w, bool *first, const char *label, const struct udo_tensor *t)
{
    if (!t->per_core) {
        if (t->dtype != DT_NONE)
            put_member(w, first, "data_type", type_word(w, &t->place, label, t->dtype, t->several));
        return;
    }
    /* Where there is no CPU the first one decides. */
    int decides = 0;
    while (decides < UDO_CORES && t->core_dtypes[decides] != t->dtype)
        decides++;
    bool first_core = true;
    put_key(w, first, "per_core_data_types");
    text_add(w->arena, &w->out, "{");
    for (int i = 0; i < UDO_CORES; i++) {
        int core = (decides + i) % UDO_CORES;
        if (t->core_dtypes[core] != DT_NONE)
            put_member(w, &first_core, udo_core_names[core], type_word(w, &t->place, label, t->core_dtypes[core], 0));
    }
    text_add(w->arena, &w->out, "}");
}

static void put_shape(struct udo_writer *w, bool *first, const struct udo_tensor *t)
{
    if (t->same_as)
        put_member(w, first, "shape", arena_printf(w->arena, "same_as in%u", t->same_as_input));
    if (!t->shape)
        return;
    put_key(w, first, "shape");
    text_add(w->arena, &w->out, "[");
    for (uint32_t i = 0; i < t->shape_rank; i++) {
        text rule = {0};
        expr_write(w->arena, &rule, t->shape[i]);
        text_add(w->arena, &w->out, "%s", i ? ", " : "");
        put_string(w, rule.data);
    }
    text_add(w->arena, &w->out, "]");
}

static void check_lost(struct udo_writer *w, const struct udo_place *place, const char *label, const char *unresolved,
                       bool optional, bool unused_default, const struct udo_words *enumeration,
                       const char *only_default)
{
    if (only_default)
        write_lost(w, place, "<OnlyDefaultSupported> of %s is not written", label);
    if (unresolved)
        write_impossible(w, place, "the %s of %s is BACKEND_SPECIFIC, and nothing says what it is", unresolved, label);
    if (optional)
        write_lost(w, place, "%s may be left out; JSON cannot say so", label);
    if (unused_default)
        write_lost(w, place, "the <Default> of %s, which must be given, is not written", label);
    if (enumeration->count)
        write_lost(w, place, "%s is an enumeration, whose names JSON cannot give; its values are numbers", label);
}

static void put_tensor(struct udo_writer *w, const struct udo_def *def, const struct udo_tensor *t, enum role role,
                       uint32_t i)
{
    static const char *const kinds[] = {"input", "output", "param"}, *const layouts[] = {NULL, "NHWC", "NCHW"};
    const char *label = write_label(w, def, kinds[role], i, t->name);
    bool first = true, may_be_absent = t->optional && !t->default_value;
    check_lost(w, &t->place, label, t->unresolved, may_be_absent && role == PARAM, t->unused_default, &t->enumeration,
               t->only_default);
    text_add(w->arena, &w->out, "          {");
    put_member(w, &first, "name", t->name);
    put_types(w, &first, label, t);
    put_member(w, &first, "tensor_layout", layouts[t->layout]);
    put_member(w, &first, "quantization_mode", t->quantization_mode);
    put_flag(w, &first, "static", t->is_static);
    put_flag(w, &first, "optional", may_be_absent && role != PARAM);
    put_flag(w, &first, "repeated", t->repeated);
    put_default(w, &first, t->default_value);
    put_shape(w, &first, t);
    text_add(w->arena, &w->out, "}");
}

static void put_scalar(struct udo_writer *w, const struct udo_def *def, const struct udo_scalar *p, uint32_t i)
{
    const char *label = write_label(w, def, "param", i, p->name);
    bool first = true;
    check_lost(w, &p->place, label, p->unresolved, p->optional && !p->default_value, p->unused_default, &p->enumeration,
               p->only_default);
    if (p->per_core)
        write_lost(w, &p->place, "%s has types for cores; JSON gives it %s", label, udo_type_name(p->dtype));
    text_add(w->arena, &w->out, "          {");
    put_member(w, &first, "name", p->name);
    put_member(w, &first, "data_type", type_word(w, &p->place, label, p->dtype, p->several));
    put_default(w, &first, p->default_value);
    text_add(w->arena, &w->out, "}");
}

static void put_tensors(struct udo_writer *w, const struct udo_def *def, const char *key,
                        const struct udo_tensor *tensors, uint32_t count, enum role role)
{
    text_add(w->arena, &w->out, ",\n        \"%s\": [", key);
    for (uint32_t i = 0; i < count; i++) {
        text_add(w->arena, &w->out, "%s\n", i ? "," : "");
        put_tensor(w, def, &tensors[i], role, i);
    }
    text_add(w->arena, &w->out, "\n        ]");
}

static void put_words(struct udo_writer *w, const char *key, const char *const *words, uint32_t count)
{
    if (!count)
        return;
    text_add(w->arena, &w->out, ",\n        \"%s\": [", key);
    for (uint32_t i = 0; i < count; i++) {
        text_add(w->arena, &w->out, "%s", i ? ", " : "");
        put_string(w, words[i]);
    }
    text_add(w->arena, &w->out, "]");
}

static bool has_shape_words(const struct udo_tensor *tensors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (tensors[i].shape_text || (tensors[i].rank && strcmp(tensors[i].rank, "ND") != 0))
            return true;
    return false;
}

static void check_operator(struct udo_writer *w, const struct udo_def *def)
{
    if (def->replaces_native)
        write_impossible(w, &def->place, "'%s' replaces a native op after the translation, which JSON cannot say",
                         def->type);
    if (def->use_qhpi)
        write_lost(w, &def->place, "UseQHPI of '%s' is not written", def->type);
    if (has_shape_words(def->inputs, def->n_inputs) || has_shape_words(def->outputs, def->n_outputs) ||
        has_shape_words(def->tensor_params, def->n_tensor_params))
        write_lost(w, &def->place, "the ranks and shape remarks of '%s' are not written", def->type);
}

static void put_scalars(struct udo_writer *w, const struct udo_def *def)
{
    if (!def->n_scalar_params)
        return;
    text_add(w->arena, &w->out, ",\n        \"scalar_params\": [");
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        text_add(w->arena, &w->out, "%s\n", i ? "," : "");
        put_scalar(w, def, &def->scalar_params[i], i);
    }
    text_add(w->arena, &w->out, "\n        ]");
}

static void put_operator(struct udo_writer *w, const struct udo_def *def)
{
    const char *cores[UDO_CORES];
    uint32_t n_cores = 0;
    for (int core = 0; core < UDO_CORES; core++)
        if (def->cores & 1u << core)
            cores[n_cores++] = udo_core_names[core];
    check_operator(w, def);
    text_add(w->arena, &w->out, "      {\n        \"type\": ");
    put_string(w, def->type);
    if (def->domain) {
        text_add(w->arena, &w->out, ",\n        \"domain\": ");
        put_string(w, def->domain);
    }
    put_tensors(w, def, "inputs", def->inputs, def->n_inputs, INPUT);
    put_tensors(w, def, "outputs", def->outputs, def->n_outputs, OUTPUT);
    put_scalars(w, def);
    if (def->n_tensor_params)
        put_tensors(w, def, "tensor_params", def->tensor_params, def->n_tensor_params, PARAM);
    put_words(w, "core_types", cores, n_cores);
    put_words(w, "dsp_arch_types", def->dsp_arch_types, def->n_dsp_arch_types);
    text_add(w->arena, &w->out, "\n      }");
}

/* The operators of the package of definition `first`; next leads from each to the next one of its package. */
static void put_package(struct udo_writer *w, uint32_t first, const uint32_t *next, size_t number)
{
    const char *package = w->set->defs.data[first]->package;
    text_add(w->arena, &w->out, "%s\n  \"UdoPackage_%zu\": {\n    \"Operators\": [", number ? "," : "", number);
    for (uint32_t i = first; i != MAP_NONE; i = next[i]) {
        text_add(w->arena, &w->out, "%s\n", i > first ? "," : "");
        put_operator(w, w->set->defs.data[i]);
    }
    text_add(w->arena, &w->out, "\n    ],\n    \"UDO_PACKAGE_NAME\": ");
    put_string(w, package);
    text_add(w->arena, &w->out, "\n  }");
}

void udo_write_json(struct udo_writer *w)
{
    uint32_t *next = arena_array(w->arena, uint32_t, w->set->defs.count);
    struct map last;
    VEC(uint32_t) packages = {0}; /* the first definition of each */
    map_init(&last, w->arena);
    for (uint32_t i = 0; i < w->set->defs.count; i++) {
        const char *package = w->set->defs.data[i]->package;
        uint32_t previous = map_get(&last, package);
        next[i] = MAP_NONE;
        if (previous == MAP_NONE)
            vec_push(w->arena, &packages, i);
        else
            next[previous] = i;
        map_put(&last, package, i);
    }
    text_add(w->arena, &w->out, "{");
    for (size_t i = 0; i < packages.count; i++)
        put_package(w, packages.data[i], next, i);
    text_add(w->arena, &w->out, "\n}\n");
}
