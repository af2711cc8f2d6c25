/* The attribute defaults of ONNX's default domain, as a sorted table. */
#include "converters/lower.h"
#include "converters/onnx/onnx.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

struct default_row {
    const char *op, *attr;
    int64_t lo, hi; /* opset versions */
    enum dtype dtype;
    uint32_t count; /* of a list; 0: a single value */
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const char *const *strings;
};

#define VALUE_INT(value) .dtype = DT_INT64, .i = (value)
#define VALUE_FLOAT(value) .dtype = DT_FLOAT32, .f = (value)
#define VALUE_STRING(value) .dtype = DT_STRING, .s = (value)
#define VALUE_INTS(...)                                                                         \
    .dtype = DT_INT64, .count = COUNT_OF(((int64_t[]){__VA_ARGS__})), .ints = (const int64_t[]) \
    {                                                                                           \
        __VA_ARGS__                                                                             \
    }
#define VALUE_STRINGS(...)                                                                                   \
    .dtype = DT_STRING, .count = COUNT_OF(((const char *[]){__VA_ARGS__})), .strings = (const char *const[]) \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define ONNX_DEFAULT(name, attribute, first, last, kind, ...) \
    {.op = (name), .attr = (attribute), .lo = (first), .hi = (last), VALUE_##kind(__VA_ARGS__)},

static const struct default_row rows[] = {
#include "converters/onnx/schema_defaults.def"
};

static int by_attribute(const void *a, const void *b)
{
    const struct default_row *x = a, *y = b;
    int order = strcmp(x->op, y->op);
    return order ? order : strcmp(x->attr, y->attr);
}

static struct param param_of(const struct default_row *row)
{
    struct param p = {.set = true, .name = row->attr, .dtype = row->dtype, .i = row->i, .f = row->f, .s = row->s};
    if (row->count > 0) {
        p.is_tensor = true;
        p.shape = SHAPE(row->count);
        p.ints = row->ints;
        p.strings = row->strings;
    }
    return p;
}

bool onnx_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out)
{
    struct default_row key = {.op = op_type, .attr = attr};
    const struct default_row *row = bsearch(&key, rows, COUNT_OF(rows), sizeof rows[0], by_attribute);
    if (!row)
        return false;
    while (row > rows && by_attribute(row - 1, &key) == 0)
        row--;
    for (; row < rows + COUNT_OF(rows) && by_attribute(row, &key) == 0; row++) {
        if (row->lo <= version && version <= row->hi) {
            *out = param_of(row);
            return true;
        }
    }
    return false;
}
