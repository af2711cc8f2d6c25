/* SPDX-License-Identifier: Apache-2.0 */
/* GraphDef, NodeDef and FunctionDef, as far as needed to find the way through the graph. */
#include "converters/tensorflow/decode/tf_graph.h"

#include <string.h>

#include "converters/tensorflow/decode/tensor_shape.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_types.h"

static const char *text_of(const struct tf_model *m, const struct wire_field *f)
{
    return arena_strndup(m->memory.scratch, wire_bytes(m->file, f), f->size);
}

/* The text in the one field of that number; "" when there is none. */
static const char *only_text(const struct tf_model *m, const struct sections *s, uint32_t number)
{
    struct wire_field f = wire_only(m->file, s, number);
    return text_of(m, &f);
}

/* What a node reads: mostly the node before it, whose name is there already. */
static const char *input_text(const struct tf_model *m, const struct tf_body *body, const struct wire_field *f)
{
    const char *before = body->nodes.count ? body->nodes.data[body->nodes.count - 1].name : "";
    const bool same = f->size > 0 && strncmp(before, wire_bytes(m->file, f), f->size) == 0 && !before[f->size];
    return same ? before : text_of(m, f);
}

/* The fields of a node. Its name is looked for soon, and expected in the meantime. */
static void read_node(struct tf_model *m, struct tf_body *body, const struct wire_field *message, struct tf_node *out)
{
    struct wire w = wire_in(m->file, message);
    struct wire_field f;
    struct section list = {0};
    *out = (struct tf_node){.name = "", .op = ""};
    while (wire_next(&w, &f)) {
        if (f.number == NODE_NAME) {
            out->name = text_of(m, &f);
            map_expect(&body->index, out->name);
        } else if (f.number == NODE_OP) {
            out->op = tf_shared_text(m, &f);
        } else if (f.number == NODE_INPUT) {
            section_add(&list, &f);
        } else if (f.number == NODE_ATTR) {
            section_add(&out->attrs, &f);
        }
    }
    const char **inputs = arena_array(m->memory.scratch, const char *, list.count);
    w = wire_of(m->file, list.from, list.to);
    while (out->n_inputs < list.count && wire_next_of(&w, NODE_INPUT, &f))
        inputs[out->n_inputs++] = input_text(m, body, &f);
    out->inputs = inputs;
}

static odlc_status decode_node(struct tf_model *m, struct tf_body *body, const struct wire_field *message,
                               struct tf_node *out)
{
    read_node(m, body, message, out);
    if (!*out->name || !*out->op)
        return diag_error(m->diags, ODLC_ERR_INVALID,
                          AT(IN_MODEL(m), .offset = message->at, .has_offset = 1, .node = out->name), "tensorflow-node",
                          "a node has no %s", *out->name ? "operator" : "name");
    if (out->attrs.count > TF_MAX_ATTRS)
        return diag_error(m->diags, ODLC_ERR_LIMIT,
                          AT(IN_MODEL(m), .offset = message->at, .has_offset = 1, .node = out->name), "tensorflow-node",
                          "node %s has %zu attributes, more than %d", out->name, out->attrs.count, TF_MAX_ATTRS);
    if (*out->name == '^' || strchr(out->name, ':'))
        return diag_error(m->diags, ODLC_ERR_INVALID,
                          AT(IN_MODEL(m), .offset = message->at, .has_offset = 1, .node = out->name), "tensorflow-node",
                          "a node is called %s, which is no name: inputs could not say it", out->name);
    return ODLC_OK;
}

static odlc_status add_node(struct tf_model *m, struct tf_body *body, const struct wire_field *message)
{
    struct tf_node node;
    if (body->nodes.count == FW_MAX_ENTRIES)
        return diag_error(m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(m), .offset = message->at, .has_offset = 1),
                          "tensorflow-graph-size", "a graph has more than %d nodes", FW_MAX_ENTRIES);
    TRY(decode_node(m, body, message, &node));
    if (map_add(&body->index, node.name, (uint32_t)body->nodes.count) != MAP_NONE)
        return diag_error(m->diags, ODLC_ERR_INVALID,
                          AT(IN_MODEL(m), .offset = message->at, .has_offset = 1, .node = node.name),
                          "tensorflow-duplicate-node", "two nodes have the name %s", node.name);
    vec_push(m->memory.scratch, &body->nodes, node);
    body->size += tf_node_size(node.n_inputs);
    return ODLC_OK;
}

/* The node of that name beside those that were found before; MAP_NONE: there is none. same: its name is that very text,
 * as where a node reads the one before it. */
static uint32_t find_beside(const struct tf_body *body, const char *name, bool same)
{
    static const uint32_t steps[] = {1, UINT32_MAX, 0}; /* to the next node, and back */
    for (size_t i = 0; i < TF_PLACES * COUNT_OF(steps); i++) {
        const uint32_t place = (uint32_t)(i / COUNT_OF(steps)), at = body->found[place] + steps[i % COUNT_OF(steps)];
        if (at >= body->nodes.count)
            continue;
        const char *there = body->nodes.data[at].name;
        if (same ? there == name : strcmp(there, name) == 0)
            return body->found[place] = at;
    }
    return MAP_NONE;
}

uint32_t tf_body_find(const struct tf_body *body, const char *name)
{
    if (!body->nodes.count)
        return MAP_NONE;
    uint32_t at = find_beside(body, name, true);
    if (at == MAP_NONE)
        at = find_beside(body, name, false);
    if (at != MAP_NONE)
        return at;
    at = map_get(&body->index, name);
    if (at != MAP_NONE) {
        memmove(body->found + 1, body->found, (TF_PLACES - 1) * sizeof *body->found);
        body->found[0] = at;
    }
    return at;
}

/* Room for the nodes, of which there may be fewer: one without content takes two bytes of the file. */
static void make_room(struct tf_model *m, struct tf_body *body, const struct section *nodes)
{
    enum { LEAST = 16 }; /* bytes of a node, in graphs that are not made to have many */
    const size_t room = (size_t)min_u64(min_u64(nodes->count, (nodes->to - nodes->from) / LEAST), FW_MAX_ENTRIES);
    map_init(&body->index, m->memory.scratch);
    map_reserve(&body->index, room);
    body->found = arena_array(m->memory.scratch, uint32_t, TF_PLACES);
    body->nodes.data = arena_array(m->memory.scratch, struct tf_node, room);
    body->nodes.capacity = room;
}

static odlc_status add_nodes(struct tf_model *m, struct tf_body *body, const struct sections *s, uint32_t number)
{
    struct wire w = wire_section(m->file, s, number);
    struct wire_field f;
    make_room(m, body, &s->of[number]);
    while (wire_next_of(&w, number, &f))
        TRY(add_node(m, body, &f));
    return ODLC_OK;
}

static struct wire_field signature_of(const struct tf_model *m, const struct wire_field *function)
{
    struct wire w = wire_in(m->file, function);
    struct wire_field f = {0};
    return wire_next_of(&w, FUNCTION_SIGNATURE, &f) ? f : (struct wire_field){.content = function->content};
}

static odlc_status add_functions(struct tf_model *m, const struct wire_field *library)
{
    struct wire w = wire_in(m->file, library);
    struct wire_field f;
    while (wire_next_of(&w, LIBRARY_FUNCTION, &f)) {
        struct wire_field signature = signature_of(m, &f);
        const struct sections s = wire_sections(m->file, signature.content, signature.content + signature.size);
        struct tf_function function = {.name = only_text(m, &s, OP_DEF_NAME), .message = f};
        if (map_add(&m->function_index, function.name, (uint32_t)m->functions.count) != MAP_NONE)
            return diag_error(m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(m), .offset = f.at, .has_offset = 1),
                              "tensorflow-duplicate-function", "two functions have the name %s", function.name);
        vec_push(m->memory.scratch, &m->functions, function);
    }
    return ODLC_OK;
}

static int64_t producer_of(const struct tf_model *m, const struct wire_field *versions)
{
    struct wire w = wire_in(m->file, versions);
    struct wire_field f;
    int64_t producer = 0;
    while (wire_next_of(&w, VERSION_PRODUCER, &f))
        producer = (int64_t)f.value;
    return producer;
}

odlc_status tf_decode_graph(struct tf_model *m, uint64_t from, uint64_t to)
{
    const struct sections s = wire_sections(m->file, from, to);
    struct wire library = wire_section(m->file, &s, GRAPH_LIBRARY);
    struct wire versions = wire_section(m->file, &s, GRAPH_VERSIONS);
    struct wire_field f;
    map_init(&m->function_index, m->memory.scratch);
    names_reserve(&m->names, s.of[GRAPH_NODE].count, to - from);
    TRY(add_nodes(m, &m->body, &s, GRAPH_NODE));
    while (wire_next_of(&library, GRAPH_LIBRARY, &f))
        TRY(add_functions(m, &f));
    while (wire_next_of(&versions, GRAPH_VERSIONS, &f))
        m->producer = producer_of(m, &f);
    return ODLC_OK;
}

/* ---- functions ---- */

static void add_args(const struct tf_model *m, struct tf_function *function, const struct sections *signature)
{
    struct wire inputs = wire_section(m->file, signature, OP_DEF_INPUT_ARG);
    struct wire outputs = wire_section(m->file, signature, OP_DEF_OUTPUT_ARG);
    struct wire_field f;
    map_init(&function->args, m->memory.scratch);
    while (wire_next_of(&inputs, OP_DEF_INPUT_ARG, &f)) {
        const struct sections arg = wire_sections(m->file, f.content, f.content + f.size);
        const char *name = only_text(m, &arg, ARG_NAME);
        map_put(&function->args, name, (uint32_t)function->arg_names.count);
        vec_push(m->memory.scratch, &function->arg_names, name);
    }
    while (wire_next_of(&outputs, OP_DEF_OUTPUT_ARG, &f)) {
        const struct sections arg = wire_sections(m->file, f.content, f.content + f.size);
        vec_push(m->memory.scratch, &function->ret_names, only_text(m, &arg, ARG_NAME));
    }
}

/* What gives each result, by the map from their names. */
static odlc_status add_rets(struct tf_model *m, struct tf_function *function, struct wire w)
{
    struct map found;
    struct wire_field f;
    VEC(const char *) values = {0};
    map_init(&found, m->memory.scratch);
    while (wire_next_of(&w, FUNCTION_RET, &f)) {
        const struct sections entry = wire_sections(m->file, f.content, f.content + f.size);
        map_put(&found, only_text(m, &entry, ENTRY_KEY), (uint32_t)values.count);
        vec_push(m->memory.scratch, &values, only_text(m, &entry, ENTRY_VALUE));
    }
    for (size_t i = 0; i < function->ret_names.count; i++) {
        uint32_t at = map_get(&found, function->ret_names.data[i]);
        if (at == MAP_NONE)
            return diag_error(m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(m)), "tensorflow-function",
                              "function %s does not say what gives its output %s", function->name,
                              function->ret_names.data[i]);
        vec_push(m->memory.scratch, &function->rets, values.data[at]);
    }
    return ODLC_OK;
}

static odlc_status decode_body(struct tf_model *m, struct tf_function *function)
{
    struct wire_field at = signature_of(m, &function->message);
    const struct sections signature = wire_sections(m->file, at.content, at.content + at.size);
    add_args(m, function, &signature);
    const struct sections body = wire_sections_of(m->file, &function->message);
    TRY(add_nodes(m, &function->body, &body, FUNCTION_NODE));
    function->attrs = arena_array(m->memory.scratch, struct tf_known_attrs, function->body.nodes.count);
    return add_rets(m, function, wire_in(m->file, &function->message));
}

odlc_status tf_decode_function(struct tf_model *m, struct tf_function *f)
{
    if (!f->decoded) {
        f->decoded = true;
        f->failed = decode_body(m, f) != ODLC_OK;
    }
    return f->failed ? ODLC_ERR_INVALID : ODLC_OK;
}

/* ---- arguments of a function that is the model ---- */

/* The shape in the attributes of the argument. */
static odlc_status describe_shape(struct tf_model *m, const struct wire_field *attrs, const char *name,
                                  struct fw_value *out)
{
    struct wire w = wire_in(m->file, attrs);
    struct wire_field f, list, shape;
    while (wire_next_of(&w, ARG_ATTRS_ATTR, &f)) {
        const struct sections entry = wire_sections_of(m->file, &f);
        const struct wire_field key = wire_only(m->file, &entry, ENTRY_KEY),
                                value = wire_only(m->file, &entry, ENTRY_VALUE);
        if (strcmp(tf_text(m, &key), "_output_shapes") != 0)
            continue;
        struct wire in = wire_in(m->file, &value);
        if (!wire_next_of(&in, ATTR_LIST, &list))
            continue;
        struct wire shapes = wire_in(m->file, &list);
        if (wire_next_of(&shapes, ATTR_SHAPE, &shape))
            TRY(tf_decode_shape(m, &shape, name, out));
    }
    return ODLC_OK;
}

odlc_status tf_describe_argument(struct tf_model *m, const struct tf_function *function, uint32_t arg,
                                 struct fw_value *out)
{
    const struct sections s = wire_sections_of(m->file, &function->message);
    const struct wire_field signature = wire_only(m->file, &s, FUNCTION_SIGNATURE);
    struct wire args = wire_in(m->file, &signature), attrs = wire_section(m->file, &s, FUNCTION_ARG_ATTR);
    struct wire_field f;
    for (uint32_t i = 0; i <= arg && wire_next_of(&args, OP_DEF_INPUT_ARG, &f); i++) {
        const struct sections a = wire_sections_of(m->file, &f);
        if (i == arg)
            out->dtype = tf_dtype((int64_t)wire_only(m->file, &a, ARG_TYPE).value);
    }
    while (wire_next_of(&attrs, FUNCTION_ARG_ATTR, &f)) {
        const struct sections entry = wire_sections_of(m->file, &f);
        const struct wire_field value = wire_only(m->file, &entry, ENTRY_VALUE);
        if (wire_only(m->file, &entry, ENTRY_KEY).value == arg)
            TRY(describe_shape(m, &value, function->arg_names.data[arg], out));
    }
    return ODLC_OK;
}
