/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/pads.h"

#include "converters/lowering/shapes.h"

odlc_status lower_pad_value(const struct lower *l, uint32_t i, const char *what, enum dtype dtype, struct pads *p)
{
    uint32_t count;
    const double *real = NULL;
    const int64_t *whole = NULL;
    if (dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "strings cannot be padded with a constant");
    if (dtype_is_float(dtype))
        TRY(lower_const_floats(l, i, what, &real, &count));
    else
        TRY(lower_const_ints(l, i, what, &whole, &count));
    if (count > 1)
        return lower_invalid(l, what, NULL, "%s has %u elements", what, count);
    p->value = (struct param){.usage = 1, .name = "pad_constant_value"};
    p->value.dtype = dtype_is_float(dtype) ? DT_FLOAT32 : DT_INT32;
    if (real && count)
        p->value.f = real[0];
    if (whole && count)
        p->value.i = whole[0];
    if (p->value.i < INT32_MIN || p->value.i > INT32_MAX)
        return lower_unsupported(l, what, NULL, "the constant %lld does not fit int32", (long long)p->value.i);
    return ODLC_OK;
}

/* Where the element `at` places from the start of an axis comes from, when the axis goes on for ever in this mode. */
static int64_t repeated(enum pad_mode mode, int64_t at, int64_t dim)
{
    int64_t period = mode == MODE_WRAP ? dim : max_i64(2 * (dim - 1), 1);
    int64_t within = (at % period + period) % period;
    return within < dim ? within : period - within;
}

static odlc_status pad_by_position(const struct lower *l, tensor_id *in, enum pad_mode mode, uint32_t axis,
                                   int64_t before, int64_t after)
{
    int64_t dim = build_type(l->b, *in)->shape.dims[axis];
    struct shape total = build_type(l->b, *in)->shape;
    if (dim == 0 || ckd_add(&total.dims[axis], dim, before) || ckd_add(&total.dims[axis], total.dims[axis], after))
        return lower_invalid(l, "pads", NULL, "axis %u of %lld elements cannot be padded by %lld and %lld", axis,
                             (long long)dim, (long long)before, (long long)after);
    TRY(lower_check_shape(l, "pads", &total));
    int64_t *positions;
    TRY(lower_table(l, (uint64_t)total.dims[axis], sizeof *positions, &positions));
    for (int64_t i = 0; i < total.dims[axis]; i++)
        positions[i] = repeated(mode, i - before, dim);
    return lower_gather_positions(l, *in, axis, positions, total.dims[axis], step_name(l, "padded"), in);
}

odlc_status lower_padded(const struct lower *l, tensor_id in, const struct pads *p, const char *out_name,
                         tensor_id *out)
{
    /* Values of the param `scheme`; wrap has none. */
    static const int64_t schemes[] = {
        [MODE_CONSTANT] = 0, [MODE_SYMMETRIC] = 1, [MODE_REFLECT] = 2, [MODE_EDGE] = 3, [MODE_WRAP] = 0};
    uint32_t rank = build_rank(l->b, in);
    int64_t amounts[MAX_RANK][2] = {{0}};
    bool rest = false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t before = p->before[i], after = p->after[i], most = max_i64(before, after);
        int64_t reach = build_type(l->b, in)->shape.dims[i] - 1;
        if (most && (p->mode == MODE_WRAP || (p->mode == MODE_REFLECT && most > reach))) {
            TRY(pad_by_position(l, &in, p->mode, i, before, after));
            continue;
        }
        amounts[i][0] = before;
        amounts[i][1] = after;
        rest |= most > 0;
    }
    *out = in;
    if (!rest)
        return ODLC_OK;
    struct shape shape = SHAPE(rank, 2);
    build_op(l->b, OP_Pad, fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, PARAM_scheme, schemes[p->mode]);
    build_tensor_ints(l->b, PARAM_pad_amount, &shape, amounts[0]);
    if (p->mode == MODE_CONSTANT && (p->value.f != 0 || p->value.i != 0))
        build_param(l->b, &p->value); /* absent means zero */
    return build_end(l->b, out_name, out);
}
