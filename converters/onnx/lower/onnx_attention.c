/* ONNX Attention and FlexAttention: products of queries, keys and values. */
#include <math.h>

#include "converters/onnx/lower/attention.h"
#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

static const struct perm swap_heads = {.rank = 4, .axis = {0, 2, 1, 3}};

/* ---- operands ---- */

/* [batch, positions, heads * size] → [batch, heads, positions, size] */
static odlc_status unpack(struct attention *a, const char *what, int64_t heads, tensor_id *x)
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
    TRY(unpack(a, "Q", q_heads, &a->q));
    TRY(unpack(a, "K", kv_heads, &a->k));
    return unpack(a, "V", kv_heads, &a->v);
}

/* The extents, when q, k and v fit together. */
static odlc_status read_extents(struct attention *a)
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

/* Keys and values of earlier calls, always [batch, heads, positions, size], come first. */
static odlc_status join_past(struct attention *a)
{
    struct lower *l = a->s.l;
    tensor_id past_key = lower_in(l, 4), past_value = lower_in(l, 5);
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

/* scale · Q · K'. The operator's pattern has the root of the scale at both operands, which keeps small types in range;
 * a negative scale has no root, so its sign goes to Q. */
static odlc_status scores_of(struct attention *a, tensor_id *out)
{
    struct lower *l = a->s.l;
    double scale;
    TRY(lower_attr_float(l, "scale", 1 / sqrt((double)a->size), &scale));
    double root = sqrt(fabs(scale));
    tensor_id q = a->q, k = a->k;
    if (scale != 1) {
        q = emit_binary(&a->s, OP_ElementWiseMultiply, q, emit_scalar(&a->s, q, scale < 0 ? -root : root));
        k = emit_binary(&a->s, OP_ElementWiseMultiply, k, emit_scalar(&a->s, k, root));
    }
    tensor_id product = emit_matmul(&a->s, in_groups(a, q, a->size), k, false, true);
    *out = in_heads(a, product, a->keys);
    return a->s.status;
}

/* softcap · tanh(x / softcap) */
static odlc_status cap_scores(struct attention *a, tensor_id *x)
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

/* The type in which tensors of both are multiplied. */
static enum dtype wider(enum dtype x, enum dtype y)
{
    if (x == y)
        return x;
    return x == DT_FLOAT64 || y == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32;
}

/* probabilities · V, in the type of the result and the model's form. */
static tensor_id weigh_values(struct attention *a, tensor_id probabilities, enum dtype compute, enum dtype result)
{
    tensor_id p = emit_cast(&a->s, probabilities, compute), v = emit_cast(&a->s, a->v, compute);
    tensor_id product = emit_matmul(&a->s, in_groups(a, p, a->keys), v, false, false);
    tensor_id y = emit_cast(&a->s, in_heads(a, product, a->v_size), result);
    if (!a->packed)
        return y;
    struct shape packed = SHAPE(a->batch, a->queries, a->q_heads * a->v_size);
    return emit_reshape(&a->s, emit_transpose(&a->s, y, &swap_heads), &packed);
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
    TRY(cap_scores(a, &stages[MODE_CAPPED]));
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
    TRY(join_past(&a));
    TRY(read_extents(&a));
    TRY(lower_attr_int(l, "qk_matmul_output_mode", MODE_RAW, &mode));
    if (mode < 0 || mode >= N_MODES)
        return lower_invalid(l, "qk_matmul_output_mode", NULL, "the mode %lld is not known", (long long)mode);
    TRY(score_stages(&a, stages, &probabilities));
    enum dtype compute = wider(build_type(l->b, probabilities)->dtype, build_type(l->b, a.v)->dtype);
    tensor_id y = weigh_values(&a, probabilities, compute, a.dtype);
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
    TRY(read_extents(&a));
    TRY(softmax_dtype(l, a.dtype == DT_FLOAT64 ? DT_FLOAT64 : DT_FLOAT32, &precise));
    TRY(scores_of(&a, &scores));
    scores = emit_cast(&a.s, scores, precise);
    TRY(modify(&a, "score_mod", &scores));
    tensor_id probabilities = emit_softmax(&a.s, scores, 3);
    TRY(modify(&a, "prob_mod", &probabilities));
    tensor_id y = weigh_values(&a, probabilities, precise, build_type(l->b, a.v)->dtype);
    return emit_give(&a.s, 0, y);
}
