/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations that ONNX Runtime joins with what stands before them: a residual sum, or the embedding of words. */
#include "converters/onnx/lower/norm.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_rows.h"

/* Rows of the last axis: weights are [columns]. */
static odlc_status read_rows(struct emit *s, uint32_t gamma, uint32_t beta, tensor_id x, struct over_axes *n)
{
    struct lower *l = s->l;
    const struct type *type = build_type(l->b, x);
    int64_t columns = type->shape.dims[type->shape.rank - 1];
    *n = (struct over_axes){.x = x, .shift = NO_TENSOR, .result = type->dtype};
    norm_over_last(l, type->shape.rank - 1, n);
    TRY(lower_attr_float(l, "epsilon", (double)1e-12f, &n->epsilon));
    TRY(contrib_line(l, gamma, "gamma", columns, &n->scale));
    if (beta && lower_in(l, beta) != NO_TENSOR)
        TRY(contrib_line(l, beta, "beta", columns, &n->shift));
    return ODLC_OK;
}

/* input + skip + bias; a skip of one sample serves all of them. */
static odlc_status residual_sum(struct emit *s, uint32_t bias, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id x, skip, line;
    struct shape both;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_need(l, 1, "skip", &skip));
    const struct shape *in = &build_type(l->b, x)->shape, *more = &build_type(l->b, skip)->shape;
    bool rows = (in->rank == 2 || in->rank == 3) && more->rank >= 2 && shape_broadcast(more, in, &both) &&
                shape_equal(&both, in) && more->dims[more->rank - 2] == in->dims[in->rank - 2] &&
                more->dims[more->rank - 1] == in->dims[in->rank - 1];
    if (!rows || build_type(l->b, x)->dtype != build_type(l->b, skip)->dtype)
        return lower_invalid(l, NULL, NULL, "skip %s%s cannot be added to %s%s",
                             dtype_info(build_type(l->b, skip)->dtype)->name, shape_text(l->diags->arena, more),
                             dtype_info(build_type(l->b, x)->dtype)->name, shape_text(l->diags->arena, in));
    int64_t columns = in->dims[in->rank - 1];
    *out = emit_binary(s, OP_ElementWiseAdd, x, skip);
    if (lower_in(l, bias) == NO_TENSOR)
        return s->status;
    TRY(contrib_line(l, bias, "bias", columns, &line));
    *out = emit_binary(s, OP_ElementWiseAdd, *out, line);
    return s->status;
}

odlc_status lower_skip_layer_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    tensor_id sum, y;
    TRY(residual_sum(&s, 4, &sum));
    TRY(read_rows(&s, 2, 3, sum, &n));
    TRY(norm_give_statistics(&s, &n, DT_FLOAT32));
    TRY(norm_by_layer(&s, &n, &y));
    TRY(emit_give(&s, 0, y));
    return emit_give(&s, 3, sum);
}

odlc_status lower_skip_simplified_layer_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    tensor_id sum, y;
    if (lower_out_name(l, 1))
        return lower_unsupported(l, NULL, NULL, "nothing defines the mean, output 1 (%s)", lower_out_name(l, 1));
    TRY(residual_sum(&s, 3, &sum));
    TRY(read_rows(&s, 2, 0, sum, &n));
    TRY(norm_by_root(&s, &n, DT_FLOAT32, 2, &y));
    TRY(emit_give(&s, 0, y));
    return emit_give(&s, 3, sum);
}

/* ---- EmbedLayerNormalization and QEmbedLayerNormalization ---- */

enum {
    IN_WORD_IDS,
    IN_SEGMENT_IDS,
    IN_WORDS,
    IN_POSITIONS,
    IN_SEGMENTS,
    IN_GAMMA,
    IN_BETA,
    IN_PADDING,
    IN_POSITION_IDS,
    SCALE_BEHIND = IN_PADDING + 1 - IN_WORDS, /* inputs from an embedding of bytes to its scale */
    ZERO_BEHIND = SCALE_BEHIND + IN_PADDING - IN_WORDS
};

/* Of QEmbedLayerNormalization, whose embeddings, gamma and beta are bytes; their scales and zero points stand behind
 * the mask in the same order. */
static bool is_of_bytes(const struct lower *l)
{
    return l->variant;
}

/* x of input i, or picked from there: an embedding of bytes stays as small as the model has it. */
static odlc_status as_reals(struct emit *s, uint32_t i, tensor_id *x)
{
    struct lower *l = s->l;
    struct qlinear_operand q = {.x = *x, .zero = lower_in(l, i + ZERO_BEHIND)};
    TRY(s->status);
    if (!is_of_bytes(l))
        return ODLC_OK;
    TRY(lower_need(l, i + SCALE_BEHIND, "a scale", &q.scale));
    return qlinear_real(l, &q, x);
}

/* The rows of the embedding in input `table` that input `ids`, of `count` positions a sample, picks. */
static odlc_status pick_rows(struct emit *s, uint32_t ids, uint32_t table, const struct shape *positions, bool shared,
                             tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id numbers, rows;
    TRY(lower_need(l, ids, "ids", &numbers));
    TRY(lower_need(l, table, "embedding", &rows));
    const struct type *type = build_type(l->b, numbers);
    struct shape once = SHAPE(1, positions->dims[1]);
    bool fits = shape_equal(&type->shape, positions) || (shared && shape_equal(&type->shape, &once));
    if (!dtype_is_int(type->dtype) || !fits || build_rank(l->b, rows) != 2)
        return lower_invalid(l, NULL, NULL, "input %u, %s%s, does not pick rows of an embedding %s for %s", ids,
                             dtype_info(type->dtype)->name, shape_text(l->diags->arena, &type->shape),
                             shape_text(l->diags->arena, &build_type(l->b, rows)->shape),
                             shape_text(l->diags->arena, positions));
    *out = emit_gather(s, rows, numbers, 0);
    return as_reals(s, table, out);
}

/* Without position_ids the first rows are taken. */
static odlc_status position_rows(struct emit *s, const struct shape *positions, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id rows;
    TRY(lower_need(l, IN_POSITIONS, "position_embedding", &rows));
    if (!is_of_bytes(l) && lower_in(l, IN_POSITION_IDS) != NO_TENSOR)
        return pick_rows(s, IN_POSITION_IDS, IN_POSITIONS, positions, true, out);
    const struct shape *shape = &build_type(l->b, rows)->shape;
    if (shape->rank != 2 || shape->dims[0] < positions->dims[1])
        return lower_invalid(l, NULL, NULL, "position_embedding %s does not have %lld rows",
                             shape_text(l->diags->arena, shape), (long long)positions->dims[1]);
    *out = emit_slice(s, rows, 0, 0, positions->dims[1]);
    return as_reals(s, IN_POSITIONS, out);
}

/* Words, positions and segments; their embeddings have one width. */
static odlc_status embedding_sum(struct emit *s, const struct shape *positions, tensor_id *out)
{
    struct lower *l = s->l;
    tensor_id words, places, segments;
    struct shape result;
    TRY(pick_rows(s, IN_WORD_IDS, IN_WORDS, positions, false, &words));
    TRY(position_rows(s, positions, &places));
    result = build_type(l->b, words)->shape;
    const struct shape *rows = &build_type(l->b, places)->shape;
    bool fits = rows->dims[rows->rank - 1] == result.dims[2];
    segments = NO_TENSOR;
    if ((lower_in(l, IN_SEGMENT_IDS) == NO_TENSOR) != (lower_in(l, IN_SEGMENTS) == NO_TENSOR))
        return lower_invalid(l, NULL, NULL, "segment_ids and segment_embedding are given together or not at all");
    if (lower_in(l, IN_SEGMENT_IDS) != NO_TENSOR) {
        TRY(pick_rows(s, IN_SEGMENT_IDS, IN_SEGMENTS, positions, false, &segments));
        fits = fits && shape_equal(&build_type(l->b, segments)->shape, &result);
    }
    if (!fits)
        return lower_invalid(l, NULL, NULL, "the embeddings have rows of different lengths");
    *out = emit_binary(s, OP_ElementWiseAdd, words, places);
    if (segments != NO_TENSOR)
        *out = emit_binary(s, OP_ElementWiseAdd, *out, segments);
    return s->status;
}

/* How many words of each sample the mask lets pass: elements that are 1. Without a mask the runtime gives 0. */
static odlc_status give_mask_index(struct emit *s, const struct shape *positions)
{
    static const int64_t last[] = {1};
    struct lower *l = s->l;
    tensor_id mask = lower_in(l, IN_PADDING);
    struct shape samples = SHAPE(positions->dims[0]);
    if (!lower_out_name(l, 1))
        return s->status;
    if (mask == NO_TENSOR)
        return emit_give(s, 1, lower_splat(l, step_name(l, "mask_index"), DT_INT32, &samples, 0));
    const struct type *type = build_type(l->b, mask);
    if (!dtype_is_int(type->dtype) || !shape_equal(&type->shape, positions))
        return lower_invalid(l, NULL, NULL, "the mask is %s%s instead of int32%s", dtype_info(type->dtype)->name,
                             shape_text(l->diags->arena, &type->shape), shape_text(l->diags->arena, positions));
    tensor_id ones = emit_binary(s, OP_ElementWiseEqual, mask, emit_scalar(s, mask, 1));
    return emit_give(s, 1, emit_reduce(s, OP_ReduceSum, emit_cast(s, ones, DT_INT32), last, 1, false));
}

odlc_status lower_embed_layer_normalization(struct lower *l)
{
    struct emit s = {.l = l};
    struct over_axes n;
    tensor_id ids, sum, y;
    TRY(lower_need(l, IN_WORD_IDS, "input_ids", &ids));
    const struct shape positions = build_type(l->b, ids)->shape;
    if (positions.rank != 2)
        return lower_invalid(l, NULL, NULL, "input_ids %s are not [batch, positions]",
                             shape_text(l->diags->arena, &positions));
    TRY(embedding_sum(&s, &positions, &sum));
    TRY(read_rows(&s, IN_GAMMA, IN_BETA, sum, &n));
    TRY(as_reals(&s, IN_GAMMA, &n.scale));
    if (n.shift != NO_TENSOR)
        TRY(as_reals(&s, IN_BETA, &n.shift));
    TRY(norm_by_layer(&s, &n, &y));
    TRY(emit_give(&s, 0, y));
    TRY(give_mask_index(&s, &positions));
    return emit_give(&s, 2, sum);
}
