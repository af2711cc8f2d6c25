/* SPDX-License-Identifier: Apache-2.0 */
#include "op/op.h"
#include "udo_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/graph_text.h"
#include "op/validate.h"
#include "udo/param_value.h"
#include "udo/udo_write.h"

enum {
    TRIED = 6,    /* definitions of a config that nodes are made of */
    OPERANDS = 6, /* of a node, more than most definitions have */
    ATTRS = 10,
    VARIANTS = 8 /* nodes of one definition */
};

/* An operation that configs may replace after the translation stands in it: most have the names of these. */
static const char native_graph[] =
    "graph \"g\"\ninput \"x\" float32[1,4,4,3]\nconst \"w\" float32[1,1,3,2] {1, 0, 0, 1, 1, 1}\nconst \"b\" "
    "float32[2]\n"
    "node \"conv\" Conv2d (\"x\", \"w\", \"b\") {stride=[2]{1, 1}, pad_amount=[2,2]{0, 0, 0, 0}, group=1} -> \"y\" "
    "float32[1,4,4,2]\nnode \"cat\" Concat (\"y\", \"y\") {axis=3} -> \"z\" float32[1,4,4,4]\noutput \"z\"\n";

/* Ends the process, with what was said so far, where something does not hold. */
static void must(bool holds, const char *what, const struct diags *diags)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    for (size_t i = 0; i < diags->list.count; i++)
        fprintf(stderr, "%u:%u: [%s] %s\n", diags->list.data[i].line, diags->list.data[i].column,
                diags->list.data[i].code, diags->list.data[i].message);
    abort();
}

/* ---- a node ---- */

struct try_node {
    struct udo_set *set;
    const struct udo_def *def;
    struct build b;
    unsigned variant;
    tensor_id in[OPERANDS], outs[OPERANDS];
    struct param attrs[ATTRS], defaults[ATTRS];
    struct type declared[OPERANDS];
    bool declared_shape[OPERANDS];
    struct shape partial[OPERANDS];
    const char *names[OPERANDS];
};

static tensor_id make_operand(struct try_node *t, unsigned kind, enum dtype dtype)
{
    static const float floats[24] = {0.5f, -1, 3e9f};
    static const int64_t ints[24] = {-1, 7, INT64_MAX};
    const struct shape image = SHAPE(1, 2, 3, 4), line = SHAPE(3);
    struct type dynamic = {.dtype = dtype == DT_NONE || dtype_is_fixed(dtype) ? DT_FLOAT32 : dtype, .shape = image};
    switch (kind % 7) {
    case 0:
    case 1:
        return graph_add_tensor(t->b.graph, "in", TENSOR_INPUT, &dynamic);
    case 2:
        dynamic.shape = SHAPE(2, 0, 5);
        return graph_add_tensor(t->b.graph, "in", TENSOR_INPUT, &dynamic);
    case 3:
        return build_const_floats(&t->b, "c", &image, floats);
    case 4:
        return build_const_ints(&t->b, "c", DT_INT64, &line, ints);
    case 5:
        return build_const_scalar(&t->b, "c", DT_FLOAT32, 0.1);
    default:
        return NO_TENSOR;
    }
}

static struct param make_attr(const char *name, unsigned kind)
{
    static const int64_t ints[4] = {1, -2, 3, INT64_MIN};
    static const double floats[3] = {0.5, -0.0, 3e38};
    static const char *const strings[2] = {"NHWC", ""};
    switch (kind % 6) {
    case 0:
        return (struct param){.name = name, .dtype = DT_INT64, .i = 1};
    case 1:
        return (struct param){.name = name, .dtype = DT_FLOAT32, .f = 0.1f};
    case 2:
        return (struct param){.name = name, .dtype = DT_STRING, .s = "one"};
    case 3:
        return (struct param){.name = name, .dtype = DT_INT64, .is_tensor = true, .shape = SHAPE(2, 2), .ints = ints};
    case 4:
        return (struct param){
            .name = name, .dtype = DT_FLOAT32, .is_tensor = true, .shape = SHAPE(3), .floats = floats};
    default:
        return (struct param){
            .name = name, .dtype = DT_STRING, .is_tensor = true, .shape = SHAPE(2), .strings = strings};
    }
}

/* Attributes for the params, one of which is left out, and one that the definition does not name. */
static uint32_t make_attrs(struct try_node *t)
{
    const struct udo_def *def = t->def;
    uint32_t count = 0;
    t->attrs[count++] = make_attr("fuzz_attribute", t->variant);
    for (uint32_t i = 0; i < def->n_scalar_params && count < ATTRS; i++)
        if ((i + t->variant) % 4)
            t->attrs[count++] = make_attr(def->scalar_params[i].name, t->variant < 3 ? t->variant : i + t->variant);
    for (uint32_t i = 0; i < def->n_tensor_params && count < ATTRS; i++)
        if ((i + t->variant) % 4)
            t->attrs[count++] = make_attr(def->tensor_params[i].name, i + t->variant);
    return count;
}

static void make_outputs(struct try_node *t, uint32_t count)
{
    static const char *const names[OPERANDS] = {"y", "z", "", "u", "v", "w"};
    for (uint32_t j = 0; j < count; j++) {
        t->names[j] = names[j];
        t->declared[j] = (struct type){.dtype = t->variant % 3 ? DT_FLOAT32 : DT_NONE, .shape = SHAPE(1, 2, 3, 4)};
        t->declared_shape[j] = t->variant % 2;
        t->partial[j] = t->variant % 4 == 2 ? SHAPE(1, -1, 3, 4) : (struct shape){.rank = 0};
    }
}

/* The framework's, for params whose names begin with an a. */
static uint32_t make_defaults(struct try_node *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->def->row->n_params && count < ATTRS; i++)
        if (*t->def->row->params[i].name == 'a')
            t->defaults[count++] = make_attr(t->def->row->params[i].name, 0);
    return count;
}

static void must_be_valid(struct udo_set *set, const struct graph *g)
{
    struct diags diags;
    diags_init(&diags, set->arena);
    must(graph_validate(g, set->arena, &diags, "fuzz") == ODLC_OK, "the graph is valid", &diags);
}

/* A node is built, which leaves a valid graph, or there is an error. */
static void try_node(struct udo_set *set, const struct udo_def *def, unsigned variant)
{
    struct try_node *t = arena_new(set->arena, struct try_node);
    *t = (struct try_node){.set = set, .def = def, .variant = variant};
    build_init(&t->b, graph_create(set->arena, "g"), set->diags);
    uint32_t n_in = def->n_inputs + variant / 6, n_out = def->n_outputs + (variant % 4 == 3);
    n_in = n_in < OPERANDS ? n_in : OPERANDS;
    n_out = n_out < OPERANDS ? n_out : OPERANDS;
    for (uint32_t i = 0; i < n_in; i++)
        t->in[i] = make_operand(t, i < def->n_inputs && def->inputs[i].is_static ? 3 + (i + variant) % 3 : i + variant,
                                i < def->n_inputs ? def->inputs[i].dtype : DT_NONE);
    make_outputs(t, n_out);
    const struct type native[OPERANDS] = {{.dtype = DT_FLOAT32, .shape = SHAPE(1, 2, 3, 4)}};
    const struct udo_site site = {.scratch = set->arena,
                                  .path = "model",
                                  .label = "node",
                                  .op_type = def->type,
                                  .domain = def->domain ? def->domain : "",
                                  .in = t->in,
                                  .n_in = n_in,
                                  .attrs = t->attrs,
                                  .n_attrs = make_attrs(t),
                                  .out_names = t->names,
                                  .declared = t->declared,
                                  .declared_shape = t->declared_shape,
                                  .partial = t->partial,
                                  .n_out = n_out,
                                  .channels_first = variant % 2,
                                  .defaults = t->defaults,
                                  .n_defaults = make_defaults(t),
                                  .native = variant % 3 ? NULL : native};
    size_t errors = set->diags->errors;
    (void)udo_needs_native(def, &site);
    odlc_status status = udo_build(set, def, &t->b, &site, t->outs);
    must((status == ODLC_OK) == (set->diags->errors == errors), "a node is built, or there is an error", set->diags);
    if (status == ODLC_OK)
        must_be_valid(set, t->b.graph);
}

static void try_natives(struct udo_set *set)
{
    struct graph *g;
    size_t errors = set->diags->errors;
    must(graph_parse(set->arena, set->diags, op_registry_new(set->arena), native_graph, &g) == ODLC_OK,
         "the native graph is one", set->diags);
    odlc_status status = udo_replace_natives(set, g);
    must((status == ODLC_OK) == (set->diags->errors == errors), "ops are replaced, or there is an error", set->diags);
    if (status == ODLC_OK)
        must_be_valid(set, g);
}

static void try_nodes(struct udo_set *set)
{
    for (size_t i = 0; i < set->defs.count && i < TRIED; i++) {
        const struct udo_def *def = set->defs.data[i];
        const struct udo_def *found = udo_find(set, def->type, def->domain ? def->domain : "");
        must(def->replaces_native || found, "a definition is found by its type", set->diags);
        for (unsigned variant = 0; found == def && variant < VARIANTS; variant++)
            try_node(set, def, variant);
    }
    try_natives(set);
    size_t errors = set->diags->errors;
    odlc_status status = udo_finish(set);
    must((status == ODLC_OK) == (set->diags->errors == errors), "nodes are finished, or there is an error", set->diags);
}

/* ---- writing ---- */

static bool said(const struct diags *diags, size_t from, const char *code)
{
    for (size_t i = from; i < diags->list.count; i++)
        if (strcmp(diags->list.data[i].code, code) == 0)
            return true;
    return false;
}

/* Writes the set's definitions, which can be read again and written again. Where nothing is said to be lost, the same
 * bytes are written, and the definitions are the set's own. */
static void try_writing(struct udo_set *set, enum udo_form form)
{
    struct diags diags;
    struct udo_set again;
    text first = {0}, second = {0};
    size_t before = set->diags->list.count, count = set->defs.count;
    if (udo_write(set, form, &first) != ODLC_OK) {
        must(said(set->diags, before, "udo-cannot-write"), "what is not written is an error", set->diags);
        return;
    }
    diags_init(&diags, set->arena);
    udo_set_init(&again, set->arena, &diags, op_registry_new(set->arena));
    must(udo_parse(&again, "written", first.data, first.count) == ODLC_OK, "what is written can be read", &diags);
    must(again.defs.count == count, "all definitions are written", &diags);
    must(udo_write(&again, form, &second) == ODLC_OK, "it is written again", &diags);
    if (said(set->diags, before, "udo-lost"))
        return;
    must(first.count == second.count && memcmp(first.data, second.data, first.count) == 0, "it is the same", &diags);
    /* A definition that is there already is dropped, and one that differs is an error. */
    must(udo_parse(set, "written", first.data, first.count) == ODLC_OK && set->defs.count == count,
         "what is read again is what was written", set->diags);
}

static void try_text(struct udo_set *set, const char *text, size_t size,
                     odlc_status (*parse)(struct udo_set *set, const char *path, const char *text, size_t size))
{
    odlc_status status = parse(set, "fuzz", text, size);
    const struct diags *diags = set->diags;
    must((status == ODLC_OK) == (diags->errors == 0), "a failure says why, a success complains of nothing", diags);
    for (size_t i = 0; i < diags->list.count; i++) {
        must(diags->list.data[i].line || diags->list.data[i].severity != ODLC_ERROR, "errors have places", diags);
        must(strncmp(diags->list.data[i].message, "internal error", 14) != 0, "errors are those of the text", diags);
    }
    if (status == ODLC_OK && set->defs.count) {
        try_writing(set, UDO_JSON);
        try_writing(set, UDO_XML);
        try_nodes(set);
    }
}

void try_config(const uint8_t *bytes, size_t size,
                odlc_status (*parse)(struct udo_set *set, const char *path, const char *text, size_t size))
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0) {
        struct diags diags;
        struct udo_set set;
        diags_init(&diags, arena);
        udo_set_init(&set, arena, &diags, op_registry_new(arena));
        try_text(&set, (const char *)bytes, size, parse);
    }
    arena_destroy(arena);
}
