/* SPDX-License-Identifier: Apache-2.0 */
/* What an attention adds to its scores: 0 where a query sees a key, -inf where it does not, and the model's own mask.
 */
#include "converters/onnx/lower/attention.h"

#include <math.h>

#include "converters/onnx/lower/onnx_shape.h"

enum { IN_MASK = 3, IN_LENGTHS = 6 };

/* ---- limits by position ---- */

static odlc_status window(struct lower *l, const char *name, int64_t *out)
{
    TRY(lower_attr_int(l, name, -1, out));
    if (*out < -1)
        return lower_invalid(l, name, NULL, "%s is %lld", name, (long long)*out);
    if (*out == -1 || *out > INT32_MAX) /* beyond every position */
        *out = INT64_MAX;
    return ODLC_OK;
}

static odlc_status read_limits(struct lower *l, struct attention_limits *out)
{
    int64_t causal;
    TRY(lower_attr_int(l, "is_causal", 0, &causal));
    TRY(window(l, "left_window_size", &out->left));
    TRY(window(l, "right_window_size", &out->right));
    if (causal)
        out->right = 0;
    return ODLC_OK;
}

odlc_status attention_fixed_limits(struct attention *a, const struct attention_limits *limits, tensor_id *out)
{
    struct lower *l = a->s.l;
    struct shape shape = SHAPE(a->queries, a->keys);
    int64_t *seen;
    bool all = true;
    *out = NO_TENSOR;
    if (limits->left == INT64_MAX && limits->right == INT64_MAX)
        return ODLC_OK;
    TRY(lower_table(l, shape_count(&shape), sizeof *seen, &seen));
    for (int64_t i = 0; i < a->queries; i++)
        for (int64_t j = 0; j < a->keys; j++) {
            int64_t after = j - (i + a->past);
            bool visible = after <= limits->right && -after <= limits->left;
            seen[i * a->keys + j] = visible;
            all &= visible;
        }
    if (!all)
        *out = build_const_ints(l->b, step_name(l, "visible"), DT_BOOL, &shape, seen);
    return ODLC_OK;
}

/* *out and compare(lengths, table). The table has j + shift for key j; by_query, what it has for query i is
 * `queries - i` more. */
static odlc_status compare_lengths(struct attention *a, enum op_id compare, tensor_id lengths, int64_t shift,
                                   bool by_query, tensor_id *out)
{
    struct lower *l = a->s.l;
    struct shape shape = SHAPE(by_query ? a->queries : 1, a->keys);
    int64_t *table;
    TRY(lower_table(l, shape_count(&shape), sizeof *table, &table));
    for (int64_t i = 0; i < shape.dims[0]; i++)
        for (int64_t j = 0; j < a->keys; j++)
            table[i * a->keys + j] = j + shift + (by_query ? a->queries - i : 0);
    tensor_id limit = build_const_ints(l->b, step_name(l, "limit"), DT_INT64, &shape, table);
    tensor_id seen = emit_binary(&a->s, compare, lengths, limit);
    *out = *out == NO_TENSOR ? seen : emit_binary(&a->s, OP_ElementWiseAnd, *out, seen);
    return a->s.status;
}

/* Of n keys, query i stands at i + n - queries. n is known per sample when the model runs. */
odlc_status attention_limits_of_lengths(struct attention *a, const struct attention_limits *limits, tensor_id lengths,
                                        tensor_id *out)
{
    struct shape per_sample = SHAPE(a->batch, 1, 1, 1);
    const struct type *type = build_type(a->s.l->b, lengths);
    *out = NO_TENSOR;
    if (!dtype_is_int(type->dtype) || shape_count(&type->shape) != (uint64_t)a->batch)
        return lower_invalid(a->s.l, NULL, NULL, "nonpad_kv_seqlen %s is not one length per sample",
                             shape_text(a->s.l->diags->arena, &type->shape));
    lengths = emit_cast(&a->s, emit_reshape(&a->s, lengths, &per_sample), DT_INT64);
    TRY(a->s.status);
    TRY(compare_lengths(a, OP_ElementWiseGreater, lengths, 0, false, out));
    if (limits->right != INT64_MAX) /* j <= i + n - queries + right */
        TRY(compare_lengths(a, OP_ElementWiseGreaterEqual, lengths, -limits->right, true, out));
    if (limits->left != INT64_MAX) /* j >= i + n - queries - left */
        TRY(compare_lengths(a, OP_ElementWiseLessEqual, lengths, limits->left, true, out));
    return ODLC_OK;
}

/* Bools that broadcast to the scores, or NO_TENSOR. */
static odlc_status visible_positions(struct attention *a, tensor_id *out)
{
    struct lower *l = a->s.l;
    struct attention_limits limits;
    TRY(read_limits(l, &limits));
    tensor_id lengths = lower_in(l, IN_LENGTHS);
    if (lengths == NO_TENSOR)
        return attention_fixed_limits(a, &limits, out);
    if (a->past > 0 || lower_in(l, 4) != NO_TENSOR)
        return lower_invalid(l, NULL, NULL, "nonpad_kv_seqlen and past_key exclude each other");
    return attention_limits_of_lengths(a, &limits, lengths, out);
}

/* ---- the model's mask ---- */

/* Later versions take a mask for the first keys only; the others are invisible. */
static tensor_id lengthen(struct attention *a, tensor_id mask)
{
    struct type type = *build_type(a->s.l->b, mask);
    uint32_t last = type.shape.rank - 1;
    double hidden = type.dtype == DT_BOOL ? 0 : -INFINITY;
    if (type.shape.dims[last] >= a->keys || a->s.l->version < 24)
        return mask;
    type.shape.dims[last] = a->keys - type.shape.dims[last];
    tensor_id rest = emit_broadcast(&a->s, emit_scalar(&a->s, mask, hidden), &type.shape);
    return emit_concat(&a->s, (const tensor_id[]){mask, rest}, 2, last);
}

/* A mask that is there: bools as they are, numbers in the type of the scores. */
static odlc_status read_mask(struct attention *a, tensor_id *mask)
{
    struct lower *l = a->s.l;
    struct type type = *build_type(l->b, *mask);
    struct shape scores = SHAPE(a->batch, a->q_heads, a->queries, a->keys), both;
    if (type.dtype == DT_STRING || type.shape.rank < 1 || type.shape.rank > 4)
        return lower_invalid(l, NULL, NULL, "a mask cannot be %s%s", dtype_info(type.dtype)->name,
                             shape_text(l->diags->arena, &type.shape));
    if (type.dtype != DT_BOOL)
        *mask = emit_cast(&a->s, *mask, a->dtype);
    *mask = lengthen(a, *mask);
    TRY(a->s.status);
    if (!shape_broadcast(&build_type(l->b, *mask)->shape, &scores, &both) || !shape_equal(&both, &scores))
        return lower_invalid(l, NULL, NULL, "the mask %s cannot be broadcast to the scores %s",
                             shape_text(l->diags->arena, &type.shape), shape_text(l->diags->arena, &scores));
    return ODLC_OK;
}

/* ---- together ---- */

tensor_id attention_bias_of_bools(struct attention *a, tensor_id visible, double hidden)
{
    tensor_id zero = emit_scalar(&a->s, a->q, 0), other = emit_scalar(&a->s, a->q, hidden);
    return emit_select(&a->s, visible, zero, other);
}

odlc_status attention_bias(struct attention *a, tensor_id *out)
{
    tensor_id mask = lower_in(a->s.l, IN_MASK), visible;
    *out = NO_TENSOR;
    TRY(visible_positions(a, &visible));
    if (mask != NO_TENSOR)
        TRY(read_mask(a, &mask));
    bool bools = mask != NO_TENSOR && build_type(a->s.l->b, mask)->dtype == DT_BOOL;
    if (bools && visible != NO_TENSOR)
        *out = attention_bias_of_bools(a, emit_binary(&a->s, OP_ElementWiseAnd, mask, visible), -INFINITY);
    else if (bools || visible != NO_TENSOR)
        *out = attention_bias_of_bools(a, bools ? mask : visible, -INFINITY);
    if (!bools && mask != NO_TENSOR)
        *out = *out == NO_TENSOR ? mask : emit_binary(&a->s, OP_ElementWiseAdd, mask, *out);
    return a->s.status;
}

static bool all_zero(const struct lower *l, tensor_id id)
{
    uint64_t count;
    const int64_t *values = build_const_as_ints(l->b, id, &count);
    for (uint64_t i = 0; values && i < count; i++)
        if (values[i])
            return false;
    return values != NULL;
}

tensor_id attention_guard(struct attention *a, tensor_id bias, tensor_id probabilities)
{
    if (a->s.status != ODLC_OK || bias == NO_TENSOR)
        return probabilities;
    const int64_t last[] = {build_rank(a->s.l->b, bias) - 1};
    tensor_id most = emit_reduce(&a->s, OP_ReduceMax, bias, last, 1, true);
    tensor_id masked = emit_binary(&a->s, OP_ElementWiseEqual, most, emit_scalar(&a->s, bias, -INFINITY));
    if (a->s.status != ODLC_OK || all_zero(a->s.l, masked))
        return probabilities;
    return emit_select(&a->s, masked, emit_scalar(&a->s, probabilities, 0), probabilities);
}
