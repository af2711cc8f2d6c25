/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime's Attention and QAttention, which project their input, and MultiHeadAttention. */
#include <math.h>

#include "converters/onnx/lower/attention.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- masks ---- */

/* compare(limits, j) of each key j; `limits` are per sample. */
static tensor_id compare_keys(struct attention *a, enum op_id compare, tensor_id limits)
{
    struct lower *l = a->s.l;
    struct shape per_sample = SHAPE(a->batch, 1, 1, 1), line = SHAPE(a->keys);
    double *numbers = arena_array(l->arena, double, (size_t)a->keys);
    for (int64_t j = 0; j < a->keys; j++)
        numbers[j] = (double)j;
    tensor_id number = emit_constant(&a->s, build_type(l->b, limits)->dtype, &line, numbers);
    return emit_binary(&a->s, compare, emit_reshape(&a->s, limits, &per_sample), number);
}

/* Ends of the samples, and where they start: [batch], or [2 * batch] where `starts` may follow. */
static odlc_status visible_by_ends(struct attention *a, tensor_id mask, bool may_start, tensor_id *out)
{
    const struct shape *shape = &build_type(a->s.l->b, mask)->shape;
    bool starts = may_start && shape->dims[0] == 2 * a->batch;
    if (shape->dims[0] != a->batch && !starts)
        return lower_unsupported(a->s.l, NULL, NULL, "a mask %s for a batch of %lld is not supported",
                                 shape_text(a->s.l->diags->arena, shape), (long long)a->batch);
    tensor_id ends = starts ? emit_slice(&a->s, mask, 0, 0, a->batch) : mask;
    *out = compare_keys(a, OP_ElementWiseGreater, ends);
    if (starts) {
        tensor_id first = emit_slice(&a->s, mask, 0, a->batch, 2 * a->batch);
        *out = emit_binary(&a->s, OP_ElementWiseAnd, *out, compare_keys(a, OP_ElementWiseLessEqual, first));
    }
    return a->s.status;
}

/* Bools that broadcast to the scores. Elements above 0 are visible. */
static odlc_status visible_by_mask(struct attention *a, tensor_id mask, bool may_start, tensor_id *out)
{
    struct lower *l = a->s.l;
    const struct type *type = build_type(l->b, mask);
    struct shape each = SHAPE(a->batch, a->keys), full = SHAPE(a->batch, a->queries, a->keys);
    if (!dtype_is_int(type->dtype))
        return lower_invalid(l, NULL, NULL, "a mask of %s", dtype_info(type->dtype)->name);
    if (type->shape.rank == 1)
        return visible_by_ends(a, mask, may_start, out);
    bool one_row = shape_equal(&type->shape, &each);
    if (!one_row && !shape_equal(&type->shape, &full))
        return lower_unsupported(l, NULL, NULL, "a mask %s for scores [%lld,%lld,%lld,%lld] is not supported",
                                 shape_text(l->diags->arena, &type->shape), (long long)a->batch, (long long)a->q_heads,
                                 (long long)a->queries, (long long)a->keys);
    struct shape aligned = SHAPE(a->batch, 1, one_row ? 1 : a->queries, a->keys);
    *out = emit_binary(&a->s, OP_ElementWiseGreater, emit_reshape(&a->s, mask, &aligned), emit_scalar(&a->s, mask, 0));
    return a->s.status;
}

/* *bias + more, where there is one. */
static void add_bias(struct attention *a, tensor_id more, tensor_id *bias)
{
    *bias = *bias == NO_TENSOR ? more : emit_binary(&a->s, OP_ElementWiseAdd, *bias, more);
}

/* What the scores get added. A mask hides by a number that the node may choose, unidirectional attention completely. */
static odlc_status runtime_bias(struct attention *a, uint32_t mask, bool may_start, uint32_t bias, tensor_id *out)
{
    struct lower *l = a->s.l;
    bool unidirectional;
    double filter;
    tensor_id visible;
    *out = NO_TENSOR;
    TRY(contrib_flag(l, "unidirectional", false, &unidirectional));
    TRY(lower_attr_float(l, "mask_filter_value", -10000, &filter));
    if (lower_in(l, mask) != NO_TENSOR) {
        TRY(visible_by_mask(a, l->in[mask], may_start, &visible));
        add_bias(a, attention_bias_of_bools(a, visible, filter), out);
    }
    if (unidirectional && a->keys - a->past != a->queries)
        return lower_unsupported(l, "unidirectional", NULL,
                                 "%lld queries and %lld keys: nothing says which keys a query follows",
                                 (long long)a->queries, (long long)(a->keys - a->past));
    if (unidirectional) {
        TRY(attention_fixed_limits(a, &(struct attention_limits){.left = INT64_MAX}, &visible));
        if (visible != NO_TENSOR)
            add_bias(a, attention_bias_of_bools(a, visible, -INFINITY), out);
    }
    if (lower_in(l, bias) == NO_TENSOR)
        return a->s.status;
    TRY(attention_check_bias(a, l->in[bias]));
    add_bias(a, l->in[bias], out);
    return a->s.status;
}

/* ---- results ---- */

/* Output 0 of q, k and v, whose extents are read, and the optional output `stage`, the scores with what is added. */
static odlc_status give_attention(struct attention *a, tensor_id bias, uint32_t stage)
{
    struct lower *l = a->s.l;
    double scale;
    TRY(lower_attr_float(l, "scale", 0, &scale));
    tensor_id scores = attention_scores(a, scale != 0 ? scale : 1 / sqrt((double)a->size));
    if (bias != NO_TENSOR)
        scores = emit_binary(&a->s, OP_ElementWiseAdd, scores, bias);
    TRY(a->s.status);
    if (lower_out_name(l, stage))
        TRY(emit_give(&a->s, stage, scores));
    enum dtype precise = a->dtype == DT_FLOAT16 ? DT_FLOAT32 : a->dtype;
    tensor_id probabilities = emit_softmax(&a->s, emit_cast(&a->s, scores, precise), 3);
    return emit_give(&a->s, 0, attention_weigh(a, probabilities, precise, a->dtype));
}

/* ---- Attention and QAttention ---- */

enum { IN_X, IN_WEIGHTS, IN_BIAS, IN_MASK, IN_PAST, IN_SCORE_BIAS, IN_PAST_LENGTH };

/* Inputs that both operators have in other places. */
struct projected_inputs {
    uint32_t mask, past, score_bias; /* UINT32_MAX: none */
};

/* How the columns of the projection divide into queries, keys and values. */
static odlc_status read_columns(const struct lower *l, int64_t columns[3])
{
    const int64_t *sizes;
    uint32_t count;
    const struct shape *x = &build_type(l->b, l->in[IN_X])->shape, *w = &build_type(l->b, l->in[IN_WEIGHTS])->shape;
    if (x->rank != 3 || w->rank != 2 || w->dims[0] != x->dims[2])
        return lower_invalid(l, NULL, NULL, "weights %s do not fit an input %s", shape_text(l->diags->arena, w),
                             shape_text(l->diags->arena, x));
    TRY(lower_attr_ints(l, "qkv_hidden_sizes", &sizes, &count));
    if (sizes && count != 3)
        return lower_invalid(l, "qkv_hidden_sizes", NULL, "%u numbers instead of 3", count);
    bool fit = sizes || w->dims[1] % 3 == 0;
    int64_t rest = w->dims[1];
    for (int i = 0; i < 3; i++) {
        columns[i] = sizes ? sizes[i] : w->dims[1] / 3;
        fit = fit && columns[i] > 0 && columns[i] <= rest;
        rest -= fit ? columns[i] : 0;
    }
    if (!fit || rest != 0 || columns[0] != columns[1])
        return lower_invalid(l, "qkv_hidden_sizes", NULL, "%lld columns are not those of queries, keys and values",
                             (long long)w->dims[1]);
    return ODLC_OK;
}

/* x · weights + bias. */
static odlc_status project(struct emit *s, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id bias;
    *out = emit_matmul(s, l->in[IN_X], l->in[IN_WEIGHTS], false, false);
    if (lower_in(l, IN_BIAS) == NO_TENSOR)
        return s->status;
    TRY(contrib_line(l, IN_BIAS, "bias", build_type(l->b, l->in[IN_WEIGHTS])->shape.dims[1], &bias));
    *out = emit_binary(s, OP_ElementWiseAdd, *out, bias);
    return s->status;
}

/* The projection, cut into q, k and v. */
static odlc_status cut_projection(struct attention *a, const int64_t columns[3], tensor_id projection)
{
    tensor_id *parts[] = {&a->q, &a->k, &a->v};
    int64_t heads, begin = 0;
    TRY(lower_attr_int(a->s.l, "num_heads", 0, &heads));
    for (int i = 0; i < 3; i++) {
        *parts[i] = emit_slice(&a->s, projection, 2, begin, begin + columns[i]);
        TRY(a->s.status);
        TRY(attention_unpack(a, "the projection", heads, parts[i]));
        begin += columns[i];
    }
    a->dtype = build_type(a->s.l->b, a->q)->dtype;
    a->packed = true;
    return ODLC_OK;
}

/* Keys and values lie behind each other along a first axis. */
static odlc_status join_stacked_past(struct attention *a, tensor_id past)
{
    struct lower *l = a->s.l;
    if (past == NO_TENSOR)
        return ODLC_OK;
    const struct shape *shape = &build_type(l->b, past)->shape;
    if (shape->rank != 5 || shape->dims[0] != 2)
        return lower_invalid(l, NULL, NULL, "past is %s, not [2, batch, heads, positions, size]",
                             shape_text(l->diags->arena, shape));
    tensor_id key = emit_element(&a->s, past, 0, 0), value = emit_element(&a->s, past, 0, 1);
    TRY(a->s.status);
    return attention_join_past(a, key, value);
}

static odlc_status check_projected(struct lower *l, int64_t columns[3])
{
    tensor_id x, weights;
    int64_t rotary, shares;
    TRY(lower_attr_int(l, "do_rotary", 0, &rotary));
    TRY(lower_attr_int(l, "past_present_share_buffer", 0, &shares));
    if (rotary)
        return lower_unsupported(l, "do_rotary", NULL, "rotary embeddings inside of it are not supported");
    if (shares)
        return lower_unsupported(l, "past_present_share_buffer", NULL, "buffers of past and present are not supported");
    TRY(lower_need(l, IN_X, "input", &x));
    TRY(lower_need(l, IN_WEIGHTS, "weights", &weights));
    return read_columns(l, columns);
}

static odlc_status attend(struct lower *l, const struct projected_inputs *at, const int64_t columns[3],
                          tensor_id projection)
{
    struct attention a = {.s.l = l};
    tensor_id bias;
    TRY(cut_projection(&a, columns, projection));
    TRY(join_stacked_past(&a, lower_in(l, at->past)));
    TRY(attention_extents(&a));
    TRY(runtime_bias(&a, at->mask, true, at->score_bias, &bias));
    TRY(give_attention(&a, bias, 2));
    if (!lower_out_name(l, 1))
        return ODLC_OK;
    return emit_give(&a.s, 1, emit_stack(&a.s, (const tensor_id[]){a.k, a.v}, 2, 0));
}

odlc_status lower_projected_attention(struct lower *l)
{
    static const struct projected_inputs at = {.mask = IN_MASK, .past = IN_PAST, .score_bias = IN_SCORE_BIAS};
    struct emit s = {.l = l};
    int64_t columns[3];
    tensor_id projection;
    TRY(check_projected(l, columns));
    if (lower_in(l, IN_PAST_LENGTH) != NO_TENSOR)
        return lower_unsupported(l, NULL, NULL, "buffers of past and present are not supported");
    TRY(project(&s, &projection));
    return attend(l, &at, columns, projection);
}

odlc_status lower_quantized_attention(struct lower *l)
{
    static const struct projected_inputs at = {.mask = 5, .past = 8, .score_bias = UINT32_MAX};
    static const struct integer_product product = {
        .a_scale = 3, .b_scale = 4, .a_zero = 6, .b_zero = 7, .bias = IN_BIAS};
    int64_t columns[3];
    tensor_id projection;
    TRY(check_projected(l, columns));
    TRY(contrib_integer_product(l, &product, &projection));
    return attend(l, &at, columns, projection);
}

/* ---- MultiHeadAttention ---- */

enum { MHA_Q, MHA_K, MHA_V, MHA_BIAS, MHA_MASK, MHA_SCORE_BIAS, MHA_PAST_KEY, MHA_PAST_VALUE, MHA_UNKNOWN };

/* Element `at` of the packed [batch, positions, heads, 2 or 3, size], as [batch, positions, heads * size]. */
static tensor_id packed_part(struct attention *a, tensor_id packed, int64_t at)
{
    const struct shape *in = &build_type(a->s.l->b, packed)->shape;
    struct shape flat = SHAPE(in->dims[0], in->dims[1], in->dims[2] * in->dims[4]);
    return emit_reshape(&a->s, emit_slice(&a->s, packed, 3, at, at + 1), &flat);
}

/* q, k and v of three axes (keys and values maybe of four: those of another attention), whatever they are packed in. */
static odlc_status read_parts(struct attention *a, int64_t heads)
{
    struct lower *l = a->s.l;
    TRY(lower_need(l, MHA_Q, "query", &a->q));
    a->k = lower_in(l, MHA_K);
    a->v = lower_in(l, MHA_V);
    tensor_id packed = a->k == NO_TENSOR ? a->q : a->v == NO_TENSOR ? a->k : NO_TENSOR;
    if (packed == NO_TENSOR)
        return ODLC_OK;
    int64_t parts = packed == a->q ? 3 : 2;
    const struct shape *in = &build_type(l->b, packed)->shape;
    if (a->k == NO_TENSOR && a->v != NO_TENSOR)
        return lower_invalid(l, NULL, NULL, "there are values without keys");
    if (in->rank != 5 || in->dims[2] != heads || in->dims[3] != parts)
        return lower_invalid(l, NULL, NULL, "the packed %s is not [batch, positions, %lld, %lld, size]",
                             shape_text(l->diags->arena, in), (long long)heads, (long long)parts);
    if (parts == 3)
        a->q = packed_part(a, packed, 0);
    a->k = packed_part(a, packed, parts - 2);
    a->v = packed_part(a, packed, parts - 1);
    return a->s.status;
}

/* The parts of the bias, one behind the other, are those of q, k and v. */
static odlc_status add_biases(struct attention *a)
{
    struct lower *l = a->s.l;
    tensor_id *parts[] = {&a->q, &a->k, &a->v}, bias = lower_in(l, MHA_BIAS);
    int64_t begin = 0, columns[3], sum = 0;
    if (bias == NO_TENSOR)
        return ODLC_OK;
    for (int i = 0; i < 3; i++) {
        const struct shape *shape = &build_type(l->b, *parts[i])->shape;
        columns[i] = shape->rank == 3 ? shape->dims[2] : shape->dims[1] * shape->dims[3];
        sum += columns[i];
    }
    TRY(contrib_line(l, MHA_BIAS, "bias", sum, &bias));
    for (int i = 0; i < 3; begin += columns[i++])
        if (build_rank(l->b, *parts[i]) == 3) {
            tensor_id part = emit_slice(&a->s, bias, 0, begin, begin + columns[i]);
            *parts[i] = emit_binary(&a->s, OP_ElementWiseAdd, *parts[i], part);
            TRY(a->s.status);
        }
    return ODLC_OK;
}

static odlc_status read_heads(struct attention *a)
{
    struct lower *l = a->s.l;
    int64_t heads;
    TRY(lower_attr_int(l, "num_heads", 0, &heads));
    TRY(read_parts(a, heads));
    uint32_t q = build_rank(l->b, a->q), k = build_rank(l->b, a->k), v = build_rank(l->b, a->v);
    if (q != 3 || k != v || (k != 3 && k != 4))
        return lower_invalid(l, NULL, NULL, "query, key and value have the ranks %u, %u and %u", q, k, v);
    if (k == 4 && lower_in(l, MHA_PAST_KEY) != NO_TENSOR)
        return lower_invalid(l, NULL, NULL, "keys of four axes have no past");
    a->dtype = build_type(l->b, a->q)->dtype;
    a->packed = true;
    TRY(add_biases(a));
    TRY(attention_unpack(a, "query", heads, &a->q));
    if (k == 3) {
        TRY(attention_unpack(a, "key", heads, &a->k));
        TRY(attention_unpack(a, "value", heads, &a->v));
    }
    return ODLC_OK;
}

odlc_status lower_multi_head_attention(struct lower *l)
{
    struct attention a = {.s.l = l};
    tensor_id bias;
    bool unidirectional;
    if (lower_in(l, MHA_UNKNOWN) != NO_TENSOR || lower_in(l, MHA_UNKNOWN + 1) != NO_TENSOR)
        return lower_unsupported(l, NULL, NULL, "buffers of past and present are not supported");
    TRY(contrib_flag(l, "unidirectional", false, &unidirectional));
    if (lower_out_name(l, 3) && unidirectional)
        return lower_unsupported(l, "unidirectional", NULL,
                                 "nothing says which scores output 3 (%s) has for hidden keys", lower_out_name(l, 3));
    TRY(read_heads(&a));
    TRY(attention_join_past(&a, lower_in(l, MHA_PAST_KEY), lower_in(l, MHA_PAST_VALUE)));
    TRY(attention_extents(&a));
    TRY(runtime_bias(&a, MHA_MASK, false, MHA_SCORE_BIAS, &bias));
    TRY(give_attention(&a, bias, 3));
    TRY(emit_give(&a.s, 1, a.k));
    return emit_give(&a.s, 2, a.v);
}
