/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime's GroupQueryAttention: a cache of keys and values, rotary embeddings and windows. */
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/attention.h"
#include "converters/onnx/lower/cache.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/onnx/lower/rotary.h"

enum {
    IN_Q,
    IN_K,
    IN_V,
    IN_PAST_KEY,
    IN_PAST_VALUE,
    IN_LENGTHS,
    IN_TOTAL,
    IN_COS,
    IN_SIN,
    IN_POSITIONS,
    IN_BIAS,
    IN_SINK,
    IN_UNKNOWN,
    IN_END = IN_UNKNOWN + 5
};

struct group_query {
    struct attention a;
    int64_t total;     /* keys after this call, of the longest sample */
    int64_t room;      /* of the cache given, 0: none */
    bool is_first;     /* nothing precedes the queries */
    bool is_even;      /* known: all samples have `total` keys */
    tensor_id lengths; /* [batch]: keys of each sample, in int64 */
};

/* ---- operands ---- */

static odlc_status refuse_variants(const struct lower *l)
{
    int64_t evicts, bits, stage;
    TRY(lower_attr_int(l, "sliding_window_cache", 0, &evicts));
    TRY(lower_attr_int(l, "kv_cache_bit_width", 0, &bits));
    TRY(lower_attr_int(l, "qk_output", 0, &stage));
    if (evicts)
        return lower_unsupported(l, "sliding_window_cache", NULL, "a cache that forgets is not supported");
    if (bits)
        return lower_unsupported(l, "kv_cache_bit_width", NULL, "a quantized cache is not supported");
    if (stage || lower_out_name(l, 3))
        return lower_unsupported(l, "qk_output", NULL, "the scores as an output are not supported");
    for (uint32_t i = IN_UNKNOWN; i < IN_END; i++)
        if (lower_in(l, i) != NO_TENSOR)
            return lower_unsupported(l, NULL, NULL, "input %u is not supported", i);
    return ODLC_OK;
}

/* q, k and v, which may lie side by side in one tensor. */
static odlc_status read_heads(struct attention *a)
{
    struct lower *l = a->s.l;
    int64_t heads, shared;
    TRY(lower_need(l, IN_Q, "query", &a->q));
    TRY(lower_attr_int(l, "num_heads", 0, &heads));
    TRY(lower_attr_int(l, "kv_num_heads", 0, &shared));
    a->k = lower_in(l, IN_K);
    a->v = lower_in(l, IN_V);
    const struct shape q = build_type(l->b, a->q)->shape;
    bool packed = a->k == NO_TENSOR && a->v == NO_TENSOR;
    bool fits = q.rank == 3 && heads > 0 && shared > 0 && shared <= INT32_MAX && heads <= INT32_MAX;
    if (!fits || (!packed && (a->k == NO_TENSOR || a->v == NO_TENSOR)) ||
        (packed && q.dims[2] % (heads + 2 * shared) != 0))
        return lower_invalid(l, NULL, NULL, "query %s does not have %lld heads, or has keys without values",
                             shape_text(l->diags->arena, &q), (long long)heads);
    if (packed) {
        int64_t size = q.dims[2] / (heads + 2 * shared), end = heads * size;
        tensor_id all = a->q;
        a->q = emit_slice(&a->s, all, 2, 0, end);
        a->k = emit_slice(&a->s, all, 2, end, end + shared * size);
        a->v = emit_slice(&a->s, all, 2, end + shared * size, q.dims[2]);
        TRY(a->s.status);
    }
    if (build_rank(l->b, a->k) != 3 || build_rank(l->b, a->v) != 3)
        return lower_invalid(l, NULL, NULL, "key and value do not have three axes");
    a->dtype = build_type(l->b, a->q)->dtype;
    a->packed = true;
    TRY(attention_unpack(a, "query", heads, &a->q));
    TRY(attention_unpack(a, "key", shared, &a->k));
    return attention_unpack(a, "value", shared, &a->v);
}

static odlc_status read_lengths(struct group_query *g)
{
    struct lower *l = g->a.s.l;
    tensor_id lengths, total;
    uint64_t count;
    TRY(lower_need(l, IN_LENGTHS, "seqlens_k", &lengths));
    TRY(lower_need(l, IN_TOTAL, "total_sequence_length", &total));
    const struct type *type = build_type(l->b, lengths);
    if (!dtype_is_int(type->dtype) || shape_count(&type->shape) != (uint64_t)g->a.batch)
        return lower_invalid(l, NULL, NULL, "seqlens_k %s is not one length per sample",
                             shape_text(l->diags->arena, &type->shape));
    TRY(lower_need_const(l, IN_TOTAL, "total_sequence_length", "it is the number of keys"));
    TRY(lower_one_int(l, IN_TOTAL, "total_sequence_length", &g->total));
    lengths = emit_cast(&g->a.s, emit_reshape(&g->a.s, lengths, &SHAPE(g->a.batch)), DT_INT64);
    g->lengths = emit_binary(&g->a.s, OP_ElementWiseAdd, lengths, emit_scalar(&g->a.s, lengths, 1));
    TRY(g->a.s.status);
    const int64_t *known = build_const_as_ints(l->b, g->lengths, &count);
    g->is_first = g->total == g->a.queries;
    g->is_even = known != NULL;
    for (int64_t i = 0; known && i < g->a.batch; i++) {
        g->is_even = g->is_even && known[i] == g->total;
        if (known[i] < (g->is_first ? 1 : g->a.queries) || known[i] > g->total)
            return lower_invalid(l, NULL, NULL, "a sample of %lld keys for %lld queries, %lld keys at most",
                                 (long long)known[i], (long long)g->a.queries, (long long)g->total);
    }
    return ODLC_OK;
}

/* How much there is of everything. */
static odlc_status read_extents(struct group_query *g)
{
    struct lower *l = g->a.s.l;
    tensor_id key = lower_in(l, IN_PAST_KEY), value = lower_in(l, IN_PAST_VALUE);
    TRY(attention_extents(&g->a));
    TRY(read_lengths(g));
    if ((key == NO_TENSOR) != (value == NO_TENSOR))
        return lower_invalid(l, NULL, NULL, "past_key and past_value are given together or not at all");
    if (g->a.keys != g->a.queries || g->total < g->a.queries)
        return lower_unsupported(l, NULL, NULL, "%lld queries with %lld new keys of %lld are not supported",
                                 (long long)g->a.queries, (long long)g->a.keys, (long long)g->total);
    struct shape cache = build_type(l->b, g->a.k)->shape;
    if (key != NO_TENSOR) {
        cache.dims[2] = g->room = build_rank(l->b, key) == 4 ? build_type(l->b, key)->shape.dims[2] : 0;
        if (!shape_equal(&build_type(l->b, key)->shape, &cache) ||
            !shape_equal(&build_type(l->b, value)->shape, &cache) || build_type(l->b, key)->dtype != g->a.dtype ||
            build_type(l->b, value)->dtype != g->a.dtype)
            return lower_invalid(l, NULL, NULL, "past_key and past_value are not of the form %s%s",
                                 dtype_info(g->a.dtype)->name, shape_text(l->diags->arena, &cache));
    }
    if (!g->is_first && g->room < g->total - g->a.queries)
        return lower_invalid(l, NULL, NULL, "a past of %lld positions does not have %lld keys", (long long)g->room,
                             (long long)(g->total - g->a.queries));
    return ODLC_OK;
}

/* ---- positions ---- */

/* [1, queries], or [batch, queries] where samples differ: where the queries stand. Of position_ids that are given a
 * call without a past takes the first number, as that of its first position. */
static odlc_status standing(struct group_query *g, tensor_id given, tensor_id *out)
{
    struct lower *l = g->a.s.l;
    struct emit *s = &g->a.s;
    int64_t *steps, first = g->is_first ? 0 : g->is_even ? g->total - g->a.queries : -g->a.queries;
    struct shape each = SHAPE(g->a.batch, g->a.queries);
    const struct type *type = given == NO_TENSOR ? NULL : build_type(l->b, given);
    if (type && (!dtype_is_int(type->dtype) || !shape_equal(&type->shape, &each)))
        return lower_invalid(l, NULL, NULL, "position_ids are %s%s instead of int64%s", dtype_info(type->dtype)->name,
                             shape_text(l->diags->arena, &type->shape), shape_text(l->diags->arena, &each));
    *out = given;
    if (given != NO_TENSOR && !g->is_first)
        return ODLC_OK;
    TRY(lower_table(l, (uint64_t)g->a.queries, sizeof *steps, &steps));
    for (int64_t i = 0; i < g->a.queries; i++)
        steps[i] = first + i;
    *out = build_const_ints(l->b, step_name(l, "steps"), DT_INT64, &SHAPE(1, g->a.queries), steps);
    if (given == NO_TENSOR && (g->is_first || g->is_even))
        return ODLC_OK;
    tensor_id start = given == NO_TENSOR ? emit_reshape(s, g->lengths, &SHAPE(g->a.batch, 1))
                                         : emit_slice(s, emit_slice(s, given, 0, 0, 1), 1, 0, 1);
    *out = emit_binary(s, OP_ElementWiseAdd, emit_cast(s, start, DT_INT64), *out);
    return s->status;
}

static odlc_status rotate(struct group_query *g)
{
    struct lower *l = g->a.s.l;
    tensor_id cos, sin, ids;
    struct rotary r;
    bool rotates;
    TRY(contrib_flag(l, "do_rotary", false, &rotates));
    TRY(contrib_flag(l, "rotary_interleaved", false, &r.interleaved));
    if (!rotates)
        return ODLC_OK;
    TRY(lower_need(l, IN_COS, "cos_cache", &cos));
    TRY(lower_need(l, IN_SIN, "sin_cache", &sin));
    TRY(standing(g, lower_in(l, IN_POSITIONS), &ids));
    const struct shape *cache = &build_type(l->b, cos)->shape, *of_ids = &build_type(l->b, ids)->shape;
    if (cache->rank != 2 || 2 * cache->dims[1] > g->a.size)
        return lower_invalid(l, NULL, NULL, "cos_cache %s does not fit heads of %lld elements",
                             shape_text(l->diags->arena, cache), (long long)g->a.size);
    struct shape rows = SHAPE(of_ids->dims[0], g->a.queries, cache->dims[1]);
    r.pairs = cache->dims[1];
    TRY(rotary_rows(&g->a.s, "cos_cache", cos, ids, &rows, false, &r.cos));
    TRY(rotary_rows(&g->a.s, "sin_cache", sin, ids, &rows, false, &r.sin));
    g->a.q = rotary_turn(&g->a.s, &r, g->a.q);
    g->a.k = rotary_turn(&g->a.s, &r, g->a.k);
    return g->a.s.status;
}

/* ---- the cache ---- */

/* The tensor with zeros behind it, so that it has `room` positions. */
static tensor_id with_room(struct emit *s, tensor_id x, int64_t room)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape rest = build_type(s->l->b, x)->shape;
    rest.dims[2] = room - rest.dims[2];
    if (rest.dims[2] == 0)
        return x;
    tensor_id parts[] = {x, emit_broadcast(s, emit_scalar(s, x, 0), &rest)};
    return emit_concat(s, parts, 2, 2);
}

/* *x behind what is in the cache: the keys or values of all positions. Output `present` has room for more where the
 * cache had; what is there is not defined. */
static odlc_status extend(struct group_query *g, uint32_t past, uint32_t present, tensor_id *x)
{
    struct lower *l = g->a.s.l;
    struct emit *s = &g->a.s;
    tensor_id cache = lower_in(l, past), all;
    int64_t room = max_i64(g->room, g->total), before = g->total - g->a.queries;
    if (g->is_first || g->is_even) {
        if (before > 0)
            *x = emit_concat(s, (const tensor_id[]){emit_slice(s, cache, 2, 0, before), *x}, 2, 2);
        return emit_give(s, present, with_room(s, *x, room));
    }
    tensor_id queries = emit_scalar(s, g->lengths, (double)g->a.queries);
    tensor_id begin = emit_binary(s, OP_ElementWiseSubtract, g->lengths, queries);
    cache = with_room(s, cache, room);
    TRY(s->status);
    TRY(cache_write(l, cache, *x, begin, 2, &all));
    *x = emit_slice(s, all, 2, 0, g->total);
    return emit_give(s, present, all);
}

/* ---- scores ---- */

/* 0 and -inf by what a query may see: earlier keys, the last of them, those of its sample. */
static odlc_status visibility(struct group_query *g, tensor_id *out)
{
    struct lower *l = g->a.s.l;
    struct attention_limits limits = {INT64_MAX, INT64_MAX};
    int64_t window_size;
    bool causal;
    tensor_id visible;
    TRY(contrib_flag(l, "causal", true, &causal));
    TRY(lower_attr_int(l, "local_window_size", -1, &window_size));
    if (window_size == 0 || window_size < -1 || (window_size != -1 && !causal))
        return lower_invalid(l, "local_window_size", NULL, "a window of %lld", (long long)window_size);
    if (causal)
        limits.right = 0;
    if (window_size > 0)
        limits.left = window_size - 1;
    bool by_position = g->is_even || (g->is_first && causal);
    TRY(by_position ? attention_fixed_limits(&g->a, &limits, &visible)
                    : attention_limits_of_lengths(&g->a, &limits, g->lengths, &visible));
    *out = visible == NO_TENSOR ? NO_TENSOR : attention_bias_of_bools(&g->a, visible, -INFINITY);
    return g->a.s.status;
}

/* Probabilities whose sum is less than 1: a score of its own, head_sink or 0, takes a part. */
static odlc_status soften(struct group_query *g, tensor_id scores, enum dtype precise, tensor_id *out)
{
    struct lower *l = g->a.s.l;
    struct emit *s = &g->a.s;
    tensor_id sink = lower_in(l, IN_SINK);
    struct shape column = SHAPE(g->a.batch, g->a.q_heads, g->a.queries, 1), per_head = SHAPE(1, g->a.q_heads, 1, 1);
    int64_t smooth;
    TRY(lower_attr_int(l, "smooth_softmax", -1, &smooth));
    scores = emit_cast(s, scores, precise);
    TRY(s->status);
    if (sink == NO_TENSOR && smooth != 1) {
        *out = emit_softmax(s, scores, 3);
        return s->status;
    }
    if (sink != NO_TENSOR && shape_count(&build_type(l->b, sink)->shape) != (uint64_t)g->a.q_heads)
        return lower_invalid(l, NULL, NULL, "head_sink %s is not one number per head",
                             shape_text(l->diags->arena, &build_type(l->b, sink)->shape));
    sink = sink == NO_TENSOR ? emit_scalar(s, scores, 0) : emit_cast(s, emit_reshape(s, sink, &per_head), precise);
    tensor_id parts[] = {scores, emit_broadcast(s, sink, &column)};
    tensor_id all = emit_softmax(s, emit_concat(s, parts, 2, 3), 3);
    *out = emit_slice(s, all, 3, 0, g->a.keys);
    return s->status;
}

static odlc_status give_attention(struct group_query *g)
{
    struct lower *l = g->a.s.l;
    double scale;
    tensor_id scores, hidden, probabilities;
    TRY(lower_attr_float(l, "scale", 0, &scale));
    TRY(visibility(g, &hidden));
    scores = attention_scores(&g->a, scale != 0 ? scale : 1 / sqrt((double)g->a.size));
    TRY(g->a.s.status);
    TRY(attention_cap(&g->a, &scores));
    if (lower_in(l, IN_BIAS) != NO_TENSOR) {
        TRY(attention_check_bias(&g->a, l->in[IN_BIAS]));
        scores = emit_binary(&g->a.s, OP_ElementWiseAdd, scores, l->in[IN_BIAS]);
    }
    if (hidden != NO_TENSOR)
        scores = emit_binary(&g->a.s, OP_ElementWiseAdd, scores, hidden);
    enum dtype precise = g->a.dtype == DT_FLOAT16 ? DT_FLOAT32 : g->a.dtype;
    TRY(soften(g, scores, precise, &probabilities));
    return emit_give(&g->a.s, 0, attention_weigh(&g->a, probabilities, precise, g->a.dtype));
}

odlc_status lower_group_query_attention(struct lower *l)
{
    struct group_query g = {.a.s.l = l};
    TRY(refuse_variants(l));
    TRY(read_heads(&g.a));
    TRY(read_extents(&g));
    TRY(rotate(&g));
    TRY(extend(&g, IN_PAST_KEY, 1, &g.a.k));
    TRY(extend(&g, IN_PAST_VALUE, 2, &g.a.v));
    g.a.keys = g.total;
    g.a.past = g.total - g.a.queries;
    return give_attention(&g);
}
