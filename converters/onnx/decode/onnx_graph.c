/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/decode/onnx_graph.h"

#include <inttypes.h>
#include <string.h>

#include "converters/onnx/decode/onnx_attr.h"
#include "converters/onnx/decode/onnx_sparse.h"
#include "converters/onnx/decode/onnx_tensor.h"
#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/schema/operand_types.h"

/* ---- declared types ---- */

static void decode_dim(struct decode *d, const struct wire_field *dim, struct fw_value *v, uint32_t i)
{
    struct wire w = wire_in(d->file, dim);
    struct wire_field f;
    fw_name symbol = FW_NO_NAME;
    v->dims[i] = DIM_OPEN; /* some exporters write -1 for open ones, too */
    while (wire_next(&w, &f)) {
        if (f.number == DIM_VALUE)
            v->dims[i] = (int64_t)f.value;
        else if (f.number == DIM_PARAM)
            symbol = decode_name(d, &f);
    }
    if (v->dims[i] < DIM_OPEN)
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-shape",
                     "value '%s' has the negative dimension %" PRId64, v->name, v->dims[i]);
    if (v->dims[i] != DIM_OPEN || symbol == FW_NO_NAME)
        return;
    if (!v->symbols)
        v->symbols = arena_array(d->memory.graph, const char *, v->rank);
    v->symbols[i] = names_text(&d->names, symbol);
}

static void decode_shape(struct decode *d, const struct wire_field *shape, struct fw_value *v)
{
    const struct sections s = wire_sections(d->file, shape->content, shape->content + shape->size);
    size_t rank = s.of[SHAPE_DIM].count;
    if (rank > MAX_RANK) {
        decode_error(d, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(d)), "onnx-rank",
                     "value '%s' has %zu dimensions, more than %d", v->name, rank, MAX_RANK);
        return;
    }
    struct wire w = wire_section(d->file, &s, SHAPE_DIM);
    struct wire_field dim;
    v->has_shape = true;
    v->rank = (uint8_t)rank;
    v->dims = arena_array(d->memory.graph, int64_t, rank);
    for (uint32_t i = 0; i < rank && wire_next_of(&w, SHAPE_DIM, &dim); i++)
        decode_dim(d, &dim, v, i);
}

static void decode_tensor_type(struct decode *d, const struct wire_field *type, struct fw_value *v)
{
    struct wire w = wire_in(d->file, type);
    struct wire_field f, shape = {0};
    int32_t element = 0;
    while (wire_next(&w, &f)) {
        if (f.number == TENSOR_TYPE_ELEMENT)
            element = (int32_t)f.value;
        else if (f.number == TENSOR_TYPE_SHAPE)
            shape = f;
    }
    const char *name;
    enum dtype dtype = DT_NONE;
    odlc_status known = element != 0 ? onnx_dtype(element, &dtype, &name) : ODLC_OK;
    v->dtype = dtype;
    if (known == ODLC_ERR_UNSUPPORTED)
        decode_error(d, known, AT(IN_MODEL(d)), "onnx-dtype",
                     "value '%s' has the element type %s, which is not supported", v->name, name);
    else if (known != ODLC_OK)
        decode_error(d, known, AT(IN_MODEL(d)), "onnx-dtype", "value '%s' has the unknown element type %" PRId32,
                     v->name, element);
    if (shape.number != 0)
        decode_shape(d, &shape, v);
}

static void decode_type(struct decode *d, const struct wire_field *type, struct fw_value *v)
{
    struct wire w = wire_in(d->file, type);
    struct wire_field f, tensor = {0};
    bool other = false;
    while (wire_next(&w, &f)) {
        if (f.number == TYPE_TENSOR)
            tensor = f;
        else
            other |= f.number == TYPE_SEQUENCE || f.number == TYPE_MAP || f.number == TYPE_OPAQUE ||
                     f.number == TYPE_SPARSE_TENSOR || f.number == TYPE_OPTIONAL;
    }
    if (tensor.number != 0)
        decode_tensor_type(d, &tensor, v);
    else
        v->not_a_tensor = other;
}

static struct fw_value decode_value(struct decode *d, const struct wire_field *info)
{
    struct wire w = wire_in(d->file, info);
    struct wire_field f, type = {0};
    struct fw_value v = {.name = ""};
    while (wire_next(&w, &f)) {
        if (f.number == VALUE_NAME)
            v.id = decode_name(d, &f);
        else if (f.number == VALUE_TYPE)
            type = f;
    }
    v.name = names_text(&d->names, v.id);
    if (type.number != 0)
        decode_type(d, &type, &v);
    return v;
}

/* ---- nodes ---- */

/* The operator that goes by these numbers: of the imports, and of the names of its type, domain and overload. */
static const struct fw_op *op_of(struct decode *d, const struct opsets *opsets, const uint32_t parts[OP_PARTS])
{
    const uint32_t *names = parts + 1;
    char key[OP_PARTS * 8 + 1]; /* numbers rather than texts, which could hold any separator */
    for (size_t i = 0; i < OP_PARTS * 8; i++)
        key[i] = (char)('a' + (parts[i / 8] >> i % 8 * 4 & 15));
    key[OP_PARTS * 8] = '\0';
    uint32_t known = map_get(&d->ops, key);
    if (known != MAP_NONE)
        return d->model->ops.data[known];
    struct fw_op *op = arena_new(d->memory.graph, struct fw_op);
    *op = (struct fw_op){.type = names_text(&d->names, names[0]),
                         .domain = decode_domain(names_text(&d->names, names[1])),
                         .overload = names_text(&d->names, names[2]),
                         .index = (uint32_t)d->model->ops.count};
    op->version = opsets_version(opsets, op->domain);
    op->types = onnx_types_of(op);
    map_put(&d->ops, arena_strdup(d->memory.scratch, key), op->index);
    vec_push(d->memory.graph, &d->model->ops, op);
    return op;
}

/* The operator as nodes under these imports name it. */
static const struct fw_op *find_op(struct decode *d, const struct opsets *opsets, const fw_name names[3])
{
    const uint32_t parts[OP_PARTS] = {opsets->number, names[0], names[1], names[2]};
    struct recent_op *recent = &d->recent[(names[0] + opsets->number) % COUNT_OF(d->recent)];
    if (!recent->op || memcmp(recent->parts, parts, sizeof parts) != 0) {
        memcpy(recent->parts, parts, sizeof parts);
        recent->op = op_of(d, opsets, parts);
    }
    return recent->op;
}

/* Room for the node's operands. */
static void make_room(struct decode *d, struct fw_node *n)
{
    size_t count = (size_t)n->n_inputs + n->n_outputs;
    size_t size = count * (sizeof(char *) + sizeof(fw_name)); /* no overflow: each takes two bytes of the file */
    const char **names = arena_alloc(d->memory.graph, align_up(size, sizeof *names));
    n->inputs = names;
    n->outputs = names + n->n_inputs;
    n->ids = (const fw_name *)(const void *)(names + count);
}

/* The fields of a node that name its operands. */
struct operand_fields {
    uint32_t count;
    struct wire_field first[8]; /* of most nodes all of them, which are not looked for again then */
};

static void note_operand(struct operand_fields *fields, const struct wire_field *f)
{
    if (fields->count < COUNT_OF(fields->first))
        fields->first[fields->count] = *f;
    fields->count++;
}

/* Names the operand that comes next, `in` and `out` having been named, when the field is one's. */
static void name_operand(struct decode *d, const struct fw_node *n, const struct wire_field *f, uint32_t *in,
                         uint32_t *out)
{
    const char **names = (const char **)(uintptr_t)n->inputs;
    fw_name *ids = (fw_name *)(uintptr_t)n->ids;
    uint32_t at = 0;
    if (f->number == NODE_INPUT && *in < n->n_inputs)
        at = (*in)++;
    else if (f->number == NODE_OUTPUT && *out < n->n_outputs)
        at = n->n_inputs + (*out)++;
    else
        return;
    ids[at] = decode_name(d, f);
    names[at] = names_text(&d->names, ids[at]);
}

static void name_operands(struct decode *d, const struct wire_field *node, const struct operand_fields *fields,
                          struct fw_node *n)
{
    struct wire w = wire_in(d->file, node);
    struct wire_field f;
    const char **names = (const char **)(uintptr_t)n->inputs;
    const bool all = fields->count <= COUNT_OF(fields->first);
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; all && i < fields->count; i++)
        name_operand(d, n, &fields->first[i], &in, &out);
    while (!all && wire_next(&w, &f))
        name_operand(d, n, &f, &in, &out);
    for (; in < n->n_inputs; in++) /* the file changed meanwhile */
        names[in] = "";
    for (; out < n->n_outputs; out++)
        names[n->n_inputs + out] = "";
}

static void check_node(struct decode *d, const struct fw_node *n)
{
    if (!n->op->type[0])
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(n)), "onnx-node",
                     "the node has no operator type");
    if (n->op->version == 0 && !n->op->domain[0] && !d->missed_opset) {
        d->missed_opset = true;
        decode_error(
            d, ODLC_ERR_INVALID,
            AT(IN_MODEL(d), .node = fw_node_label(n), .hint = "add an opset_import of domain \"\" to the model"),
            "onnx-opset", "the node is of the default domain, but no version of that is imported");
    }
}

/* What the node's fields say of it, and how many operands it has. */
static struct fw_node read_node(struct decode *d, const struct wire_field *node, const struct opsets *opsets,
                                struct operand_fields *operands)
{
    struct wire w = wire_in(d->file, node);
    struct wire_field f;
    fw_name op[3] = {0};
    struct fw_node n = {.name = ""};
    while (wire_next(&w, &f)) {
        n.n_inputs += f.number == NODE_INPUT;
        if (f.number == NODE_OUTPUT && n.n_outputs++ == 0)
            names_expect(&d->names, wire_bytes(d->file, &f), f.size);
        if (f.number == NODE_INPUT || f.number == NODE_OUTPUT)
            note_operand(operands, &f);
        n.n_attrs += f.number == NODE_ATTRIBUTE;
        if (f.number == NODE_NAME)
            n.name = decode_text(d, &f);
        else if (f.number == NODE_OP_TYPE)
            op[0] = decode_name(d, &f);
        else if (f.number == NODE_DOMAIN)
            op[1] = decode_name(d, &f);
        else if (f.number == NODE_OVERLOAD)
            op[2] = decode_name(d, &f);
    }
    n.op = find_op(d, opsets, op);
    return n;
}

static struct fw_node decode_node(struct decode *d, const struct wire_field *node, const struct opsets *opsets)
{
    struct operand_fields operands;
    operands.count = 0;
    struct fw_node n = read_node(d, node, opsets, &operands);
    make_room(d, &n);
    name_operands(d, node, &operands, &n);
    if (n.n_attrs > 0) {
        const struct sections s = wire_sections(d->file, node->content, node->content + node->size);
        n.attrs = decode_attrs(d, &s, NODE_ATTRIBUTE, fw_node_label(&n), opsets);
        check_attr_names(d, &n);
    }
    check_node(d, &n);
    return n;
}

/* ---- graphs ---- */

/* Whether room can be made for as many entries as there are fields. */
static bool check_counts(struct decode *d, const struct sections *s)
{
    size_t most = 0;
    for (size_t i = 0; i < SECTIONS; i++)
        most = s->of[i].count > most ? s->of[i].count : most;
    if (most > FW_MAX_ENTRIES)
        decode_error(d, ODLC_ERR_LIMIT, AT(IN_MODEL(d)), "onnx-graph-size",
                     "a graph or function has %zu nodes, tensors or values, more than %d", most, FW_MAX_ENTRIES);
    return most <= FW_MAX_ENTRIES;
}

/* Room for as many entries as there are fields. */
#define RESERVE(arena, vec, room)                                         \
    do {                                                                  \
        (vec)->data = arena_calloc((arena), (room), sizeof *(vec)->data); \
        (vec)->capacity = (room);                                         \
    } while (0)

static void decode_initializers(struct decode *d, const struct sections *s, struct fw_graph *out)
{
    struct wire w = wire_section(d->file, s, GRAPH_INITIALIZER);
    struct wire_field f;
    struct fw_tensor tensor;
    RESERVE(d->memory.graph, &out->initializers,
            s->of[GRAPH_INITIALIZER].count + s->of[GRAPH_SPARSE_INITIALIZER].count);
    while (wire_next_of(&w, GRAPH_INITIALIZER, &f)) {
        (void)!decode_tensor(d, &f, AT(IN_MODEL(d)), &tensor); /* a name that is known, even so */
        vec_push(d->memory.graph, &out->initializers, tensor);
    }
    w = wire_section(d->file, s, GRAPH_SPARSE_INITIALIZER);
    while (wire_next_of(&w, GRAPH_SPARSE_INITIALIZER, &f))
        if (decode_sparse(d, &f, AT(IN_MODEL(d)), &tensor) == ODLC_OK)
            vec_push(d->memory.graph, &out->initializers, tensor);
    if (s->of[GRAPH_QUANTIZATION].count > 0)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-quantization",
                  "%zu quantization annotations of the model are not used", s->of[GRAPH_QUANTIZATION].count);
}

/* Initializers give some inputs a default, which is then their value. */
static void decode_inputs(struct decode *d, const struct sections *s, struct fw_graph *out)
{
    struct map constant;
    struct wire w = wire_section(d->file, s, GRAPH_INPUT);
    struct wire_field f;
    map_init(&constant, d->memory.scratch);
    for (size_t i = 0; s->of[GRAPH_INPUT].count > 0 && i < out->initializers.count; i++)
        map_put(&constant, out->initializers.data[i].name, 0);
    while (wire_next_of(&w, GRAPH_INPUT, &f)) {
        struct fw_value value = decode_value(d, &f);
        if (map_get(&constant, value.name) == MAP_NONE)
            vec_push(d->memory.graph, &out->inputs, value);
    }
}

void decode_graph(struct decode *d, const struct wire_field *graph, const struct opsets *opsets, struct fw_graph *out)
{
    const struct sections s = wire_sections(d->file, graph->content, graph->content + graph->size);
    struct wire w = wire_section(d->file, &s, GRAPH_NAME);
    struct wire_field f;
    *out = (struct fw_graph){.name = wire_next_of(&w, GRAPH_NAME, &f) ? decode_text(d, &f) : ""};
    if (!check_counts(d, &s))
        return;
    names_reserve(&d->names, s.of[GRAPH_NODE].count + s.of[GRAPH_INITIALIZER].count, graph->size);
    decode_initializers(d, &s, out);
    decode_inputs(d, &s, out);
    RESERVE(d->memory.graph, &out->outputs, s.of[GRAPH_OUTPUT].count);
    w = wire_section(d->file, &s, GRAPH_OUTPUT);
    while (wire_next_of(&w, GRAPH_OUTPUT, &f))
        vec_push(d->memory.graph, &out->outputs, decode_value(d, &f));
    RESERVE(d->memory.graph, &out->values, s.of[GRAPH_VALUE_INFO].count);
    w = wire_section(d->file, &s, GRAPH_VALUE_INFO);
    while (wire_next_of(&w, GRAPH_VALUE_INFO, &f))
        vec_push(d->memory.graph, &out->values, decode_value(d, &f));
    RESERVE(d->memory.graph, &out->nodes, s.of[GRAPH_NODE].count);
    w = wire_section(d->file, &s, GRAPH_NODE);
    while (wire_next_of(&w, GRAPH_NODE, &f))
        vec_push(d->memory.graph, &out->nodes, decode_node(d, &f, opsets));
}

/* ---- functions ---- */

static const char *text_in(struct decode *d, const struct sections *s, uint32_t number)
{
    struct wire w = wire_section(d->file, s, number);
    struct wire_field f;
    return wire_next_of(&w, number, &f) ? names_text(&d->names, decode_name(d, &f)) : "";
}

static void decode_body(struct decode *d, const struct sections *s, const struct opsets *opsets, struct function *out)
{
    struct wire w = wire_section(d->file, s, FUNCTION_NODE);
    struct wire_field f;
    VEC(struct fw_node) nodes = {0};
    VEC(struct fw_value) values = {0};
    while (wire_next_of(&w, FUNCTION_NODE, &f))
        vec_push(d->memory.graph, &nodes, decode_node(d, &f, opsets));
    w = wire_section(d->file, s, FUNCTION_VALUE_INFO);
    while (wire_next_of(&w, FUNCTION_VALUE_INFO, &f))
        vec_push(d->memory.graph, &values, decode_value(d, &f));
    out->nodes = nodes.data;
    out->n_nodes = nodes.count;
    out->values = values.data;
    out->n_values = values.count;
}

static struct function decode_function(struct decode *d, const struct wire_field *f)
{
    const struct sections s = wire_sections(d->file, f->content, f->content + f->size);
    struct opsets opsets;
    if (!check_counts(d, &s))
        return (struct function){.domain = "", .name = "", .overload = ""};
    decode_opsets(d, &s, FUNCTION_OPSET_IMPORT, &opsets);
    struct function out = {
        .domain = decode_domain(text_in(d, &s, FUNCTION_DOMAIN)),
        .name = text_in(d, &s, FUNCTION_NAME),
        .overload = text_in(d, &s, FUNCTION_OVERLOAD),
        .inputs = decode_names(d, &s, FUNCTION_INPUT),
        .outputs = decode_names(d, &s, FUNCTION_OUTPUT),
        .n_inputs = s.of[FUNCTION_INPUT].count,
        .n_outputs = s.of[FUNCTION_OUTPUT].count,
        .attributes = decode_names(d, &s, FUNCTION_ATTRIBUTE),
        .n_attributes = s.of[FUNCTION_ATTRIBUTE].count,
        .n_defaults = s.of[FUNCTION_ATTRIBUTE_PROTO].count,
    };
    decode_body(d, &s, &opsets, &out);
    out.defaults = decode_attrs(d, &s, FUNCTION_ATTRIBUTE_PROTO, out.name, &opsets);
    return out;
}

struct function *decode_functions(struct decode *d, const struct sections *model)
{
    struct function *out = arena_array(d->memory.graph, struct function, model->of[MODEL_FUNCTIONS].count);
    struct wire w = wire_section(d->file, model, MODEL_FUNCTIONS);
    struct wire_field f;
    d->in_function = true;
    for (size_t i = 0; i < model->of[MODEL_FUNCTIONS].count && wire_next_of(&w, MODEL_FUNCTIONS, &f); i++)
        out[i] = decode_function(d, &f);
    d->in_function = false;
    return out;
}
