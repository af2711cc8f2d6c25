/* SPDX-License-Identifier: Apache-2.0 */
/* Heads and products, which all operators of attention share. */
#include "converters/onnx/lower/attention.h"

#include <math.h>

#include "converters/lowering/shapes.h"

static const struct perm swap_heads = {.rank = 4, .axis = {0, 2, 1, 3}};

/* ---- operands ---- */

odlc_status attention_unpack(struct attention *a, const char *what, int64_t heads, tensor_id *x)
{
    struct lower *l = a->s.l;
    const struct shape *in = &build_type(l->b, *x)->shape;
    if (heads < 1 || in->dims[2] % heads != 0)
        return lower_invalid(l, NULL, NULL, "%s %s cannot be divided into %lld heads", what,
                             shape_text(l->diags->arena, in), (long long)heads);
    struct shape split = SHAPE(in->dims[0], in->dims[1], heads, in->dims[2] / heads);
    *x = emit_transpose(&a->s, emit_reshape(&a->s, *x, &split), &swap_heads);
    return a->s.status;
}

odlc_status attention_extents(struct attention *a)
{
    struct lower *l = a->s.l;
    const struct shape *q = &build_type(l->b, a->q)->shape, *k = &build_type(l->b, a->k)->shape;
    const struct shape *v = &build_type(l->b, a->v)->shape;
    a->batch = q->dims[0];
    a->q_heads = q->dims[1];
    a->queries = q->dims[2];
    a->size = q->dims[3];
    a->kv_heads = k->dims[1];
    a->keys = k->dims[2];
    a->v_size = v->dims[3];
    bool fit = k->dims[0] == a->batch && v->dims[0] == a->batch && v->dims[1] == a->kv_heads && v->dims[2] == a->keys &&
               k->dims[3] == a->size;
    if (!fit || a->kv_heads < 1 || a->q_heads % a->kv_heads != 0)
        return lower_invalid(l, NULL, NULL, "Q %s, K %s and V %s do not fit together", shape_text(l->diags->arena, q),
                             shape_text(l->diags->arena, k), shape_text(l->diags->arena, v));
    return ODLC_OK;
}

odlc_status attention_join_past(struct attention *a, tensor_id past_key, tensor_id past_value)
{
    struct lower *l = a->s.l;
    if ((past_key == NO_TENSOR) != (past_value == NO_TENSOR))
        return lower_invalid(l, NULL, NULL, "past_key and past_value are given together or not at all");
    if (past_key == NO_TENSOR)
        return ODLC_OK;
    if (build_rank(l->b, past_key) != 4 || build_rank(l->b, past_value) != 4)
        return lower_invalid(l, NULL, NULL, "past_key or past_value does not have four axes");
    a->past = build_type(l->b, past_key)->shape.dims[2];
    if (a->past == 0 && build_type(l->b, past_value)->shape.dims[2] == 0)
        return ODLC_OK;
    a->k = emit_concat(&a->s, (const tensor_id[]){past_key, a->k}, 2, 2);
    a->v = emit_concat(&a->s, (const tensor_id[]){past_value, a->v}, 2, 2);
    return a->s.status;
}

/* ---- products ---- */

/* The rows of query heads that share a head of keys lie together: one product serves the group. */
static tensor_id in_groups(struct attention *a, tensor_id x, int64_t columns)
{
    struct shape grouped = SHAPE(a->batch, a->kv_heads, a->q_heads / a->kv_heads * a->queries, columns);
    return emit_reshape(&a->s, x, &grouped);
}

static tensor_id in_heads(struct attention *a, tensor_id x, int64_t columns)
{
    struct shape apart = SHAPE(a->batch, a->q_heads, a->queries, columns);
    return emit_reshape(&a->s, x, &apart);
}

tensor_id attention_scores(struct attention *a, double scale)
{
    double root = sqrt(fabs(scale));
    tensor_id q = a->q, k = a->k;
    if (scale != 1) {
        q = emit_binary(&a->s, OP_ElementWiseMultiply, q, emit_scalar(&a->s, q, scale < 0 ? -root : root));
        k = emit_binary(&a->s, OP_ElementWiseMultiply, k, emit_scalar(&a->s, k, root));
    }
    tensor_id product = emit_matmul(&a->s, in_groups(a, q, a->size), k, false, true);
    return in_heads(a, product, a->keys);
}

odlc_status attention_cap(struct attention *a, tensor_id *x)
{
    double cap;
    TRY(lower_attr_float(a->s.l, "softcap", 0, &cap));
    if (!(cap >= 0))
        return lower_invalid(a->s.l, "softcap", "0 is no cap", "softcap is %g", cap);
    if (cap == 0)
        return ODLC_OK;
    tensor_id scalar = emit_scalar(&a->s, *x, cap);
    tensor_id bent = emit_unary(&a->s, OP_Tanh, emit_binary(&a->s, OP_ElementWiseDivide, *x, scalar));
    *x = emit_binary(&a->s, OP_ElementWiseMultiply, bent, scalar);
    return a->s.status;
}

enum dtype attention_wider(enum dtype x, enum dtype y)
{
    if (x == y)
        return x;
    return x == DT_FLOAT64 || y == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32;
}

tensor_id attention_weigh(struct attention *a, tensor_id probabilities, enum dtype compute, enum dtype result)
{
    tensor_id p = emit_cast(&a->s, probabilities, compute), v = emit_cast(&a->s, a->v, compute);
    tensor_id product = emit_matmul(&a->s, in_groups(a, p, a->keys), v, false, false);
    tensor_id y = emit_cast(&a->s, in_heads(a, product, a->v_size), result);
    if (!a->packed)
        return y;
    struct shape packed = SHAPE(a->batch, a->queries, a->q_heads * a->v_size);
    return emit_reshape(&a->s, emit_transpose(&a->s, y, &swap_heads), &packed);
}

odlc_status attention_check_bias(const struct attention *a, tensor_id bias)
{
    struct lower *l = a->s.l;
    const struct type *type = build_type(l->b, bias);
    struct shape scores = SHAPE(a->batch, a->q_heads, a->queries, a->keys), both;
    if (type->dtype != a->dtype || type->shape.rank != 4 || !shape_broadcast(&type->shape, &scores, &both) ||
        !shape_equal(&both, &scores))
        return lower_invalid(l, NULL, NULL, "a bias %s%s cannot be added to the scores %s%s",
                             dtype_info(type->dtype)->name, shape_text(l->diags->arena, &type->shape),
                             dtype_info(a->dtype)->name, shape_text(l->diags->arena, &scores));
    return ODLC_OK;
}
