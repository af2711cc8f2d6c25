/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Attention and FlexAttention: products of queries, keys and values. */
#include <math.h>

#include "converters/onnx/lower/attention.h"
#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- operands ---- */

static odlc_status unpack_all(struct attention *a)
{
    struct lower *l = a->s.l;
    int64_t q_heads, kv_heads;
    TRY(lower_attr_int(l, "q_num_heads", 0, &q_heads));
    TRY(lower_attr_int(l, "kv_num_heads", 0, &kv_heads));
    if (!a->packed) {
        bool fits = (q_heads == 0 || q_heads == build_type(l->b, a->q)->shape.dims[1]) &&
                    (kv_heads == 0 || kv_heads == build_type(l->b, a->k)->shape.dims[1]);
        return fits ? ODLC_OK
                    : lower_invalid(l, q_heads ? "q_num_heads" : "kv_num_heads", NULL,
                                    "the numbers of heads are not those of the inputs");
    }
    TRY(attention_unpack(a, "Q", q_heads, &a->q));
    TRY(attention_unpack(a, "K", kv_heads, &a->k));
    return attention_unpack(a, "V", kv_heads, &a->v);
}

static odlc_status read_operands(struct attention *a, bool may_be_packed)
{
    struct lower *l = a->s.l;
    TRY(lower_need(l, 0, "Q", &a->q));
    TRY(lower_need(l, 1, "K", &a->k));
    TRY(lower_need(l, 2, "V", &a->v));
    a->dtype = build_type(l->b, a->q)->dtype;
    uint32_t rank = build_rank(l->b, a->q);
    a->packed = may_be_packed && rank == 3;
    if ((rank != 4 && !a->packed) || build_rank(l->b, a->k) != rank || build_rank(l->b, a->v) != rank)
        return lower_invalid(l, NULL, NULL, "Q, K and V have the ranks %u, %u and %u", rank, build_rank(l->b, a->k),
                             build_rank(l->b, a->v));
    if (!dtype_is_float(a->dtype) || build_type(l->b, a->k)->dtype != a->dtype)
        return lower_invalid(l, NULL, NULL, "Q and K are %s and %s", dtype_info(a->dtype)->name,
                             dtype_info(build_type(l->b, a->k)->dtype)->name);
    return ODLC_OK;
}

static odlc_status scores_of(struct attention *a, tensor_id *out)
{
    double scale;
    TRY(lower_attr_float(a->s.l, "scale", 1 / sqrt((double)a->size), &scale));
    *out = attention_scores(a, scale);
    return a->s.status;
}

static odlc_status softmax_dtype(struct lower *l, enum dtype absent, enum dtype *out)
{
    int64_t code;
    const char *name = NULL;
    *out = absent;
    if (!lower_has_attr(l, "softmax_precision"))
        return ODLC_OK;
    TRY(lower_attr_int(l, "softmax_precision", 0, &code));
    if (onnx_dtype(code, out, &name) != ODLC_OK || !dtype_is_float(*out))
        return lower_invalid(l, "softmax_precision", NULL, "%lld is not a floating-point type", (long long)code);
    return ODLC_OK;
}

/* ---- operators ---- */

enum { MODE_RAW, MODE_CAPPED, MODE_BIASED, MODE_PROBABILITIES, N_MODES };

/* stages: what qk_matmul_output can be, by mode. probabilities: those that weigh the values. */
static odlc_status score_stages(struct attention *a, tensor_id stages[N_MODES], tensor_id *probabilities)
{
    struct lower *l = a->s.l;
    enum dtype precise;
    tensor_id bias;
    /* Where the model asks for no precision, float16 scores are not rounded again on the way to Y. */
    TRY(softmax_dtype(l, a->dtype == DT_FLOAT16 ? DT_FLOAT32 : a->dtype, &precise));
    TRY(scores_of(a, &stages[MODE_RAW]));
    stages[MODE_CAPPED] = stages[MODE_RAW];
    TRY(attention_cap(a, &stages[MODE_CAPPED]));
    TRY(attention_bias(a, &bias));
    stages[MODE_BIASED] = stages[MODE_CAPPED];
    if (bias != NO_TENSOR)
        stages[MODE_BIASED] = emit_binary(&a->s, OP_ElementWiseAdd, stages[MODE_CAPPED], bias);
    tensor_id softmax = emit_softmax(&a->s, emit_cast(&a->s, stages[MODE_BIASED], precise), 3);
    *probabilities = attention_guard(a, bias, softmax);
    if (lower_has_attr(l, "softmax_precision"))
        *probabilities = emit_cast(&a->s, *probabilities, a->dtype);
    return a->s.status;
}

odlc_status lower_attention(struct lower *l)
{
    struct attention a = {.s.l = l};
    tensor_id stages[N_MODES], probabilities;
    int64_t mode;
    TRY(read_operands(&a, true));
    TRY(unpack_all(&a));
    TRY(attention_join_past(&a, lower_in(l, 4), lower_in(l, 5)));
    TRY(attention_extents(&a));
    TRY(lower_attr_int(l, "qk_matmul_output_mode", MODE_RAW, &mode));
    if (mode < 0 || mode >= N_MODES)
        return lower_invalid(l, "qk_matmul_output_mode", NULL, "the mode %lld is not known", (long long)mode);
    TRY(score_stages(&a, stages, &probabilities));
    enum dtype compute = attention_wider(build_type(l->b, probabilities)->dtype, build_type(l->b, a.v)->dtype);
    tensor_id y = attention_weigh(&a, probabilities, compute, a.dtype);
    TRY(emit_give(&a.s, 0, y));
    TRY(emit_give(&a.s, 1, a.k));
    TRY(emit_give(&a.s, 2, a.v));
    if (!lower_out_name(l, 3))
        return ODLC_OK;
    stages[MODE_PROBABILITIES] = emit_cast(&a.s, probabilities, a.dtype);
    return emit_give(&a.s, 3, stages[mode]);
}

/* The subgraph of that name, where the node has it, makes another tensor of the same type of x. */
static odlc_status modify(struct attention *a, const char *name, tensor_id *x)
{
    struct lower *l = a->s.l;
    const struct fw_graph *g;
    TRY(a->s.status);
    if (!lower_has_attr(l, name))
        return ODLC_OK;
    TRY(lower_attr_graph(l, name, &g));
    if (g->inputs.count != 1 || g->outputs.count != 1)
        return lower_invalid(l, name, NULL, "%s does not have one input and one output", name);
    const struct lower_value given = {.kind = VALUE_TENSOR, .tensor = *x};
    const struct type before = *build_type(l->b, *x);
    struct lower_value made;
    TRY(lower_subgraph(l, g, step_name(l, name), &given, 1, &made));
    if (made.kind != VALUE_TENSOR)
        return lower_invalid(l, name, NULL, "%s does not give a tensor", name);
    const struct type *after = build_type(l->b, made.tensor);
    if (after->dtype != before.dtype || !shape_equal(&after->shape, &before.shape))
        return lower_invalid(l, name, NULL, "%s makes %s%s of %s%s", name, dtype_info(after->dtype)->name,
                             shape_text(l->diags->arena, &after->shape), dtype_info(before.dtype)->name,
                             shape_text(l->diags->arena, &before.shape));
    *x = made.tensor;
    return ODLC_OK;
}

/* Scores and probabilities in the precision of the softmax. */
odlc_status lower_flex_attention(struct lower *l)
{
    struct attention a = {.s.l = l};
    enum dtype precise;
    tensor_id scores;
    TRY(read_operands(&a, false));
    TRY(attention_extents(&a));
    TRY(softmax_dtype(l, a.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32, &precise));
    TRY(scores_of(&a, &scores));
    scores = emit_cast(&a.s, scores, precise);
    TRY(modify(&a, "score_mod", &scores));
    tensor_id probabilities = emit_softmax(&a.s, scores, 3);
    TRY(modify(&a, "prob_mod", &probabilities));
    tensor_id y = attention_weigh(&a, probabilities, precise, build_type(l->b, a.v)->dtype);
    return emit_give(&a.s, 0, y);
}
