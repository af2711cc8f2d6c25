/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise ops of one operand, and Cast. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

/* ---- types ---- */

static odlc_status infer_not(const struct infer *c)
{
    if (infer_in(c, 0)->dtype != DT_BOOL)
        return infer_error(c, "an input of type %s is not bool", dtype_info(infer_in(c, 0)->dtype)->name);
    return infer_same(c);
}

/* The target type is that of the output and nowhere else: whoever adds a Cast gives it (build_cast). */
static odlc_status infer_cast(const struct infer *c)
{
    const struct tensor *out = c->node->outputs ? node_output(c->graph, c->node, 0) : NULL;
    if (!out)
        return infer_error(c, "the type to cast to is not given");
    if (infer_in(c, 0)->dtype == DT_STRING || out->type->dtype == DT_STRING)
        return infer_error(c, "strings cannot be cast");
    if (dtype_is_small_float(out->type->dtype) && !dtype_is_float8(out->type->dtype))
        return infer_error(c, "there are no %s results", dtype_info(out->type->dtype)->name);
    c->out[0] = (struct type){.dtype = out->type->dtype, .shape = infer_in(c, 0)->shape};
    return ODLC_OK;
}

/* ---- rows ---- */

#define UNARY_ROW(op_name, code, types)                                                                \
    {                                                                                                  \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Eltwise_Unary", .selector = "eltwise_type", \
        .operation = code, .has_operation = true, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,  \
        .max_outputs = 1, .infer = types, .permute = permute_any, .cut = cut_broadcast                 \
    }

const struct op op_rows_unary[] = {
    UNARY_ROW(ElementWiseAbs, 0, infer_numeric),
    UNARY_ROW(ElementWiseNeg, 8, infer_numeric),
    UNARY_ROW(ElementWiseSign, 13, infer_numeric),
    UNARY_ROW(ElementWiseAsin, 1, infer_real),
    UNARY_ROW(ElementWiseAtan, 2, infer_real),
    UNARY_ROW(ElementWiseCeil, 3, infer_real),
    UNARY_ROW(ElementWiseCos, 4, infer_real),
    UNARY_ROW(ElementWiseExp, 5, infer_real),
    UNARY_ROW(ElementWiseFloor, 6, infer_real),
    UNARY_ROW(ElementWiseLog, 7, infer_real),
    UNARY_ROW(ElementWiseReciprocal, 10, infer_real),
    UNARY_ROW(ElementWiseRound, 11, infer_real),
    UNARY_ROW(ElementWiseRsqrt, 12, infer_real),
    UNARY_ROW(ElementWiseSin, 14, infer_real),
    UNARY_ROW(ElementWiseSquareRoot, 15, infer_real),
    UNARY_ROW(ElementWiseNot, 9, infer_not),
    {.id = OP_Cast,
     .name = "Cast",
     .dlc_type = "Cast",
     .min_inputs = 1,
     .max_inputs = 1,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_cast,
     .permute = permute_any,
     .cut = cut_broadcast,
     .may_copy = true},
};
const size_t op_rows_unary_count = COUNT_OF(op_rows_unary);
