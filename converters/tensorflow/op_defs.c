#include "converters/tensorflow/op_defs.h"

#include <stdlib.h>
#include <string.h>

#include "converters/defaults.h"
#include "converters/lower.h"
#include "converters/tensorflow/types.h"
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
#define TF_OP(name, ...) \
    {(name), (const struct tf_output_def[]){__VA_ARGS__}, COUNT_OF(((const struct tf_output_def[]){__VA_ARGS__}))},
#include "converters/tensorflow/op_defs.def"
};

#define VALUE_TYPE(name) VALUE_INT(DATA_TYPE(name))
#define TF_DEFAULT(name, attribute, kind, ...) \
    {.op = (name), .attr = (attribute), .hi = LATEST, VALUE_##kind(__VA_ARGS__)},

static const struct default_row defaults[] = {
#include "converters/tensorflow/schema_defaults.def"
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

/* How many outputs there are of an argument, or UINT32_MAX when attributes do not say that. */
static uint32_t count_of(const struct op_node *n, const struct tf_output_def *o)
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

static int64_t type_of(const struct op_node *n, const struct tf_output_def *o, uint64_t index)
{
    const struct fw_attr *list = o->type_list ? find_attr(n, o->type_list) : NULL;
    if (o->type_list)
        return list->ints[index]; /* it was counted */
    return o->type ? integer_of(n, o->type) : o->code;
}

enum dtype tf_output_dtype(const char *op, const struct fw_attr *attrs, size_t n_attrs, uint32_t output)
{
    const struct op_node n = {op, attrs, n_attrs};
    const struct tf_op_def *def = tf_find_op(op);
    uint64_t before = 0;
    for (size_t i = 0; def && i < def->n_outputs; i++) {
        uint32_t count = count_of(&n, &def->outputs[i]);
        if (count == UINT32_MAX)
            return DT_NONE;
        if (output < before + count)
            return tf_dtype(type_of(&n, &def->outputs[i], output - before));
        before += count;
    }
    return DT_NONE;
}
