/* SPDX-License-Identifier: Apache-2.0 */
/* What ONNX's own definitions say of the element types of operands. */
#include "converters/onnx/schema/operand_types.h"

#include <stdlib.h>
#include <string.h>

#include "converters/onnx/schema/onnx_schema_defaults.h"
#include "converters/onnx/schema/onnx_types.h"

struct type_row {
    const char *op;
    int64_t lo, hi;
    const char *in, *out; /* a letter an operand, as operand_types.def says */
};

#define ONNX_TYPES(name, first, last, inputs, outputs) {(name), (first), (last), (inputs), (outputs)},

static const struct type_row rows[] = {
#include "converters/onnx/schema/operand_types.def"
};

static int by_op(const void *a, const void *b)
{
    const struct type_row *x = a, *y = b;
    return strcmp(x->op, y->op);
}

const void *onnx_types_of(const struct fw_op *op)
{
    const struct type_row key = {.op = op->type};
    const struct type_row *row = *op->domain ? NULL : bsearch(&key, rows, COUNT_OF(rows), sizeof rows[0], by_op);
    while (row && row > rows && by_op(row - 1, &key) == 0)
        row--;
    for (; row && row < rows + COUNT_OF(rows) && by_op(row, &key) == 0; row++)
        if (row->lo <= op->version && op->version <= row->hi)
            return row;
    return NULL;
}

/* The letter of operand i, or '.' past the last one. */
static char letter_of(const char *letters, uint32_t i)
{
    size_t count = strlen(letters);
    bool many = count > 0 && letters[count - 1] == '+';
    count -= many;
    if (count == 0)
        return '.';
    return i < count ? letters[i] : many ? letters[count - 1] : '.';
}

static enum dtype fixed_type(char letter)
{
    switch (letter) {
    case 'f':
        return DT_FLOAT32;
    case 'd':
        return DT_FLOAT64;
    case 'h':
        return DT_FLOAT16;
    case 'i':
        return DT_INT32;
    case 'l':
        return DT_INT64;
    case 'b':
        return DT_BOOL;
    case 'u':
        return DT_UINT8;
    case 's':
        return DT_STRING;
    default:
        return DT_NONE;
    }
}

static bool is_variable(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

enum { VARIABLES = 26 };

/* The operands that are known say what the variables are. */
static void bind_variables(const char *letters, const uint8_t *types, uint32_t count, uint8_t bound[VARIABLES])
{
    for (uint32_t i = 0; i < count; i++) {
        char letter = letter_of(letters, i);
        if (is_variable(letter) && bound[letter - 'A'] == DT_NONE && types[i] != TYPE_REAL)
            bound[letter - 'A'] = types[i];
    }
}

static void fill(const char *letters, uint8_t *types, uint32_t count, const uint8_t bound[VARIABLES])
{
    for (uint32_t i = 0; i < count; i++) {
        char letter = letter_of(letters, i);
        if (types[i] != DT_NONE && types[i] != TYPE_REAL)
            continue;
        if (!is_variable(letter))
            types[i] = letter == '.' ? types[i] : (uint8_t)fixed_type(letter);
        else if (bound[letter - 'A'] != DT_NONE)
            types[i] = bound[letter - 'A'];
        else if (letter >= 'N')
            types[i] = TYPE_REAL;
    }
}

/* The type that an attribute of the node, or its default, is the number of. */
static enum dtype named_type(const struct fw_node *n)
{
    static const char *const names[] = {"to", "dtype", "output_datatype", "output_dtype"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct fw_attr *a = fw_find_attr(n, names[i]);
        struct param p;
        int64_t code = 0;
        enum dtype dtype;
        const char *name;
        if (a)
            code = a->kind == FW_INT && !a->ref ? a->i : 0;
        else if (onnx_schema_default(n->op->type, n->op->version, names[i], &p) && p.dtype == DT_INT64 && !p.is_tensor)
            code = p.i;
        if (code > 0 && onnx_dtype(code, &dtype, &name) == ODLC_OK)
            return dtype;
    }
    return DT_NONE;
}

/* The type of a result that is not that of any input. */
static enum dtype free_type(const struct fw_node *n, const uint8_t *in)
{
    const struct fw_attr *value = fw_find_attr(n, "value");
    enum dtype named = named_type(n);
    if (named != DT_NONE)
        return named;
    if (value && fw_attr_tensor(value))
        return fw_attr_tensor(value)->view.dtype;
    if (strcmp(n->op->type, "ConstantOfShape") == 0)
        return DT_FLOAT32;
    if (strcmp(n->op->type, "QuantizeLinear") == 0) /* without a zero point */
        return DT_UINT8;
    bool like_input = fw_has_suffix(n->op->type, "Like") || strcmp(n->op->type, "Bernoulli") == 0;
    return like_input && n->n_inputs > 0 ? (enum dtype)in[0] : DT_NONE;
}

void onnx_operand_types(const struct fw_node *n, uint8_t *in, uint8_t *out)
{
    const struct type_row *row = n->op->types;
    uint8_t bound[VARIABLES] = {DT_NONE};
    if (!row)
        return;
    bind_variables(row->in, in, n->n_inputs, bound);
    bind_variables(row->out, out, n->n_outputs, bound);
    char first = letter_of(row->out, 0);
    bool is_free = is_variable(first) && !strchr(row->in, first);
    bool absent = strcmp(n->op->type, "QuantizeLinear") == 0 && (n->n_inputs < 3 || !*n->inputs[2]);
    if ((is_free || absent) && bound[first - 'A'] == DT_NONE)
        bound[first - 'A'] = (uint8_t)free_type(n, in);
    fill(row->in, in, n->n_inputs, bound);
    fill(row->out, out, n->n_outputs, bound);
}
