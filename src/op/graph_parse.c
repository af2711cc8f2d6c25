/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "op/graph_text.h"
#include "op/op.h"
#include "op/params.h"

struct parser {
    struct arena *arena;
    struct diags *diags;
    const struct op_registry *registry;
    const char *text, *p;
    struct graph *g;
};

static odlc_status fail(struct parser *s, const char *expected)
{
    struct odlc_diag place = {0};
    text_place(s->arena, s->text, strlen(s->text), (size_t)(s->p - s->text), &place);
    return diag_error(s->diags, ODLC_ERR_INVALID, &place, "ir-text", "%s expected", expected);
}

static void skip_space(struct parser *s)
{
    for (; *s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '#'; s->p += *s->p != 0)
        if (*s->p == '#') /* a comment to the end of the line */
            s->p += strcspn(s->p, "\n");
}

static bool accept(struct parser *s, const char *token)
{
    skip_space(s);
    size_t n = strlen(token);
    if (strncmp(s->p, token, n) != 0)
        return false;
    s->p += n;
    return true;
}

static odlc_status expect(struct parser *s, const char *token)
{
    return accept(s, token) ? ODLC_OK : fail(s, arena_printf(s->arena, "'%s'", token));
}

static odlc_status parse_word(struct parser *s, const char **out)
{
    skip_space(s);
    size_t n = strspn(s->p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!n)
        return fail(s, "a word");
    *out = arena_strndup(s->arena, s->p, n);
    s->p += n;
    return ODLC_OK;
}

static odlc_status parse_string(struct parser *s, const char **out)
{
    text t = {0};
    TRY(expect(s, "\""));
    text_add(s->arena, &t, "%s", "");
    for (; *s->p && *s->p != '"'; s->p++) {
        char c = *s->p;
        if (c == '\\' && s->p[1] == 'x' && strlen(s->p) >= 4) {
            c = (char)strtol(arena_strndup(s->arena, s->p + 2, 2), NULL, 16);
            s->p += 3;
        } else if (c == '\\' && s->p[1]) {
            c = *++s->p;
        }
        text_add_bytes(s->arena, &t, &c, 1);
    }
    *out = t.data;
    return expect(s, "\"");
}

static odlc_status parse_int(struct parser *s, int64_t *out)
{
    char *end;
    skip_space(s);
    *out = strtoll(s->p, &end, 10);
    if (end == s->p)
        return fail(s, "an integer");
    s->p = end;
    return ODLC_OK;
}

static odlc_status parse_number(struct parser *s, double *out)
{
    char *end;
    skip_space(s);
    *out = c_strtod(s->p, &end);
    if (end == s->p)
        return fail(s, "a number");
    s->p = end;
    return ODLC_OK;
}

static odlc_status parse_shape(struct parser *s, struct shape *out)
{
    *out = (struct shape){0};
    TRY(expect(s, "["));
    while (!accept(s, "]")) {
        if (out->rank == MAX_RANK)
            return fail(s, "at most 8 dimensions");
        if (out->rank)
            TRY(expect(s, ","));
        TRY(parse_int(s, &out->dims[out->rank++]));
    }
    return shape_too_large(out) ? fail(s, "a shape within the limits") : ODLC_OK;
}

static odlc_status parse_dtype(struct parser *s, enum dtype *out)
{
    const char *word;
    TRY(parse_word(s, &word));
    *out = dtype_from_name(word);
    return *out == DT_NONE ? fail(s, "a dtype before this place") : ODLC_OK;
}

static odlc_status parse_type(struct parser *s, struct type *out)
{
    TRY(parse_dtype(s, &out->dtype));
    return parse_shape(s, &out->shape);
}

/* Elements in braces, kept wide in the member of p that its dtype asks for. */
static odlc_status parse_elements(struct parser *s, struct param *p)
{
    uint64_t count = shape_count(&p->shape);
    if (count > strlen(s->p))
        return fail(s, "a value for each element");
    int64_t *ints = arena_array(s->arena, int64_t, count);
    double *floats = arena_array(s->arena, double, count);
    const char **strings = arena_array(s->arena, const char *, count);
    TRY(expect(s, "{"));
    for (uint64_t i = 0; i < count; i++) {
        if (i)
            TRY(expect(s, ","));
        if (p->dtype == DT_STRING)
            TRY(parse_string(s, &strings[i]));
        else if (dtype_is_float(p->dtype))
            TRY(parse_number(s, &floats[i]));
        else
            TRY(parse_int(s, &ints[i]));
    }
    p->ints = ints;
    p->floats = floats;
    p->strings = strings;
    return expect(s, "}");
}

/* The elements of a constant whose values are not printed. */
static struct view zeros(struct arena *arena, const struct type *type)
{
    static const char *const empty = "";
    if (type->dtype != DT_STRING)
        return view_splat_int(arena, type->dtype, &type->shape, 0);
    struct view view = view_of(NULL, DT_STRING, &type->shape);
    view.strings = &empty;
    view.splat = true;
    return view;
}

static odlc_status parse_constant(struct parser *s)
{
    const char *name;
    struct type type;
    TRY(parse_string(s, &name));
    TRY(parse_type(s, &type));
    struct param values = {.dtype = type.dtype, .shape = type.shape};
    skip_space(s);
    struct view view = zeros(s->arena, &type);
    if (*s->p == '{') {
        TRY(parse_elements(s, &values));
        uint64_t count = shape_count(&type.shape);
        void *bytes = arena_calloc(s->arena, count, 8);
        bool is_float = dtype_is_float(type.dtype);
        if (type.dtype != DT_STRING)
            convert_elements(bytes, type.dtype, is_float ? (const void *)values.floats : values.ints,
                             is_float ? DT_FLOAT64 : DT_INT64, count);
        view = view_of(bytes, type.dtype, &type.shape);
        view.strings = values.strings;
    }
    graph_add_constant(s->g, name, type.dtype, &view);
    return ODLC_OK;
}

static odlc_status parse_param(struct parser *s, const struct op *op, struct param *params)
{
    const char *name;
    TRY(parse_word(s, &name));
    int index = op_param_index(op, name);
    if (index < 0)
        return fail(s, "a param of the op before this place");
    const struct param_def *def = &op->params[index];
    struct param *p = &params[index];
    *p = (struct param){.set = true, .is_tensor = def->is_tensor, .name = def->name, .dtype = def->dtype};
    p->usage = def->supplemental ? 2 : 1;
    TRY(expect(s, "="));
    if (def->dtype == DT_NONE)
        TRY(parse_dtype(s, &p->dtype));
    if (def->is_tensor) {
        TRY(parse_shape(s, &p->shape));
        return parse_elements(s, p);
    }
    if (p->dtype == DT_STRING)
        return parse_string(s, &p->s);
    return dtype_is_float(p->dtype) ? parse_number(s, &p->f) : parse_int(s, &p->i);
}

typedef VEC(tensor_id) id_list;

static odlc_status parse_inputs(struct parser *s, id_list *inputs)
{
    TRY(expect(s, "("));
    while (!accept(s, ")")) {
        tensor_id id = NO_TENSOR;
        const char *name;
        if (inputs->count)
            TRY(expect(s, ","));
        if (!accept(s, "-")) {
            TRY(parse_string(s, &name));
            id = graph_find_tensor(s->g, name);
            if (id == NO_TENSOR)
                return fail(s, "the name of a tensor defined above");
        }
        vec_push(s->arena, inputs, id);
    }
    return ODLC_OK;
}

static odlc_status parse_outputs(struct parser *s, id_list *outputs)
{
    do {
        const char *name;
        struct type type;
        if (accept(s, "-")) {
            vec_push(s->arena, outputs, NO_TENSOR);
            continue;
        }
        TRY(parse_string(s, &name));
        TRY(parse_type(s, &type));
        vec_push(s->arena, outputs, graph_add_tensor(s->g, name, TENSOR_NATIVE, &type));
    } while (accept(s, ","));
    return ODLC_OK;
}

/* Relu, or MyPackage::Warp */
static odlc_status parse_op(struct parser *s, const struct op **out)
{
    struct op_key key = {.operation = -1};
    TRY(parse_word(s, &key.type));
    if (accept(s, "::")) {
        key.package = key.type;
        TRY(parse_word(s, &key.type));
    }
    *out = key.package ? op_registry_find(s->registry, &key) : op_find(key.type);
    return *out ? ODLC_OK : fail(s, "the name of an op that is known before this place");
}

static odlc_status parse_node(struct parser *s)
{
    const char *name;
    const struct op *op;
    TRY(parse_string(s, &name));
    TRY(parse_op(s, &op));
    id_list inputs = {0}, outputs = {0};
    struct param *params = arena_array(s->arena, struct param, op->n_params);
    TRY(parse_inputs(s, &inputs));
    if (accept(s, "{")) {
        do
            TRY(parse_param(s, op, params));
        while (accept(s, ","));
        TRY(expect(s, "}"));
    }
    bool layout_only = accept(s, "layout_only");
    TRY(expect(s, "->"));
    TRY(parse_outputs(s, &outputs));
    node_id id = graph_add_node(s->g, op, op->n_params, name, inputs.data, (uint32_t)inputs.count, outputs.data,
                                (uint32_t)outputs.count);
    for (uint32_t i = 0; i < op->n_params; i++)
        if (params[i].set)
            node_set_param(s->g, graph_node(s->g, id), i, &params[i]);
    graph_node(s->g, id)->layout_only = layout_only;
    vec_push(s->arena, &s->g->order, id);
    return ODLC_OK;
}

static odlc_status parse_input(struct parser *s)
{
    const char *name;
    struct type type;
    TRY(parse_string(s, &name));
    TRY(parse_type(s, &type));
    vec_push(s->arena, &s->g->inputs, graph_add_tensor(s->g, name, TENSOR_INPUT, &type));
    return ODLC_OK;
}

static odlc_status parse_output(struct parser *s)
{
    const char *name;
    TRY(parse_string(s, &name));
    tensor_id id = graph_find_tensor(s->g, name);
    if (id == NO_TENSOR)
        return fail(s, "the name of a tensor defined above");
    if (graph_tensor(s->g, id)->kind == TENSOR_NATIVE)
        graph_tensor(s->g, id)->kind = TENSOR_OUTPUT;
    vec_push(s->arena, &s->g->outputs, id);
    return ODLC_OK;
}

odlc_status graph_parse(struct arena *arena, struct diags *diags, const struct op_registry *registry, const char *text,
                        struct graph **out)
{
    struct parser s = {.arena = arena, .diags = diags, .registry = registry, .text = text, .p = text};
    const char *name;
    TRY(expect(&s, "graph"));
    TRY(parse_string(&s, &name));
    s.g = graph_create(arena, name);
    while (skip_space(&s), *s.p) {
        if (accept(&s, "input"))
            TRY(parse_input(&s));
        else if (accept(&s, "const"))
            TRY(parse_constant(&s));
        else if (accept(&s, "node"))
            TRY(parse_node(&s));
        else if (accept(&s, "output"))
            TRY(parse_output(&s));
        else
            return fail(&s, "input, const, node or output");
    }
    *out = s.g;
    return ODLC_OK;
}
