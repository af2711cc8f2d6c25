/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX LinearAttention: a recurrence over the positions, unrolled. */
#include <math.h>
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

/* Nodes that an operator is unrolled to, and those of one position at most. */
enum { UNROLL_LIMIT = 4096, NODES_PER_POSITION = 8 };

struct linear {
    struct emit s;
    int64_t batch, length, q_heads, kv_heads, key_size, value_size;
    double scale;
    tensor_id state; /* float32 [batch, kv_heads, key_size, value_size], or NO_TENSOR for zeros */
    /* One per position; NULL where the rule has none. Queries: [batch, kv_heads, group, key_size], keys and values:
     * [batch, kv_heads, 1, size], decay: [batch, kv_heads, 1 or key_size, 1], rate: [batch, 1 or kv_heads, 1, 1]. */
    tensor_id *queries, *keys, *values, *decays, *rates;
};

/* ---- operands ---- */

static odlc_status read_rule(struct lower *l, bool *gated, bool *corrected)
{
    const char *rule;
    TRY(lower_attr_string(l, "update_rule", "gated_delta", &rule));
    *gated = strncmp(rule, "gated", 5) == 0;
    *corrected = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    if (strcmp(rule, "linear") != 0 && strcmp(rule, "gated") != 0 && !*corrected)
        return lower_invalid(l, "update_rule", NULL, "the rule %s is not known", rule);
    const bool wanted[] = {*gated, *corrected};
    for (uint32_t i = 0; i < 2; i++)
        if (wanted[i] != (lower_in(l, 4 + i) != NO_TENSOR))
            return lower_invalid(l, "update_rule", NULL, "the rule %s %s the input %s", rule,
                                 wanted[i] ? "needs" : "excludes", i ? "beta" : "decay");
    return ODLC_OK;
}

static odlc_status read_extents(struct linear *n)
{
    struct lower *l = n->s.l;
    tensor_id q, k, v;
    TRY(lower_need(l, 0, "query", &q));
    TRY(lower_need(l, 1, "key", &k));
    TRY(lower_need(l, 2, "value", &v));
    TRY(lower_attr_int(l, "q_num_heads", 0, &n->q_heads));
    TRY(lower_attr_int(l, "kv_num_heads", 0, &n->kv_heads));
    TRY(lower_attr_float(l, "scale", 0, &n->scale));
    if (n->q_heads < 1 || n->kv_heads < 1 || n->q_heads % n->kv_heads != 0)
        return lower_invalid(l, "q_num_heads", NULL, "%lld query heads for %lld heads of keys", (long long)n->q_heads,
                             (long long)n->kv_heads);
    const struct shape *qs = &build_type(l->b, q)->shape, *ks = &build_type(l->b, k)->shape;
    const struct shape *vs = &build_type(l->b, v)->shape;
    n->batch = qs->dims[0];
    n->length = qs->dims[1];
    n->key_size = qs->rank == 3 ? qs->dims[2] / n->q_heads : 0;
    n->value_size = vs->rank == 3 ? vs->dims[2] / n->kv_heads : 0;
    struct shape want_q = SHAPE(n->batch, n->length, n->q_heads * n->key_size);
    struct shape want_k = SHAPE(n->batch, n->length, n->kv_heads * n->key_size);
    struct shape want_v = SHAPE(n->batch, n->length, n->kv_heads * n->value_size);
    if (!shape_equal(qs, &want_q) || !shape_equal(ks, &want_k) || !shape_equal(vs, &want_v))
        return lower_invalid(l, NULL, NULL, "query %s, key %s and value %s do not fit together",
                             shape_text(l->diags->arena, qs), shape_text(l->diags->arena, ks),
                             shape_text(l->diags->arena, vs));
    if (n->scale == 0)
        n->scale = 1 / sqrt((double)n->key_size);
    return ODLC_OK;
}

/* Input i as [batch, heads, positions * rows, size] in float32, cut into one part per position. */
static odlc_status cut(struct linear *n, uint32_t i, int64_t heads, int64_t rows, int64_t size, tensor_id **out)
{
    struct lower *l = n->s.l;
    const struct perm perm = PERM(0, 2, 1, 3, 4);
    struct shape apart = SHAPE(n->batch, n->length, heads, rows, size);
    struct shape lines = SHAPE(n->batch, heads, n->length * rows, size);
    const struct shape *in = &build_type(l->b, l->in[i])->shape;
    if (in->rank != 3 || shape_count(in) != shape_count(&apart) || in->dims[1] != n->length)
        return lower_invalid(l, NULL, NULL, "input %u is %s", i, shape_text(l->diags->arena, in));
    tensor_id x = emit_cast(&n->s, l->in[i], DT_FLOAT32);
    x = emit_reshape(&n->s, emit_transpose(&n->s, emit_reshape(&n->s, x, &apart), &perm), &lines);
    TRY(n->s.status);
    *out = arena_array(l->arena, tensor_id, (size_t)n->length);
    if (n->length == 1) {
        **out = x;
        return ODLC_OK;
    }
    int64_t *cuts = arena_array(l->arena, int64_t, (size_t)n->length - 1);
    const char **names = arena_array(l->arena, const char *, (size_t)n->length);
    for (int64_t t = 0; t < n->length; t++) {
        names[t] = arena_printf(l->arena, "%s.input_%u.%lld", fw_node_label(l->node), i, (long long)t);
        if (t)
            cuts[t - 1] = t * rows;
    }
    build_op(l->b, OP_Split, arena_printf(l->arena, "%s.input_%u", fw_node_label(l->node), i));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, 2);
    build_ints(l->b, PARAM_split_index, cuts, (uint32_t)n->length - 1);
    return build_end_n(l->b, names, (uint32_t)n->length, *out);
}

static odlc_status cut_gates(struct linear *n, bool gated, bool corrected)
{
    struct lower *l = n->s.l;
    if (gated) {
        const struct shape *decay = &build_type(l->b, l->in[4])->shape;
        bool per_head = decay->rank == 3 && decay->dims[2] == n->kv_heads;
        TRY(cut(n, 4, n->kv_heads, per_head ? 1 : n->key_size, 1, &n->decays));
    }
    if (corrected) {
        const struct shape *rate = &build_type(l->b, l->in[5])->shape;
        bool shared = rate->rank == 3 && rate->dims[2] == 1;
        TRY(cut(n, 5, shared ? 1 : n->kv_heads, 1, 1, &n->rates));
    }
    return ODLC_OK;
}

static odlc_status read_state(struct linear *n, enum dtype *dtype)
{
    struct lower *l = n->s.l;
    struct shape shape = SHAPE(n->batch, n->kv_heads, n->key_size, n->value_size);
    n->state = lower_in(l, 3);
    *dtype = build_type(l->b, n->state == NO_TENSOR ? l->in[0] : n->state)->dtype;
    if (n->state == NO_TENSOR)
        return ODLC_OK;
    if (!shape_equal(&build_type(l->b, n->state)->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the state is %s instead of %s",
                             shape_text(l->diags->arena, &build_type(l->b, n->state)->shape),
                             shape_text(l->diags->arena, &shape));
    n->state = emit_cast(&n->s, n->state, DT_FLOAT32);
    return n->s.status;
}

/* ---- the recurrence ---- */

/* One position: the state decays, takes up key times value, or key times what the value differs from what it holds for
 * the key; the query reads it. */
static tensor_id advance(struct linear *n, int64_t t)
{
    struct emit *s = &n->s;
    tensor_id value = n->values[t];
    if (n->decays && n->state != NO_TENSOR)
        n->state = emit_binary(s, OP_ElementWiseMultiply, n->state, emit_unary(s, OP_ElementWiseExp, n->decays[t]));
    if (n->rates && n->state != NO_TENSOR)
        value = emit_binary(s, OP_ElementWiseSubtract, value, emit_matmul(s, n->keys[t], n->state, false, false));
    if (n->rates)
        value = emit_binary(s, OP_ElementWiseMultiply, value, n->rates[t]);
    tensor_id taken = emit_matmul(s, n->keys[t], value, true, false);
    n->state = n->state == NO_TENSOR ? taken : emit_binary(s, OP_ElementWiseAdd, n->state, taken);
    return emit_matmul(s, n->queries[t], n->state, false, false);
}

/* [batch, kv_heads, positions * group, value_size] → [batch, positions, q_heads * value_size] */
static tensor_id pack(struct linear *n, tensor_id y)
{
    const struct perm perm = PERM(0, 2, 1, 3, 4);
    struct shape apart = SHAPE(n->batch, n->kv_heads, n->length, n->q_heads / n->kv_heads, n->value_size);
    struct shape packed = SHAPE(n->batch, n->length, n->q_heads * n->value_size);
    return emit_reshape(&n->s, emit_transpose(&n->s, emit_reshape(&n->s, y, &apart), &perm), &packed);
}

odlc_status lower_linear_attention(struct lower *l)
{
    struct linear n = {.s.l = l};
    enum dtype state_dtype;
    bool gated, corrected;
    TRY(read_extents(&n));
    TRY(read_rule(l, &gated, &corrected));
    if (n.length < 1 || n.length > UNROLL_LIMIT / NODES_PER_POSITION)
        return lower_unsupported(l, NULL, NULL, "%lld positions are not between 1 and %d: each becomes %d nodes",
                                 (long long)n.length, UNROLL_LIMIT / NODES_PER_POSITION, NODES_PER_POSITION);
    TRY(read_state(&n, &state_dtype));
    TRY(cut(&n, 0, n.kv_heads, n.q_heads / n.kv_heads, n.key_size, &n.queries));
    TRY(cut(&n, 1, n.kv_heads, 1, n.key_size, &n.keys));
    TRY(cut(&n, 2, n.kv_heads, 1, n.value_size, &n.values));
    TRY(cut_gates(&n, gated, corrected));
    tensor_id *read = arena_array(l->arena, tensor_id, (size_t)n.length);
    for (int64_t t = 0; t < n.length; t++)
        read[t] = advance(&n, t);
    tensor_id y = pack(&n, emit_concat(&n.s, read, (uint32_t)n.length, 2));
    y = emit_binary(&n.s, OP_ElementWiseMultiply, y, emit_scalar(&n.s, y, n.scale));
    TRY(emit_give(&n.s, 0, emit_cast(&n.s, y, build_type(l->b, l->in[0])->dtype)));
    return emit_give(&n.s, 1, emit_cast(&n.s, n.state, state_dtype));
}
