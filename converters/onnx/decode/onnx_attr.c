/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes: from ONNX's messages to the framework graph. */
#include "converters/onnx/decode/onnx_attr.h"

#include <inttypes.h>

#include "converters/onnx/decode/onnx_graph.h"
#include "converters/onnx/decode/onnx_sparse.h"
#include "converters/onnx/decode/onnx_tensor.h"

/* An attribute as it stands in the file. */
struct attr_message {
    fw_name name;
    int32_t type;
    struct sections s;
    float f;
    int64_t i;
    struct wire_field string, tensor, graph, sparse, ref; /* number 0: there is none */
};

static enum fw_attr_kind kind_of(int32_t type)
{
    switch (type) {
    case ATTR_TYPE_FLOAT:
        return FW_FLOAT;
    case ATTR_TYPE_INT:
        return FW_INT;
    case ATTR_TYPE_STRING:
        return FW_STRING;
    case ATTR_TYPE_TENSOR:
        return FW_TENSOR;
    case ATTR_TYPE_GRAPH:
        return FW_GRAPH;
    case ATTR_TYPE_FLOATS:
        return FW_FLOATS;
    case ATTR_TYPE_INTS:
        return FW_INTS;
    case ATTR_TYPE_STRINGS:
        return FW_STRINGS;
    case ATTR_TYPE_SPARSE_TENSOR:
        return FW_SPARSE;
    default:
        return FW_OTHER;
    }
}

/* A packed list may be there without any. */
static bool has_elements(const struct decode *d, const struct attr_message *a, uint32_t number)
{
    struct wire w = wire_section(d->file, &a->s, number);
    struct wire_field f;
    while (wire_next_of(&w, number, &f))
        if (f.size > 0)
            return true;
    return false;
}

/* The one kind of value that the attribute holds, as a bit of enum fw_attr_kind; several bits when it holds several. */
static uint32_t kinds_present(const struct decode *d, const struct attr_message *a)
{
    static const struct {
        uint8_t field, kind;
    } kinds[] = {{ATTR_F, FW_FLOAT},
                 {ATTR_I, FW_INT},
                 {ATTR_S, FW_STRING},
                 {ATTR_T, FW_TENSOR},
                 {ATTR_G, FW_GRAPH},
                 {ATTR_FLOATS, FW_FLOATS},
                 {ATTR_INTS, FW_INTS},
                 {ATTR_STRINGS, FW_STRINGS},
                 {ATTR_SPARSE_TENSOR, FW_SPARSE},
                 {ATTR_TENSORS, FW_OTHER},
                 {ATTR_GRAPHS, FW_OTHER},
                 {ATTR_TYPE_PROTO, FW_OTHER},
                 {ATTR_TYPE_PROTOS, FW_OTHER},
                 {ATTR_SPARSE_TENSORS, FW_OTHER}};
    uint32_t present = 0;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (a->s.of[kinds[i].field].count > 0)
            present |= 1u << kinds[i].kind;
    present &= has_elements(d, a, ATTR_FLOATS) ? UINT32_MAX : ~(1u << FW_FLOATS);
    present &= has_elements(d, a, ATTR_INTS) ? UINT32_MAX : ~(1u << FW_INTS);
    return present;
}

static struct attr_message read_message(struct decode *d, const struct wire_field *attr)
{
    struct attr_message a = {.s = wire_sections(d->file, attr->content, attr->content + attr->size)};
    struct wire w = wire_in(d->file, attr);
    struct wire_field f;
    uint32_t bits;
    while (wire_next(&w, &f)) {
        struct wire_field *message = f.number == ATTR_S               ? &a.string
                                     : f.number == ATTR_T             ? &a.tensor
                                     : f.number == ATTR_G             ? &a.graph
                                     : f.number == ATTR_SPARSE_TENSOR ? &a.sparse
                                     : f.number == ATTR_REF           ? &a.ref
                                                                      : NULL;
        if (message)
            *message = f;
        else if (f.number == ATTR_NAME)
            a.name = decode_name(d, &f);
        else if (f.number == ATTR_TYPE)
            a.type = (int32_t)f.value;
        else if (f.number == ATTR_I)
            a.i = (int64_t)f.value;
        else if (f.number == ATTR_F && f.type == WIRE_FIXED32) {
            bits = (uint32_t)load_le(d->file->data + f.content, 4);
            memcpy(&a.f, &bits, sizeof bits);
        }
    }
    return a;
}

/* The kind by the attribute's type, or by its value where an old file gives no type. Writers leave zero values and
 * empty lists out, so a missing value is one of these. */
static odlc_status attr_kind(struct decode *d, const struct attr_message *a, const struct odlc_diag *place,
                             enum fw_attr_kind *out)
{
    uint32_t present = kinds_present(d, a);
    bool single = present && !(present & (present - 1));
    enum fw_attr_kind kind = a->type ? kind_of(a->type) : single ? (enum fw_attr_kind)__builtin_ctz(present) : FW_OTHER;
    if (a->type < 0 || a->type > ATTR_TYPE_TYPE_PROTOS)
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute", "the attribute has the unknown type %" PRId32,
                            a->type);
    bool needs_value = kind == FW_TENSOR || kind == FW_SPARSE || kind == FW_GRAPH || !a->type;
    if (present & ~(1u << kind) || (needs_value && !present))
        return decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute", "the attribute has %s",
                            present ? "a value of another type than it says" : "no value");
    *out = kind;
    return ODLC_OK;
}

static void decode_strings(struct decode *d, const struct attr_message *a, const struct odlc_diag *place,
                           struct fw_attr *out)
{
    struct wire w = wire_section(d->file, &a->s, ATTR_STRINGS);
    struct wire_field f;
    VEC(const char *) strings = {0};
    while (wire_next_of(&w, ATTR_STRINGS, &f)) {
        if (f.size > 0 && memchr(wire_bytes(d->file, &f), 0, f.size)) {
            decode_error(d, ODLC_ERR_UNSUPPORTED, place, "onnx-nul", "a string of the list holds a NUL byte");
            return;
        }
        vec_push(d->memory.kept, &strings, decode_text(d, &f));
    }
    out->strings = strings.data;
    out->count = strings.count;
}

static void decode_ints(struct decode *d, const struct attr_message *a, struct fw_attr *out)
{
    struct wire_list list = wire_list_of(wire_section(d->file, &a->s, ATTR_INTS), ATTR_INTS, 0);
    uint64_t value;
    for (struct wire_list counted = list; wire_list_next(&counted, &value);)
        out->count++;
    int64_t *ints = arena_array(d->memory.kept, int64_t, out->count);
    for (size_t i = 0; i < out->count && wire_list_next(&list, &value); i++)
        ints[i] = (int64_t)value;
    out->ints = ints;
}

static void decode_floats(struct decode *d, const struct attr_message *a, struct fw_attr *out)
{
    struct wire w = wire_section(d->file, &a->s, ATTR_FLOATS), again = w;
    struct wire_field f;
    while (wire_next_of(&w, ATTR_FLOATS, &f))
        out->count += f.size / sizeof(float);
    float *floats = arena_array(d->memory.kept, float, out->count);
    size_t done = 0;
    while (wire_next_of(&again, ATTR_FLOATS, &f) && f.size / sizeof(float) <= out->count - done) {
        memcpy(floats + done, wire_bytes(d->file, &f), f.size / sizeof(float) * sizeof(float));
        done += f.size / sizeof(float);
    }
    out->floats = floats;
}

static void decode_tensor_attr(struct decode *d, const struct attr_message *a, const struct odlc_diag *place,
                               struct fw_attr *out)
{
    struct fw_tensor *tensor = arena_new(d->memory.graph, struct fw_tensor);
    odlc_status status = out->kind == FW_SPARSE ? decode_sparse(d, &a->sparse, place, tensor)
                                                : decode_tensor(d, &a->tensor, place, tensor);
    out->tensor = status == ODLC_OK ? tensor : NULL;
}

static void decode_value_of(struct decode *d, const struct attr_message *a, const struct odlc_diag *place,
                            const struct opsets *opsets, struct fw_attr *out)
{
    switch (out->kind) {
    case FW_INT:
        out->i = a->i;
        break;
    case FW_FLOAT:
        out->f = a->f;
        break;
    case FW_STRING:
        out->s = decode_text(d, &a->string);
        out->count = a->string.size;
        break;
    case FW_INTS:
        decode_ints(d, a, out);
        break;
    case FW_FLOATS:
        decode_floats(d, a, out);
        break;
    case FW_STRINGS:
        decode_strings(d, a, place, out);
        break;
    case FW_TENSOR:
    case FW_SPARSE:
        decode_tensor_attr(d, a, place, out);
        break;
    case FW_GRAPH:
        out->graph = arena_new(d->memory.graph, struct fw_graph);
        decode_graph(d, &a->graph, opsets, out->graph);
        break;
    case FW_BOOL: /* no attribute of ONNX is one of these */
    case FW_FUNCTION:
    case FW_COMPLEX:
    case FW_OTHER:
        break;
    }
}

static struct fw_attr decode_attr(struct decode *d, const struct wire_field *attr, const char *node,
                                  const struct opsets *opsets)
{
    const struct attr_message a = read_message(d, attr);
    struct fw_attr out = {.name = names_text(&d->names, a.name), .kind = FW_OTHER};
    const struct odlc_diag *place = AT(IN_MODEL(d), .node = node, .attribute = out.name);
    if (a.ref.size > 0) {
        out.ref = names_text(&d->names, decode_name(d, &a.ref));
        out.kind = kind_of(a.type);
        if (!d->in_function)
            decode_error(d, ODLC_ERR_INVALID, place, "onnx-attribute",
                         "the attribute refers to one of a function, but the node is in none");
        return out;
    }
    if (attr_kind(d, &a, place, &out.kind) == ODLC_OK)
        decode_value_of(d, &a, place, opsets, &out);
    return out;
}

const struct fw_attr *decode_attrs(struct decode *d, const struct sections *s, uint32_t number, const char *node,
                                   const struct opsets *opsets)
{
    struct fw_attr *out = arena_array(d->memory.graph, struct fw_attr, s->of[number].count);
    struct wire w = wire_section(d->file, s, number);
    struct wire_field f;
    for (size_t i = 0; i < s->of[number].count && wire_next_of(&w, number, &f); i++)
        out[i] = decode_attr(d, &f, node, opsets);
    return out;
}

/* Attributes are looked up one by one, so their number is bounded. */
#define MAX_ATTRIBUTES 1024

void check_attr_names(struct decode *d, const struct fw_node *n)
{
    if (n->n_attrs > MAX_ATTRIBUTES) {
        decode_error(d, ODLC_ERR_LIMIT, AT(IN_MODEL(d), .node = fw_node_label(n)), "onnx-attribute",
                     "the node has %u attributes, more than %d", n->n_attrs, MAX_ATTRIBUTES);
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
