/* Graphs: from ONNX's messages to the framework graph. Texts and number lists are borrowed from the message tree, which
 * lives in the same arena. */
#include "converters/onnx/decode.h"

#include <inttypes.h>

/* ---- opsets ---- */

const char *decode_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static void warn_of_newer_opset(struct decode *d, int64_t version)
{
    if (version > ONNX_MAX_OPSET && !d->warned_opset)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-opset",
                  "the model uses opset %" PRId64 ", newer than the newest known one, %d, whose meanings are used",
                  version, ONNX_MAX_OPSET);
    d->warned_opset |= version > ONNX_MAX_OPSET;
}

void decode_opsets(struct decode *d, Onnx__OperatorSetIdProto *const *imports, size_t count, struct opsets *out)
{
    map_init(&out->index, d->arena);
    for (size_t i = 0; i < count; i++) {
        const char *domain = decode_domain(imports[i]->domain);
        int64_t version = imports[i]->version;
        if (version <= 0)
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-opset",
                         "the import of domain '%s' has version %" PRId64, domain, version);
        else if (!domain[0])
            warn_of_newer_opset(d, version);
        uint32_t known = map_add(&out->index, domain, (uint32_t)out->versions.count);
        if (known == MAP_NONE)
            vec_push(d->arena, &out->versions, version);
        else if (out->versions.data[known] != version)
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-opset",
                         "domain '%s' is imported with the versions %" PRId64 " and %" PRId64, domain,
                         out->versions.data[known], version);
    }
}

int64_t opsets_version(const struct opsets *opsets, const char *domain)
{
    uint32_t i = map_get(&opsets->index, domain);
    return i == MAP_NONE ? 0 : opsets->versions.data[i];
}

/* ---- declared types ---- */

static const char *text_or_empty(const char *s)
{
    return s ? s : "";
}

static void decode_shape(struct decode *d, const Onnx__TensorShapeProto *shape, struct fw_value *v)
{
    if (shape->n_dim > MAX_RANK) {
        decode_error(d, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(d)), "onnx-rank",
                     "value '%s' has %zu dimensions, more than %d", v->name, shape->n_dim, MAX_RANK);
        return;
    }
    v->has_shape = true;
    v->rank = (uint32_t)shape->n_dim;
    for (uint32_t i = 0; i < v->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        v->dims[i] = dim->has_dim_value ? dim->dim_value : DIM_OPEN; /* some exporters write -1 for open ones, too */
        if (v->dims[i] < DIM_OPEN)
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-shape",
                         "value '%s' has the negative dimension %" PRId64, v->name, v->dims[i]);
        if (v->dims[i] == DIM_OPEN && dim->dim_param && dim->dim_param[0])
            v->symbols[i] = dim->dim_param;
    }
}

static struct fw_value decode_value(struct decode *d, const Onnx__ValueInfoProto *info)
{
    struct fw_value v = {.name = text_or_empty(info->name)};
    const Onnx__TypeProto *type = info->type;
    if (!type)
        return v;
    if (!type->tensor_type) {
        v.not_a_tensor = type->sequence_type || type->map_type || type->opaque_type || type->sparse_tensor_type ||
                         type->optional_type;
        return v;
    }
    const char *name;
    odlc_status known = ODLC_OK;
    if (type->tensor_type->elem_type != 0)
        known = decode_dtype(type->tensor_type->elem_type, &v.dtype, &name);
    if (known == ODLC_ERR_UNSUPPORTED)
        decode_error(d, known, AT(IN_MODEL(d)), "onnx-dtype",
                     "value '%s' has the element type %s, which is not supported", v.name, name);
    else if (known != ODLC_OK)
        decode_error(d, known, AT(IN_MODEL(d)), "onnx-dtype", "value '%s' has the unknown element type %" PRId32,
                     v.name, type->tensor_type->elem_type);
    if (type->tensor_type->shape)
        decode_shape(d, type->tensor_type->shape, &v);
    return v;
}

/* ---- attributes ---- */

static enum fw_attr_kind kind_of(int32_t type)
{
    switch (type) {
    case ONNX__ATTRIBUTE_PROTO__TYPE__FLOAT:
        return FW_FLOAT;
    case ONNX__ATTRIBUTE_PROTO__TYPE__INT:
        return FW_INT;
    case ONNX__ATTRIBUTE_PROTO__TYPE__STRING:
        return FW_STRING;
    case ONNX__ATTRIBUTE_PROTO__TYPE__TENSOR:
        return FW_TENSOR;
    case ONNX__ATTRIBUTE_PROTO__TYPE__GRAPH:
        return FW_GRAPH;
    case ONNX__ATTRIBUTE_PROTO__TYPE__FLOATS:
        return FW_FLOATS;
    case ONNX__ATTRIBUTE_PROTO__TYPE__INTS:
        return FW_INTS;
    case ONNX__ATTRIBUTE_PROTO__TYPE__STRINGS:
        return FW_STRINGS;
    case ONNX__ATTRIBUTE_PROTO__TYPE__SPARSE_TENSOR:
        return FW_SPARSE;
    default:
        return FW_OTHER;
    }
}

/* The one kind of value that the attribute holds, as a bit of enum fw_attr_kind; several bits when it holds several. */
static uint32_t kinds_present(const Onnx__AttributeProto *a)
{
    bool other = a->n_tensors || a->n_graphs || a->tp || a->n_type_protos || a->n_sparse_tensors;
    return (a->has_f ? 1u << FW_FLOAT : 0) | (a->has_i ? 1u << FW_INT : 0) | (a->has_s ? 1u << FW_STRING : 0) |
           (a->t ? 1u << FW_TENSOR : 0) | (a->g ? 1u << FW_GRAPH : 0) | (a->n_floats ? 1u << FW_FLOATS : 0) |
           (a->n_ints ? 1u << FW_INTS : 0) | (a->n_strings ? 1u << FW_STRINGS : 0) |
           (a->sparse_tensor ? 1u << FW_SPARSE : 0) | (other ? 1u << FW_OTHER : 0);
}

/* The kind by the attribute's type, or by its value where an old file gives no type. Writers leave zero values and
 * empty lists out, so a missing value is one of these. */
static odlc_status attr_kind(struct decode *d, const Onnx__AttributeProto *a, const struct odlc_diag *place,
                             enum fw_attr_kind *out)
{
    uint32_t present = kinds_present(a);
    bool single = present && !(present & (present - 1));
    enum fw_attr_kind kind = a->type ? kind_of(a->type) : single ? (enum fw_attr_kind)__builtin_ctz(present) : FW_OTHER;
    if (a->type < 0 || a->type > ONNX__ATTRIBUTE_PROTO__TYPE__TYPE_PROTOS)
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute", "the attribute has the unknown type %" PRId32,
                            a->type);
    bool needs_value = kind == FW_TENSOR || kind == FW_SPARSE || kind == FW_GRAPH || !a->type;
    if (present & ~(1u << kind) || (needs_value && !present))
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute", "the attribute has %s",
                            present ? "a value of another type than it says" : "no value");
    *out = kind;
    return ODLC_OK;
}

static odlc_status decode_strings(struct decode *d, const Onnx__AttributeProto *a, const struct odlc_diag *place,
                                  struct fw_attr *out)
{
    const char **strings = arena_array(d->arena, const char *, a->n_strings);
    for (size_t i = 0; i < a->n_strings; i++) {
        const ProtobufCBinaryData *s = &a->strings[i];
        if (s->len > 0 && memchr(s->data, 0, s->len))
            return decode_error(d, ODLC_ERR_UNSUPPORTED, place, "onnx-nul", "a string of the list holds a NUL byte");
        strings[i] = arena_strndup(d->arena, (const char *)s->data, s->len);
    }
    out->strings = strings;
    out->count = a->n_strings;
    return ODLC_OK;
}

static void decode_attr(struct decode *d, const Onnx__AttributeProto *a, const char *node, const struct opsets *opsets,
                        struct fw_attr *out)
{
    *out = (struct fw_attr){.name = text_or_empty(a->name), .kind = FW_OTHER};
    const struct odlc_diag *place = AT(IN_MODEL(d), .node = node, .attribute = out->name);
    if (a->ref_attr_name && a->ref_attr_name[0]) {
        out->ref = a->ref_attr_name;
        out->kind = kind_of(a->type);
        if (!d->in_function)
            decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute",
                         "the attribute refers to one of a function, but the node is in none");
        return;
    }
    if (attr_kind(d, a, place, &out->kind) != ODLC_OK)
        return;
    switch (out->kind) {
    case FW_INT:
        out->i = a->i;
        break;
    case FW_FLOAT:
        out->f = a->f;
        break;
    case FW_STRING:
        out->s = arena_strndup(d->arena, a->s.data ? (const char *)a->s.data : "", a->s.len);
        out->s_length = a->s.len;
        break;
    case FW_INTS:
        out->ints = a->ints;
        out->count = a->n_ints;
        break;
    case FW_FLOATS:
        out->floats = a->floats;
        out->count = a->n_floats;
        break;
    case FW_STRINGS:
        if (decode_strings(d, a, place, out) != ODLC_OK)
            return;
        break;
    case FW_TENSOR:
    case FW_SPARSE: {
        struct fw_tensor *tensor = arena_new(d->arena, struct fw_tensor);
        bool sparse = out->kind == FW_SPARSE;
        if ((sparse ? decode_sparse(d, a->sparse_tensor, place, tensor) : decode_tensor(d, a->t, place, tensor)) ==
            ODLC_OK)
            out->tensor = tensor;
        break;
    }
    case FW_GRAPH:
        out->graph = arena_new(d->arena, struct fw_graph);
        decode_graph(d, a->g, opsets, out->graph);
        break;
    case FW_OTHER:
        break;
    }
}

/* Attributes are looked up one by one, so their number is bounded. */
#define MAX_ATTRIBUTES 1024

static void check_attr_names(struct decode *d, const struct fw_node *n)
{
    if (n->n_attrs > MAX_ATTRIBUTES) {
        decode_error(d, ODLC_ERR_LIMIT, AT(IN_MODEL(d), .node = fw_node_label(n)), "onnx-attribute",
                     "the node has %zu attributes, more than %d", n->n_attrs, MAX_ATTRIBUTES);
        return;
    }
    for (size_t i = 0; i < n->n_attrs; i++) {
        const char *name = n->attrs[i].name;
        const struct fw_attr *first = fw_find_attr(n, name);
        if (!name[0])
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(n)), "onnx-attribute",
                         "an attribute has no name");
        else if (first != &n->attrs[i])
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(n), .attribute = name),
                         "onnx-attribute", "the attribute is given twice");
    }
}

static const struct fw_attr *decode_attrs(struct decode *d, Onnx__AttributeProto *const *attrs, size_t count,
                                          const char *node, const struct opsets *opsets)
{
    struct fw_attr *out = arena_array(d->arena, struct fw_attr, count);
    for (size_t i = 0; i < count; i++)
        decode_attr(d, attrs[i], node, opsets, &out[i]);
    return out;
}

/* ---- nodes and graphs ---- */

static struct fw_node decode_node(struct decode *d, const Onnx__NodeProto *node, const struct opsets *opsets)
{
    struct fw_node n = {
        .name = text_or_empty(node->name),
        .op_type = text_or_empty(node->op_type),
        .domain = decode_domain(node->domain),
        .overload = text_or_empty(node->overload),
        .inputs = (const char **)node->input,
        .outputs = (const char **)node->output,
        .n_inputs = node->n_input,
        .n_outputs = node->n_output,
        .n_attrs = node->n_attribute,
    };
    n.version = opsets_version(opsets, n.domain);
    n.attrs = decode_attrs(d, node->attribute, node->n_attribute, fw_node_label(&n), opsets);
    check_attr_names(d, &n);
    if (!n.op_type[0])
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(&n)), "onnx-node",
                     "the node has no operator type");
    if (n.version == 0 && !n.domain[0] && !d->missed_opset) {
        d->missed_opset = true;
        decode_error(
            d, ODLC_ERR_INVALID,
            AT(IN_MODEL(d), .node = fw_node_label(&n), .hint = "add an opset_import of domain \"\" to the model"),
            "onnx-opset", "the node is of the default domain, but no version of that is imported");
    }
    return n;
}

static void decode_initializers(struct decode *d, const Onnx__GraphProto *g, struct fw_graph *out)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        struct fw_tensor tensor;
        if (decode_tensor(d, g->initializer[i], AT(IN_MODEL(d)), &tensor) == ODLC_OK)
            vec_push(d->arena, &out->initializers, tensor);
        else
            vec_push(d->arena, &out->initializers, (struct fw_tensor){.name = text_or_empty(g->initializer[i]->name)});
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        struct fw_tensor tensor;
        if (decode_sparse(d, g->sparse_initializer[i], AT(IN_MODEL(d)), &tensor) == ODLC_OK)
            vec_push(d->arena, &out->initializers, tensor);
    }
    if (g->n_quantization_annotation > 0)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-quantization",
                  "%zu quantization annotations of the model are not used", g->n_quantization_annotation);
}

/* Initializers give some inputs a default, which is then their value. */
static void decode_inputs(struct decode *d, const Onnx__GraphProto *g, struct fw_graph *out)
{
    struct map constant;
    map_init(&constant, d->arena);
    for (size_t i = 0; i < out->initializers.count; i++)
        map_put(&constant, out->initializers.data[i].name, 0);
    for (size_t i = 0; i < g->n_input; i++) {
        struct fw_value value = decode_value(d, g->input[i]);
        if (map_get(&constant, value.name) == MAP_NONE)
            vec_push(d->arena, &out->inputs, value);
    }
}

void decode_graph(struct decode *d, const Onnx__GraphProto *graph, const struct opsets *opsets, struct fw_graph *out)
{
    *out = (struct fw_graph){.name = text_or_empty(graph->name)};
    decode_initializers(d, graph, out);
    decode_inputs(d, graph, out);
    for (size_t i = 0; i < graph->n_output; i++)
        vec_push(d->arena, &out->outputs, decode_value(d, graph->output[i]));
    for (size_t i = 0; i < graph->n_value_info; i++)
        vec_push(d->arena, &out->values, decode_value(d, graph->value_info[i]));
    for (size_t i = 0; i < graph->n_node; i++)
        vec_push(d->arena, &out->nodes, decode_node(d, graph->node[i], opsets));
}

struct function *decode_functions(struct decode *d, Onnx__FunctionProto *const *functions, size_t count)
{
    struct function *out = arena_array(d->arena, struct function, count);
    d->in_function = true;
    for (size_t i = 0; i < count; i++) {
        const Onnx__FunctionProto *f = functions[i];
        struct opsets opsets = {0};
        decode_opsets(d, f->opset_import, f->n_opset_import, &opsets);
        struct fw_node *nodes = arena_array(d->arena, struct fw_node, f->n_node);
        for (size_t k = 0; k < f->n_node; k++)
            nodes[k] = decode_node(d, f->node[k], &opsets);
        struct fw_value *values = arena_array(d->arena, struct fw_value, f->n_value_info);
        for (size_t k = 0; k < f->n_value_info; k++)
            values[k] = decode_value(d, f->value_info[k]);
        out[i] = (struct function){
            .domain = decode_domain(f->domain),
            .name = text_or_empty(f->name),
            .overload = text_or_empty(f->overload),
            .inputs = (const char *const *)f->input,
            .outputs = (const char *const *)f->output,
            .n_inputs = f->n_input,
            .n_outputs = f->n_output,
            .attributes = (const char *const *)f->attribute,
            .n_attributes = f->n_attribute,
            .defaults = decode_attrs(d, f->attribute_proto, f->n_attribute_proto, f->name, &opsets),
            .n_defaults = f->n_attribute_proto,
            .nodes = nodes,
            .n_nodes = f->n_node,
            .values = values,
            .n_values = f->n_value_info,
        };
    }
    d->in_function = false;
    return out;
}
