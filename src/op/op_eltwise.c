/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise ops of two and three operands, broadcast as numpy does. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

/* ---- types ---- */

static bool is_number(enum dtype dtype)
{
    return dtype_is_float(dtype) || dtype_is_int(dtype) || dtype_is_fixed(dtype);
}

static odlc_status broadcast(const struct infer *c, const struct shape *a, const struct shape *b, struct shape *out)
{
    if (shape_broadcast(a, b, out))
        return ODLC_OK;
    return infer_error(c, "the shapes %s and %s do not broadcast", shape_text(c->diags->arena, a),
                       shape_text(c->diags->arena, b));
}

/* Quantized operands may differ in width, and stand beside floats: their encodings say what they mean. */
static odlc_status need_same_kind(const struct infer *c, const struct type *a, const struct type *b)
{
    if (can_stand_together(a->dtype, b->dtype))
        return ODLC_OK;
    return infer_error(c, "the operands' types %s and %s differ", dtype_info(a->dtype)->name,
                       dtype_info(b->dtype)->name);
}

static odlc_status infer_arithmetic(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    TRY(need_same_kind(c, a, b));
    if (!is_number(a->dtype))
        return infer_error(c, "operands of type %s are not numbers", dtype_info(a->dtype)->name);
    c->out[0].dtype = a->dtype;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_power(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    if (!is_number(a->dtype) || !is_number(b->dtype))
        return infer_error(c, "operands of type %s and %s are not numbers", dtype_info(a->dtype)->name,
                           dtype_info(b->dtype)->name);
    c->out[0].dtype = a->dtype;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_comparison(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    TRY(need_same_kind(c, a, b));
    if (a->dtype == DT_STRING)
        return infer_error(c, "strings cannot be compared");
    c->out[0].dtype = DT_BOOL;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_logical(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    if (a->dtype != DT_BOOL || b->dtype != DT_BOOL)
        return infer_error(c, "operands of type %s and %s are not bool", dtype_info(a->dtype)->name,
                           dtype_info(b->dtype)->name);
    c->out[0].dtype = DT_BOOL;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_select(const struct infer *c)
{
    const struct type *condition = infer_in(c, 0), *yes = infer_in(c, 1), *no = infer_in(c, 2);
    if (condition->dtype != DT_BOOL)
        return infer_error(c, "the condition is %s, not bool", dtype_info(condition->dtype)->name);
    TRY(need_same_kind(c, yes, no));
    if (yes->dtype == DT_STRING)
        return infer_error(c, "strings cannot be selected");
    struct shape values;
    TRY(broadcast(c, &yes->shape, &no->shape, &values));
    c->out[0].dtype = yes->dtype;
    return broadcast(c, &condition->shape, &values, &c->out[0].shape);
}

static odlc_status infer_prelu(const struct infer *c)
{
    const struct type *in = infer_in(c, 0), *slope = infer_in(c, 1);
    TRY(need_same_kind(c, in, slope));
    if (!is_number(in->dtype))
        return infer_error(c, "an input of type %s is not numbers", dtype_info(in->dtype)->name);
    struct shape both;
    c->out[0] = *in;
    TRY(broadcast(c, &in->shape, &slope->shape, &both));
    /* A promoted scalar has rank 1 while its slope may be of any rank with one element. */
    if (shape_count(&both) != shape_count(&in->shape))
        return infer_error(c, "the slope's shape %s does not broadcast to %s",
                           shape_text(c->diags->arena, &slope->shape), shape_text(c->diags->arena, &in->shape));
    return ODLC_OK;
}

/* ---- rows ---- */

#define BINARY_ROW(op_name, code, types, wraps)                                                           \
    {                                                                                                     \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Eltwise_Binary", .selector = "eltwise_type",   \
        .operation = code, .has_operation = true, .min_inputs = 2, .max_inputs = 2, .min_outputs = 1,     \
        .max_outputs = 1, .infer = types, .permute = permute_any, .cut = cut_broadcast, .may_wrap = wraps \
    }

const struct op op_rows_eltwise[] = {
    BINARY_ROW(ElementWiseAdd, 0, infer_arithmetic, true),
    BINARY_ROW(ElementWiseDivide, 2, infer_arithmetic, false),
    BINARY_ROW(ElementWiseFloorDiv, 4, infer_arithmetic, false),
    BINARY_ROW(ElementWiseFmod, 5, infer_arithmetic, false),
    BINARY_ROW(ElementWiseMaximum, 10, infer_arithmetic, false),
    BINARY_ROW(ElementWiseMinimum, 11, infer_arithmetic, false),
    BINARY_ROW(ElementWiseMod, 12, infer_arithmetic, false),
    BINARY_ROW(ElementWiseMultiply, 13, infer_arithmetic, true),
    BINARY_ROW(ElementWiseSquaredDifference, 17, infer_arithmetic, true),
    BINARY_ROW(ElementWiseSubtract, 18, infer_arithmetic, true),
    BINARY_ROW(ElementWiseEqual, 3, infer_comparison, false),
    BINARY_ROW(ElementWiseGreater, 6, infer_comparison, false),
    BINARY_ROW(ElementWiseGreaterEqual, 7, infer_comparison, false),
    BINARY_ROW(ElementWiseLess, 8, infer_comparison, false),
    BINARY_ROW(ElementWiseLessEqual, 9, infer_comparison, false),
    BINARY_ROW(ElementWiseNotEqual, 14, infer_comparison, false),
    BINARY_ROW(ElementWiseAnd, 1, infer_logical, false),
    BINARY_ROW(ElementWiseOr, 15, infer_logical, false),
    BINARY_ROW(ElementWiseXor, 19, infer_logical, false),
    BINARY_ROW(ElementWisePower, 16, infer_power, true),
    {.id = OP_ElementWiseSelect,
     .name = "ElementWiseSelect",
     .dlc_type = "Eltwise_Ternary",
     .selector = "eltwise_type",
     .min_inputs = 3,
     .max_inputs = 3,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_select,
     .permute = permute_any,
     .cut = cut_broadcast},
    {.id = OP_Prelu,
     .name = "Prelu",
     .dlc_type = "Prelu",
     .min_inputs = 2,
     .max_inputs = 2,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_prelu,
     .permute = permute_any,
     .cut = cut_broadcast},
};
const size_t op_rows_eltwise_count = COUNT_OF(op_rows_eltwise);
