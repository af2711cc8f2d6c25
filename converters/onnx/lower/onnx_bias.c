/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of ONNX Runtime that add a bias first: BiasAdd, BiasSoftmax; what they share with others. */
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"

odlc_status contrib_flag(const struct lower *l, const char *name, bool absent, bool *out)
{
    int64_t number;
    TRY(lower_attr_int(l, name, absent, &number));
    *out = number == 1;
    if (number != 0 && number != 1)
        return lower_invalid(l, name, NULL, "%s is %lld, neither 0 nor 1", name, (long long)number);
    return ODLC_OK;
}

odlc_status contrib_line(struct lower *l, uint32_t i, const char *what, int64_t count, tensor_id *out)
{
    struct shape line = SHAPE(count);
    TRY(lower_need(l, i, what, out));
    const struct shape *shape = &build_type(l->b, *out)->shape;
    if (!shape_equal(shape, &line))
        return lower_invalid(l, NULL, NULL, "%s is %s instead of %s", what, shape_text(l->diags->arena, shape),
                             shape_text(l->diags->arena, &line));
    return ODLC_OK;
}

odlc_status contrib_known(const struct lower *l, uint32_t i, const char *what, int64_t count, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    TRY(lower_need_const(l, i, what, "its numbers are weights"));
    const struct shape *shape = &build_type(l->b, *out)->shape;
    if (shape_count(shape) != (uint64_t)count)
        return lower_invalid(l, NULL, NULL, "%s %s does not have %lld elements", what,
                             shape_text(l->diags->arena, shape), (long long)count);
    return ODLC_OK;
}

odlc_status contrib_block_sizes(const struct lower *l, int64_t *rows, int64_t *columns, int64_t *block)
{
    TRY(lower_attr_int(l, "K", 0, columns));
    TRY(lower_attr_int(l, "N", 0, rows));
    TRY(lower_attr_int(l, "block_size", 0, block));
    if (*columns < 1 || *columns > INT32_MAX || *rows < 1 || *rows > INT32_MAX)
        return lower_invalid(l, "K", NULL, "there are no weights [%lld,%lld]", (long long)*rows, (long long)*columns);
    if (*block < 16 || *block > INT32_MAX || (*block & (*block - 1)) != 0)
        return lower_invalid(l, "block_size", NULL, "a block size of %lld is not possible", (long long)*block);
    return ODLC_OK;
}

odlc_status contrib_add_bias(struct emit *s, tensor_id x, uint32_t i, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id bias;
    const struct type *type = build_type(l->b, x);
    if (type->shape.rank == 0)
        return lower_invalid(l, NULL, NULL, "a scalar has no axis for a bias");
    TRY(contrib_line(l, i, "bias", type->shape.dims[type->shape.rank - 1], &bias));
    *out = emit_binary(s, OP_ElementWiseAdd, x, bias);
    return s->status;
}

/* X + bias + skip */
odlc_status lower_bias_add(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, skip, sum;
    TRY(lower_need(l, 0, "X", &x));
    TRY(lower_need(l, 2, "skip", &skip));
    const struct shape *in = &build_type(l->b, x)->shape, *more = &build_type(l->b, skip)->shape;
    if (in->rank != 3 || !shape_equal(in, more))
        return lower_invalid(l, NULL, NULL, "X %s and skip %s are not of one shape of three axes",
                             shape_text(l->diags->arena, in), shape_text(l->diags->arena, more));
    TRY(contrib_add_bias(&s, x, 1, &sum));
    return emit_end_binary(&s, OP_ElementWiseAdd, sum, skip);
}

/* ---- BiasSoftmax ---- */

/* Before the axis the bias repeats its last axes, `inner`, or its first ones: these are 1, the others those of data. */
static bool bias_fits(const struct shape *data, const struct shape *bias, uint32_t axis, bool inner)
{
    uint32_t lacking = data->rank - bias->rank;
    bool changed = false;
    for (uint32_t i = 0; i < data->rank; i++) {
        int64_t dim = i < lacking ? 1 : bias->dims[i - lacking];
        bool whole = dim == data->dims[i];
        if (!whole && (dim != 1 || i >= axis))
            return false;
        if (i >= axis || data->dims[i] == 1)
            continue;
        changed |= whole != inner;
        if (changed && whole == inner)
            return false;
    }
    return true;
}

odlc_status lower_bias_softmax(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, bias;
    int64_t axis_attr, inner;
    uint32_t axis;
    TRY(lower_need(l, 0, "data", &x));
    TRY(lower_need(l, 1, "bias", &bias));
    TRY(lower_attr_int(l, "axis", 1, &axis_attr));
    TRY(lower_attr_int(l, "is_inner_broadcast", -1, &inner));
    const struct shape shape = build_type(l->b, x)->shape, more = build_type(l->b, bias)->shape;
    TRY(lower_axis(l, "axis", axis_attr, shape.rank, &axis));
    if (inner != 0 && inner != 1)
        return lower_invalid(l, "is_inner_broadcast", NULL, "it is neither 0 nor 1");
    if (more.rank > shape.rank || !bias_fits(&shape, &more, axis, inner == 1))
        return lower_invalid(l, "is_inner_broadcast", NULL, "a bias %s does not fit %s with axis %u",
                             shape_text(l->diags->arena, &more), shape_text(l->diags->arena, &shape), axis);
    struct shape rows =
        SHAPE((int64_t)shape_count_range(&shape, 0, axis), (int64_t)shape_count_range(&shape, axis, shape.rank));
    tensor_id sum = emit_binary(&s, OP_ElementWiseAdd, x, bias);
    bool last = axis == shape.rank - 1;
    tensor_id y = emit_softmax(&s, last ? sum : emit_reshape(&s, sum, &rows), last ? axis : 1);
    return emit_give(&s, 0, emit_reshape(&s, y, &shape));
}
