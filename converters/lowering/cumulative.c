/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/cumulative.h"

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

odlc_status lower_cumulative_sum(struct lower *l, const struct cumulative *n)
{
    build_op(l->b, OP_CumulativeSum, fw_node_label(l->node));
    build_in(l->b, n->x);
    build_int(l->b, PARAM_axis, n->axis);
    build_int(l->b, PARAM_exclusive, n->exclusive);
    build_int(l->b, PARAM_reverse, n->reverse);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* A Split into elements along the axis. */
static odlc_status split_axis(struct lower *l, tensor_id x, uint32_t axis, int64_t count, tensor_id *parts)
{
    const char **names = arena_array(l->arena, const char *, (size_t)count);
    int64_t *cuts = arena_array(l->arena, int64_t, (size_t)count);
    for (int64_t i = 1; i < count; i++)
        cuts[i - 1] = i;
    build_op(l->b, OP_Split, step_name(l, "parts"));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, axis);
    build_ints(l->b, PARAM_split_index, cuts, (uint32_t)count - 1);
    return build_end_n(l->b, names, (uint32_t)count, parts);
}

enum { LONGEST_PRODUCT = 2048 };

/* The container has no running product: element by element, in the operator's order, because with another one a
 * partial product could overflow where the operator's does not. */
odlc_status lower_cumulative_product(struct lower *l, const struct cumulative *n)
{
    struct emit s = {.l = l};
    struct type type = *build_type(l->b, n->x);
    int64_t count = type.shape.dims[n->axis];
    if (count > LONGEST_PRODUCT)
        return lower_unsupported(l, NULL, NULL, "a running product of %lld elements, one node each, is beyond %d",
                                 (long long)count, LONGEST_PRODUCT);
    if (shape_count(&type.shape) == 0) {
        l->out[0] = n->x;
        return ODLC_OK;
    }
    type.shape.dims[n->axis] = 1;
    tensor_id *parts = arena_array(l->arena, tensor_id, (size_t)count), product = n->x;
    tensor_id ones = lower_splat(l, step_name(l, "one"), type.dtype, &type.shape, 1);
    if (count == 1)
        return emit_give(&s, 0, n->exclusive ? ones : n->x);
    TRY(split_axis(l, n->x, n->axis, count, parts));
    for (int64_t i = 0; i < count; i++) {
        tensor_id *part = &parts[n->reverse ? count - 1 - i : i], next = *part;
        if (n->exclusive)
            *part = i == 0 ? ones : product;
        if (i + 1 < count || !n->exclusive)
            product = i == 0 ? next : emit_binary(&s, OP_ElementWiseMultiply, product, next);
        if (!n->exclusive)
            *part = product;
    }
    return emit_give(&s, 0, emit_concat(&s, parts, (uint32_t)count, n->axis));
}
