/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators that work element by element, and are or become the container's elementwise ops. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

/* ---- two operands ---- */

/* Before opset 7, `broadcast` aligns the axes of B with those of A from `axis` on (default: the last ones). */
static odlc_status align_legacy_operand(struct lower *l, tensor_id a, tensor_id *b)
{
    const struct shape *to = &build_type(l->b, a)->shape, *from = &build_type(l->b, *b)->shape;
    int64_t broadcast, axis;
    uint32_t first;
    TRY(lower_attr_int(l, "broadcast", 0, &broadcast));
    if (!broadcast && !shape_equal(to, from))
        return lower_invalid(l, "broadcast", NULL, "the operands %s and %s differ in shape without broadcast = 1",
                             shape_text(l->diags->arena, to), shape_text(l->diags->arena, from));
    struct shape both;
    if (!broadcast || shape_count(from) == 1 || !lower_has_attr(l, "axis")) {
        if (from->rank > to->rank || !shape_broadcast(to, from, &both) || !shape_equal(to, &both))
            return lower_invalid(l, "broadcast", NULL, "%s does not fit into %s", shape_text(l->diags->arena, from),
                                 shape_text(l->diags->arena, to));
        return ODLC_OK;
    }
    TRY(lower_attr_int(l, "axis", 0, &axis));
    TRY(lower_axis(l, "axis", axis, to->rank, &first));
    if (from->rank > to->rank - first)
        return lower_invalid(l, "axis", NULL, "%s does not fit into %s from axis %u on",
                             shape_text(l->diags->arena, from), shape_text(l->diags->arena, to), first);
    struct shape aligned = *from;
    while (aligned.rank < to->rank - first)
        aligned.dims[aligned.rank++] = 1;
    return build_reshape(l->b, *b, &aligned, step_name(l, "aligned"), b);
}

static odlc_status operands(struct lower *l, tensor_id *a, tensor_id *b)
{
    TRY(lower_need(l, 0, "A", a));
    TRY(lower_need(l, 1, "B", b));
    return l->version < 7 ? align_legacy_operand(l, *a, b) : ODLC_OK;
}

odlc_status lower_binary(struct lower *l)
{
    tensor_id a, b;
    TRY(operands(l, &a, &b));
    return emit_end_binary(&(struct emit){.l = l}, l->op, a, b);
}

odlc_status lower_mod(struct lower *l)
{
    int64_t fmod_attr;
    tensor_id a, b;
    TRY(lower_attr_int(l, "fmod", 0, &fmod_attr));
    TRY(operands(l, &a, &b));
    enum op_id op = fmod_attr ? OP_ElementWiseFmod : OP_ElementWiseMod;
    return emit_end_binary(&(struct emit){.l = l}, op, a, b);
}

/* ---- any number of operands: a chain ---- */

/* Before opset 8 the operands have one shape. */
static odlc_status check_legacy_shapes(const struct lower *l)
{
    for (uint32_t i = 1; l->version < 8 && i < l->n_in; i++) {
        const struct shape *first = &build_type(l->b, l->in[0])->shape, *shape = &build_type(l->b, l->in[i])->shape;
        if (!shape_equal(first, shape))
            return lower_invalid(l, NULL, "broadcasting came with opset 8",
                                 "inputs 0 and %u differ in shape: %s and %s", i, shape_text(l->diags->arena, first),
                                 shape_text(l->diags->arena, shape));
    }
    return ODLC_OK;
}

static odlc_status chain(struct lower *l, enum op_id op, bool ends_here, tensor_id *out)
{
    struct emit s = {.l = l};
    for (uint32_t i = 1; i < l->n_in; i++)
        TRY(lower_need(l, i, "data", out));
    TRY(lower_need(l, 0, "data", out));
    TRY(check_legacy_shapes(l));
    for (uint32_t i = 1; i < l->n_in; i++) {
        if (ends_here && i + 1 == l->n_in)
            return emit_end_binary(&s, op, *out, l->in[i]);
        *out = emit_binary(&s, op, *out, l->in[i]);
        TRY(s.status);
    }
    return ODLC_OK;
}

odlc_status lower_variadic(struct lower *l)
{
    return chain(l, l->op, true, &l->out[0]);
}

odlc_status lower_mean(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id sum;
    TRY(chain(l, OP_ElementWiseAdd, false, &sum));
    if (l->n_in == 1) {
        l->out[0] = sum;
        return ODLC_OK;
    }
    return emit_end_binary(&s, OP_ElementWiseDivide, sum, emit_scalar(&s, sum, l->n_in));
}

odlc_status lower_where(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id condition, yes, no;
    TRY(lower_need(l, 0, "condition", &condition));
    TRY(lower_need(l, 1, "X", &yes));
    TRY(lower_need(l, 2, "Y", &no));
    return emit_end_select(&s, condition, yes, no);
}

/* ---- one operand ---- */

odlc_status lower_unary(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    return emit_end_unary(&(struct emit){.l = l}, l->op, x);
}

odlc_status lower_reciprocal(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    return emit_end_binary(&s, OP_ElementWiseDivide, emit_scalar(&s, x, 1), x);
}

/* A NaN is what differs from itself. */
odlc_status lower_is_nan(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    return emit_end_binary(&s, OP_ElementWiseNotEqual, x, x);
}

odlc_status lower_is_inf(struct lower *l)
{
    struct emit s = {.l = l};
    int64_t negative, positive;
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_attr_int(l, "detect_negative", 1, &negative));
    TRY(lower_attr_int(l, "detect_positive", 1, &positive));
    if (!negative && !positive) /* nothing is below itself */
        return emit_end_binary(&s, OP_ElementWiseLess, x, x);
    if (negative && positive)
        x = emit_unary(&s, OP_ElementWiseAbs, x);
    TRY(s.status);
    return emit_end_binary(&s, OP_ElementWiseEqual, x, emit_scalar(&s, x, positive ? INFINITY : -INFINITY));
}
