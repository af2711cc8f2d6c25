/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/decode/op_defs.h"

#include <stdlib.h>
#include <string.h>

#include "converters/frontend/defaults.h"
#include "converters/tensorflow/schema/merge_sides.h"
#include "converters/tensorflow/schema/tf_types.h"
#include "tensorflow.pb-c.h"

/* ---- the tables ---- */

#define DATA_TYPE(name) TENSORFLOW__DATA_TYPE__DT_##name

static const struct tf_op_def ops[] = {
#define ONE(arg, attribute)                \
    {                                      \
        .name = (arg), .type = (attribute) \
    }
#define ONE_OF(arg, kind)                      \
    {                                          \
        .name = (arg), .code = DATA_TYPE(kind) \
    }
#define MANY(arg, number, attribute)                          \
    {                                                         \
        .name = (arg), .count = (number), .type = (attribute) \
    }
#define MANY_OF(arg, number, kind)                                \
    {                                                             \
        .name = (arg), .count = (number), .code = DATA_TYPE(kind) \
    }
#define LISTED(arg, attribute)                  \
    {                                           \
        .name = (arg), .type_list = (attribute) \
    }
#define TF_OP(name, ...)                                  \
    {.op = (name),                                        \
     .outputs = (const struct tf_arg_def[]){__VA_ARGS__}, \
     .n_outputs = COUNT_OF(((const struct tf_arg_def[]){__VA_ARGS__}))},
#include "converters/tensorflow/decode/op_defs.def"
};

struct input_defs {
    const char *op;
    const struct tf_arg_def *inputs;
    size_t n_inputs;
};

#define TF_INPUTS(name, ...) \
    {(name), (const struct tf_arg_def[]){__VA_ARGS__}, COUNT_OF(((const struct tf_arg_def[]){__VA_ARGS__}))},

static const struct input_defs inputs[] = {
#include "converters/tensorflow/decode/op_inputs.def"
};

#define VALUE_TYPE(name) VALUE_INT(DATA_TYPE(name))
#define TF_DEFAULT(name, attribute, kind, ...) \
    {.op = (name), .attr = (attribute), .hi = INT64_MAX, VALUE_##kind(__VA_ARGS__)},

static const struct default_row defaults[] = {
#include "converters/tensorflow/decode/tf_schema_defaults.def"
};

bool tensorflow_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out)
{
    (void)version;
    return default_find(defaults, COUNT_OF(defaults), op_type, 0, attr, out);
}

/* ---- outputs ---- */

static int by_op(const void *a, const void *b)
{
    const struct tf_op_def *x = a, *y = b;
    return strcmp(x->op, y->op);
}

const struct tf_op_def *tf_find_op(const char *op)
{
    struct tf_op_def key = {.op = op};
    return bsearch(&key, ops, COUNT_OF(ops), sizeof ops[0], by_op);
}

struct op_node {
    const char *op;
    const struct fw_attr *attrs;
    size_t n_attrs;
};

static const struct fw_attr *find_attr(const struct op_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0)
            return &n->attrs[i];
    return NULL;
}

/* The integer (a type is one, too) that the attribute is, or -1. */
static int64_t integer_of(const struct op_node *n, const char *name)
{
    const struct fw_attr *a = find_attr(n, name);
    struct param p;
    if (a)
        return a->kind == FW_INT && !a->ref ? a->i : -1;
    return tensorflow_schema_default(n->op, 0, name, &p) && p.dtype == DT_INT64 && !p.is_tensor ? p.i : -1;
}

/* How many operands there are of an argument, or UINT32_MAX when attributes do not say that. */
static uint32_t count_of(const struct op_node *n, const struct tf_arg_def *o)
{
    const struct fw_attr *list = o->type_list ? find_attr(n, o->type_list) : NULL;
    if (o->type_list)
        return list && list->kind == FW_INTS && !list->ref ? (uint32_t)list->count : UINT32_MAX;
    int64_t count = o->count ? integer_of(n, o->count) : 1;
    return count < 0 || count > INT32_MAX ? UINT32_MAX : (uint32_t)count;
}

enum tf_found tf_output_index(const struct tf_op_def *def, const struct fw_attr *attrs, size_t n_attrs, const char *arg,
                              uint32_t index, uint32_t *out)
{
    const struct op_node n = {def ? def->op : "", attrs, n_attrs};
    uint64_t before = 0;
    for (size_t i = 0; def && i < def->n_outputs; i++) {
        uint32_t count = count_of(&n, &def->outputs[i]);
        if (count == UINT32_MAX)
            return TF_NOT_FOUND;
        if (strcmp(def->outputs[i].name, arg) == 0) {
            bool found = index < count && before + index <= UINT32_MAX;
            if (found)
                *out = (uint32_t)(before + index);
            return found ? TF_FOUND : TF_NOT_FOUND;
        }
        before += count;
    }
    return def ? TF_NOT_FOUND : TF_UNKNOWN_OP;
}

static int64_t type_of(const struct op_node *n, const struct tf_arg_def *o, uint64_t index)
{
    const struct fw_attr *list = o->type_list ? find_attr(n, o->type_list) : NULL;
    if (o->type_list)
        return list->ints[index]; /* it was counted */
    return o->type ? integer_of(n, o->type) : o->code;
}

/* The type of operand `index` among those of the arguments. */
static enum dtype type_among(const struct op_node *n, const struct tf_arg_def *args, size_t n_args, uint32_t index)
{
    uint64_t before = 0;
    for (size_t i = 0; i < n_args; i++) {
        uint32_t count = count_of(n, &args[i]);
        if (count == UINT32_MAX)
            return DT_NONE;
        if (index < before + count)
            return tf_dtype(type_of(n, &args[i], index - before));
        before += count;
    }
    return DT_NONE;
}

enum dtype tf_output_dtype(const char *op, const struct fw_attr *attrs, size_t n_attrs, uint32_t output)
{
    const struct op_node n = {op, attrs, n_attrs};
    const struct tf_op_def *def = tf_find_op(op);
    return def ? type_among(&n, def->outputs, def->n_outputs, output) : DT_NONE;
}

static int inputs_by_op(const void *a, const void *b)
{
    const struct input_defs *x = a, *y = b;
    return strcmp(x->op, y->op);
}

/* Goes through arguments and operands once: a model may have many of both. */
static void fill_types(const struct op_node *n, const struct tf_arg_def *args, size_t n_args, uint8_t *types,
                       uint32_t count)
{
    uint32_t at = 0;
    for (size_t i = 0; i < n_args && at < count; i++) {
        const uint32_t many = count_of(n, &args[i]);
        if (many == UINT32_MAX)
            return;
        const struct fw_attr *list = args[i].type_list ? find_attr(n, args[i].type_list) : NULL;
        const enum dtype one = list ? DT_NONE : tf_dtype(type_of(n, &args[i], 0));
        for (uint32_t k = 0; k < many && at < count; k++, at++)
            if (types[at] == DT_NONE)
                types[at] = (uint8_t)(list ? tf_dtype(list->ints[k]) : one);
    }
}

const void *tf_types_of(const char *op)
{
    const struct input_defs key = {.op = op};
    return bsearch(&key, inputs, COUNT_OF(inputs), sizeof inputs[0], inputs_by_op);
}

uint32_t tf_input_count(const struct fw_node *n)
{
    const struct op_node node = {n->op->type, n->attrs, n->n_attrs};
    const struct input_defs *known = n->op->types;
    uint64_t count = 0;
    if (find_attr(&node, MERGE_SIDES)) /* it has an input more */
        return UINT32_MAX;
    for (size_t i = 0; known && i < known->n_inputs; i++) {
        const uint32_t many = count_of(&node, &known->inputs[i]);
        count = many == UINT32_MAX || count + many > UINT32_MAX ? UINT32_MAX : count + many;
        if (count == UINT32_MAX)
            break;
    }
    return known ? (uint32_t)count : UINT32_MAX;
}

void tf_operand_types(const struct fw_node *n, uint8_t *in, uint8_t *out)
{
    const struct op_node node = {n->op->type, n->attrs, n->n_attrs};
    const struct tf_op_def *def = tf_find_op(n->op->type);
    const struct input_defs *known = n->op->types;
    if (!def && !known)
        def = n->op->definition;
    if (known)
        fill_types(&node, known->inputs, known->n_inputs, in, n->n_inputs);
    else if (def)
        fill_types(&node, def->inputs, def->n_inputs, in, n->n_inputs);
    if (def)
        fill_types(&node, def->outputs, def->n_outputs, out, n->n_outputs);
}

/* "Tout" and the like say what comes out; "T" is the type of everything, mostly. */
void tf_likely_types(const struct fw_node *n, uint8_t *out)
{
    static const char *const names[] = {"Tout",   "out_type",     "output_type", "output_types", "out_types", "dtype",
                                        "dtypes", "output_dtype", "out_dtype",   "DstT",         "T"};
    const struct op_node node = {n->op->type, n->attrs, n->n_attrs};
    const struct fw_attr *a = NULL;
    if (tf_find_op(n->op->type) || n->op->definition)
        return;
    for (size_t i = 0; i < COUNT_OF(names) && !a; i++) {
        a = find_attr(&node, names[i]);
        a = a && a->is_type && !a->ref ? a : NULL;
    }
    for (uint32_t k = 0; a && k < n->n_outputs; k++)
        if (a->kind == FW_INT)
            out[k] = (uint8_t)tf_dtype(a->i);
        else if (k < a->count)
            out[k] = (uint8_t)tf_dtype(a->ints[k]);
}
