/* SPDX-License-Identifier: Apache-2.0 */
/* AttrValue, into the form that both front ends share. */
#include "converters/tensorflow/decode/tf_attr.h"

#include <string.h>

#include "converters/tensorflow/decode/tensor_shape.h"
#include "converters/tensorflow/decode/tf_tensor.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_types.h"

/* Functions are attributes of functions, in turn: a name with attributes. */
enum { MAX_NESTING = 32 };

/* What the attributes of one node are decoded with. */
struct attrs {
    struct tf_model *m;
    const char *node;
    const struct fw_attr *given; /* of the call around */
    size_t n_given;
    uint32_t depth;
    bool took_given;
};

typedef VEC(struct fw_attr) attr_list;

static odlc_status decode_entry(struct attrs *a, const struct wire_field *entry, uint32_t number, attr_list *out);

static odlc_status bad_attr(const struct attrs *a, const char *name, const char *what)
{
    return diag_error(a->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(a->m), .node = a->node, .attribute = name),
                      "tensorflow-attribute", "attribute %s %s", name, what);
}

const char *tf_shared_text(struct tf_model *m, const struct wire_field *f)
{
    enum { LONGEST = 32 };
    const char *bytes = wire_bytes(m->file, f);
    if (f->size == 0 || f->size > LONGEST)
        return tf_text(m, f);
    uint32_t hash = (uint32_t)f->size;
    for (uint64_t i = 0; i < f->size; i++)
        hash = hash * 31 + (uint8_t)bytes[i];
    const char **shared = &m->shared[hash % TF_SHARED_TEXTS];
    if (!*shared || strlen(*shared) != f->size || memcmp(*shared, bytes, f->size) != 0)
        *shared = tf_text(m, f);
    return *shared;
}

/* ---- shapes ---- */

/* A shape of unknown rank has no form here: FW_OTHER. */
static odlc_status decode_shape_attr(struct attrs *a, const struct wire_field *f, struct fw_attr *out)
{
    struct fw_value v = {0};
    TRY(tf_decode_shape(a->m, f, a->node, &v));
    out->kind = v.has_shape ? FW_INTS : FW_OTHER;
    out->count = v.rank;
    out->ints = arena_memdup(a->m->memory.kept, v.dims, v.rank * sizeof *v.dims);
    return ODLC_OK;
}

/* ---- lists ---- */

static odlc_status decode_strings(struct attrs *a, const struct wire_field *list, struct fw_attr *out)
{
    struct wire w = wire_in(a->m->file, list);
    struct wire_field f;
    VEC(const char *) strings = {0};
    while (wire_next_of(&w, ATTR_S, &f)) {
        if (f.size > 0 && memchr(wire_bytes(a->m->file, &f), 0, f.size))
            return bad_attr(a, out->name, "has a string with a NUL byte");
        vec_push(a->m->memory.kept, &strings, tf_text(a->m, &f));
    }
    out->kind = FW_STRINGS;
    out->strings = strings.data;
    out->count = strings.count;
    return ODLC_OK;
}

static odlc_status decode_numbers(struct attrs *a, const struct wire_field *list, uint32_t number, struct fw_attr *out)
{
    struct wire_list numbers = wire_list_of(wire_in(a->m->file, list), number, number == ATTR_F ? sizeof(float) : 0);
    uint64_t count = wire_list_count(numbers), bits;
    if (count == UINT64_MAX)
        return bad_attr(a, out->name, "has a broken list of values");
    int64_t *ints = arena_array(a->m->memory.kept, int64_t, number == ATTR_F ? 0 : count);
    float *floats = arena_array(a->m->memory.kept, float, number == ATTR_F ? count : 0);
    for (uint64_t i = 0; i < count && wire_list_next(&numbers, &bits); i++) {
        uint32_t low = (uint32_t)bits;
        if (number == ATTR_F)
            memcpy(&floats[i], &low, sizeof low);
        else
            ints[i] = (int64_t)bits;
    }
    out->count = count;
    out->kind = number == ATTR_F ? FW_FLOATS : FW_INTS;
    if (number == ATTR_F)
        out->floats = floats;
    else
        out->ints = ints;
    return ODLC_OK;
}

/* An empty list does not say of what it is one. */
static odlc_status decode_list(struct attrs *a, const struct wire_field *list, struct fw_attr *out)
{
    const struct sections s = wire_sections(a->m->file, list->content, list->content + list->size);
    static const uint32_t numbers[] = {ATTR_I, ATTR_F, ATTR_B, ATTR_TYPE};
    if (s.of[ATTR_S].count)
        return decode_strings(a, list, out);
    out->is_type = s.of[ATTR_TYPE].count > 0;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (s.of[numbers[i]].count)
            return decode_numbers(a, list, numbers[i], out);
    bool empty = !s.of[ATTR_SHAPE].count && !s.of[ATTR_TENSOR].count && !s.of[LIST_FUNC].count;
    return empty ? decode_numbers(a, list, ATTR_I, out) : ODLC_OK;
}

/* ---- single values ---- */

static odlc_status decode_function_attr(struct attrs *a, const struct wire_field *func, struct fw_attr *out)
{
    struct fw_function *function = arena_new(a->m->memory.graph, struct fw_function);
    struct wire w = wire_in(a->m->file, func);
    struct wire_field f;
    attr_list attrs = {0};
    if (a->depth == MAX_NESTING)
        return bad_attr(a, out->name,
                        arena_printf(a->m->diags->arena, "nests functions deeper than %d levels", MAX_NESTING));
    function->name = "";
    a->depth++;
    while (wire_next(&w, &f)) {
        if (f.number == FUNC_NAME)
            function->name = tf_text(a->m, &f);
        else if (f.number == FUNC_ATTR)
            TRY(decode_entry(a, &f, ENTRY_VALUE, &attrs));
        if (attrs.count > TF_MAX_ATTRS)
            return bad_attr(a, out->name,
                            arena_printf(a->m->diags->arena, "gives a function more than %d attributes", TF_MAX_ATTRS));
    }
    a->depth--;
    function->attrs = attrs.data;
    function->n_attrs = (uint32_t)attrs.count;
    out->kind = FW_FUNCTION;
    out->function = function;
    return ODLC_OK;
}

/* A tensor of a type that has no form here is left to who needs the attribute: FW_OTHER, with the
 * type's number. */
static odlc_status decode_tensor_attr(struct attrs *a, const struct wire_field *f, struct fw_attr *out)
{
    const enum dtype dtype = tf_tensor_dtype(a->m, f, &out->i);
    const bool is_complex = tf_part_dtype(out->i) != DT_NONE;
    if (dtype == DT_NONE && !is_complex && out->i > 0)
        return ODLC_OK;
    struct fw_tensor *tensor = arena_new(a->m->memory.graph, struct fw_tensor);
    if (is_complex)
        TRY(tf_decode_complex(a->m, f, a->node, &tensor->view));
    else
        TRY(tf_decode_tensor(a->m, f, a->node, &tensor->view));
    tensor->name = a->node;
    out->kind = is_complex ? FW_COMPLEX : FW_TENSOR;
    out->tensor = tensor;
    return ODLC_OK;
}

/* The value that the call around gives an attribute of its function's body; its name stays. */
static void take_given(struct attrs *a, const struct wire_field *f, struct fw_attr *out)
{
    const char *wanted = tf_text(a->m, f), *name = out->name;
    a->took_given = true;
    for (size_t i = 0; i < a->n_given; i++)
        if (strcmp(a->given[i].name, wanted) == 0)
            *out = a->given[i];
    out->name = name;
}

static odlc_status decode_value(struct attrs *a, const struct wire_field *f, struct fw_attr *out)
{
    uint32_t bits;
    switch (f->number) {
    case ATTR_LIST:
        return decode_list(a, f, out);
    case ATTR_S:
        out->kind = FW_STRING;
        out->s = tf_shared_text(a->m, f);
        out->count = f->size;
        return ODLC_OK;
    case ATTR_I:
    case ATTR_TYPE:
        out->kind = FW_INT;
        out->is_type = f->number == ATTR_TYPE;
        out->i = (int64_t)f->value;
        return ODLC_OK;
    case ATTR_F:
        bits = (uint32_t)load_le(a->m->file->data + f->content, sizeof bits);
        out->kind = FW_FLOAT;
        memcpy(&out->f, &bits, sizeof bits);
        return ODLC_OK;
    case ATTR_B:
        out->kind = FW_BOOL;
        out->i = f->value != 0;
        return ODLC_OK;
    case ATTR_SHAPE:
        return decode_shape_attr(a, f, out);
    case ATTR_TENSOR:
        return decode_tensor_attr(a, f, out);
    case ATTR_FUNC:
        return decode_function_attr(a, f, out);
    case ATTR_PLACEHOLDER:
        take_given(a, f, out);
        return ODLC_OK;
    default:
        return ODLC_OK;
    }
}

/* The name and the place of the value of an entry; a value that is left out is one of the type's zero. */
static struct wire_field entry_value(struct tf_model *m, const struct wire_field *entry, uint32_t number,
                                     const char **name)
{
    struct wire w = wire_in(m->file, entry);
    struct wire_field f, value = {.content = entry->content};
    *name = "";
    while (wire_next(&w, &f)) {
        if (f.number == ENTRY_KEY)
            *name = tf_shared_text(m, &f);
        else if (f.number == number)
            value = f;
    }
    return value;
}

#define OUTPUT_SHAPES "_output_shapes"

/* Attributes that say nothing of the operation: hints to runtimes, and what tools note. */
static bool is_note(const char *name)
{
    return name[0] == '_';
}

/* A list of functions, which is no kind of attribute, becomes attributes name:0, name:1, … */
static odlc_status decode_functions(struct attrs *a, const struct wire_field *list, const char *name, attr_list *out)
{
    struct wire w = wire_in(a->m->file, list);
    struct wire_field f;
    for (uint32_t i = 0; wire_next_of(&w, LIST_FUNC, &f); i++) {
        struct fw_attr attr = {.name = arena_printf(a->m->memory.kept, "%s:%u", name, i)};
        TRY(decode_function_attr(a, &f, &attr));
        vec_push(a->m->memory.graph, out, attr);
    }
    return ODLC_OK;
}

/* The value is in the field of that number. */
static odlc_status decode_entry(struct attrs *a, const struct wire_field *entry, uint32_t number, attr_list *out)
{
    struct fw_attr attr = {.kind = FW_OTHER};
    struct wire_field value = entry_value(a->m, entry, number, &attr.name), f;
    struct wire w = wire_in(a->m->file, &value);
    a->m->says_shapes |= strcmp(attr.name, OUTPUT_SHAPES) == 0;
    if (is_note(attr.name))
        return ODLC_OK;
    while (wire_next(&w, &f)) {
        TRY(decode_value(a, &f, &attr));
        if (f.number == ATTR_LIST)
            TRY(decode_functions(a, &f, attr.name, out));
    }
    vec_push(a->m->memory.graph, out, attr);
    return ODLC_OK;
}

/* Most nodes say what a node before them said, byte by byte: the place of those that may be the same. */
static struct tf_said_attrs *said_attrs(struct tf_model *m, const struct section *attrs)
{
    enum { LONGEST = 256 };
    const uint64_t size = attrs->to - attrs->from;
    const uint8_t *bytes = m->file->data + attrs->from;
    if (size == 0 || size > LONGEST)
        return NULL;
    uint32_t hash = 0;
    for (uint64_t i = 0; i < size; i++)
        hash = hash * 31 + bytes[i];
    return &m->said[hash % TF_SAID_ATTRS];
}

static bool says_the_same(const struct tf_model *m, const struct tf_said_attrs *said, const struct section *attrs)
{
    return said && said->list && said->size == attrs->to - attrs->from &&
           memcmp(m->file->data + said->from, m->file->data + attrs->from, said->size) == 0;
}

/* Tensors have their node's name, and what a call gives is another thing for another call. */
static bool is_for_all(const struct attrs *a, const attr_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i].kind == FW_TENSOR || list->data[i].kind == FW_FUNCTION)
            return false;
    return list->count > 0 && !a->took_given;
}

odlc_status tf_decode_attrs(struct tf_model *m, const struct tf_node *n, const struct fw_attr *given, size_t n_given,
                            const struct fw_attr **out, uint32_t *count, bool *varies)
{
    struct attrs a = {.m = m, .node = n->name, .given = given, .n_given = n_given};
    struct wire w = wire_of(m->file, n->attrs.from, n->attrs.to);
    struct wire_field f;
    attr_list list = {0};
    struct tf_said_attrs *said = said_attrs(m, &n->attrs);
    *varies = false;
    if (says_the_same(m, said, &n->attrs)) {
        *out = said->list;
        *count = said->count;
        return ODLC_OK;
    }
    if (n->attrs.count > 0) { /* of many nodes: as many as there are */
        list.data = arena_array(m->memory.graph, struct fw_attr, n->attrs.count);
        list.capacity = n->attrs.count;
    }
    while (wire_next_of(&w, NODE_ATTR, &f))
        TRY(decode_entry(&a, &f, ENTRY_VALUE, &list));
    *varies = a.took_given;
    *out = list.data;
    *count = (uint32_t)list.count;
    if (said && is_for_all(&a, &list))
        *said = (struct tf_said_attrs){n->attrs.from, n->attrs.to - n->attrs.from, *out, *count};
    return ODLC_OK;
}

odlc_status tf_decode_defaults(struct tf_model *m, const struct wire_field *op_def, const char *op,
                               const struct fw_attr **out, uint32_t *count)
{
    struct attrs a = {.m = m, .node = op};
    struct wire w = wire_in(m->file, op_def);
    struct wire_field f, given;
    attr_list list = {0};
    while (wire_next_of(&w, OP_DEF_ATTR, &f)) {
        struct wire in = wire_in(m->file, &f);
        if (wire_next_of(&in, ATTR_DEF_DEFAULT, &given))
            TRY(decode_entry(&a, &f, ATTR_DEF_DEFAULT, &list));
    }
    *out = list.data;
    *count = (uint32_t)list.count;
    return ODLC_OK;
}

odlc_status tf_decode_output_shapes(struct tf_model *m, const struct tf_node *n, size_t first, struct fw_value *v,
                                    size_t count)
{
    struct wire w = wire_of(m->file, n->attrs.from, n->attrs.to);
    struct wire_field f, list;
    const char *name;
    while (wire_next_of(&w, NODE_ATTR, &f)) {
        struct wire_field value = entry_value(m, &f, ENTRY_VALUE, &name);
        struct wire in = wire_in(m->file, &value);
        if (strcmp(name, OUTPUT_SHAPES) != 0 || !wire_next_of(&in, ATTR_LIST, &list))
            continue;
        struct wire shapes = wire_in(m->file, &list);
        struct wire_field shape;
        for (size_t i = 0; i < first + count && wire_next_of(&shapes, ATTR_SHAPE, &shape); i++)
            if (i >= first)
                TRY(tf_decode_shape(m, &shape, n->name, &v[i - first]));
    }
    return ODLC_OK;
}
