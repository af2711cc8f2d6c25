/* SPDX-License-Identifier: Apache-2.0 */
/* RotaryEmbedding of ONNX and of ONNX Runtime. */
#include "converters/onnx/lower/rotary.h"

#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/shapes.h"

/* ---- the turn ---- */

odlc_status rotary_rows(struct emit *s, const char *name, tensor_id cache, tensor_id ids, const struct shape *rows,
                        bool packed, tensor_id *out)
{
    struct lower *l = s->l;
    struct shape id_shape = SHAPE(rows->dims[0], rows->dims[1]);
    *out = cache;
    if (ids != NO_TENSOR) {
        const struct type *type = build_type(l->b, ids);
        if (!dtype_is_int(type->dtype) || !shape_equal(&type->shape, &id_shape) || build_rank(l->b, cache) != 2)
            return lower_invalid(l, NULL, NULL, "position_ids %s do not pick rows of %s for an input of %s",
                                 shape_text(l->diags->arena, &type->shape), name,
                                 shape_text(l->diags->arena, &id_shape));
        *out = emit_gather(s, cache, ids, 0);
    }
    TRY(s->status);
    if (!shape_equal(&build_type(l->b, *out)->shape, rows))
        return lower_invalid(l, NULL, NULL, "%s gives %s instead of %s", name,
                             shape_text(l->diags->arena, &build_type(l->b, *out)->shape),
                             shape_text(l->diags->arena, rows));
    int64_t positions = rows->dims[1];
    struct shape aligned = SHAPE(rows->dims[0], packed ? positions : 1, packed ? 1 : positions, rows->dims[2]);
    *out = emit_reshape(s, *out, &aligned);
    return s->status;
}

/* The first and the second elements of the pairs: each [.., pairs]. */
static void take_pairs(struct emit *s, const struct rotary *r, tensor_id x, tensor_id *first, tensor_id *second)
{
    const struct shape *in = &build_type(s->l->b, x)->shape;
    if (!r->interleaved) {
        *first = emit_slice(s, x, 3, 0, r->pairs);
        *second = emit_slice(s, x, 3, r->pairs, 2 * r->pairs);
        return;
    }
    struct shape halves = SHAPE(in->dims[0], in->dims[1], in->dims[2], r->pairs), pairs = halves;
    pairs.dims[pairs.rank++] = 2;
    tensor_id apart = emit_reshape(s, emit_slice(s, x, 3, 0, 2 * r->pairs), &pairs);
    *first = emit_reshape(s, emit_slice(s, apart, 4, 0, 1), &halves);
    *second = emit_reshape(s, emit_slice(s, apart, 4, 1, 2), &halves);
}

/* The turned pairs where they were in x, and what follows them. */
static tensor_id put_pairs(struct emit *s, const struct rotary *r, tensor_id x, tensor_id first, tensor_id second)
{
    struct shape whole = build_type(s->l->b, x)->shape;
    tensor_id parts[] = {first, second, NO_TENSOR};
    if (r->interleaved) {
        struct shape pair = whole, turned = whole;
        pair.dims[3] = r->pairs;
        pair.dims[pair.rank++] = 1;
        turned.dims[3] = 2 * r->pairs;
        tensor_id ends[] = {emit_reshape(s, first, &pair), NO_TENSOR};
        ends[1] = emit_reshape(s, second, &pair);
        parts[0] = emit_reshape(s, emit_concat(s, ends, 2, 4), &turned);
    }
    uint32_t count = r->interleaved ? 1 : 2;
    if (2 * r->pairs < whole.dims[3])
        parts[count++] = emit_slice(s, x, 3, 2 * r->pairs, whole.dims[3]);
    return emit_concat(s, parts, count, 3);
}

tensor_id rotary_turn(struct emit *s, const struct rotary *r, tensor_id x)
{
    tensor_id first, second;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    take_pairs(s, r, x, &first, &second);
    tensor_id cos_first = emit_binary(s, OP_ElementWiseMultiply, first, r->cos),
              sin_second = emit_binary(s, OP_ElementWiseMultiply, second, r->sin);
    tensor_id real = emit_binary(s, OP_ElementWiseSubtract, cos_first, sin_second);
    tensor_id sin_first = emit_binary(s, OP_ElementWiseMultiply, first, r->sin),
              cos_second = emit_binary(s, OP_ElementWiseMultiply, second, r->cos);
    tensor_id imaginary = emit_binary(s, OP_ElementWiseAdd, sin_first, cos_second);
    return s->status == ODLC_OK ? put_pairs(s, r, x, real, imaginary) : NO_TENSOR;
}

/* ---- operators ---- */

struct rotated {
    struct emit s;
    struct rotary r;
    tensor_id x;   /* as rotary_turn takes it */
    bool packed;   /* the model has [batch, positions, heads * size] */
    int64_t heads; /* by the attribute */
    int64_t size;  /* 0: of all elements of a packed input that follow from the heads */
    int64_t dim;   /* elements to turn; 0: all */
    int64_t batch, positions;
};

static odlc_status read_rotated(struct rotated *t)
{
    struct lower *l = t->s.l;
    int64_t interleaved;
    TRY(lower_need(l, 0, "X", &t->x));
    TRY(lower_attr_int(l, "num_heads", 0, &t->heads));
    TRY(lower_attr_int(l, "interleaved", 0, &interleaved));
    TRY(lower_attr_int(l, "rotary_embedding_dim", 0, &t->dim));
    t->r.interleaved = interleaved != 0;
    return ODLC_OK;
}

/* Axes of the input, and how much of them is turned. */
static odlc_status split_rotated(struct rotated *t)
{
    struct lower *l = t->s.l;
    const struct shape in = build_type(l->b, t->x)->shape;
    t->packed = in.rank == 3;
    if (in.rank != 3 && in.rank != 4)
        return lower_invalid(l, NULL, NULL, "the input %s has neither three nor four axes",
                             shape_text(l->diags->arena, &in));
    if (t->packed && (t->heads < 1 || in.dims[2] % t->heads != 0))
        return lower_invalid(l, "num_heads", NULL, "%s cannot be divided into %lld heads",
                             shape_text(l->diags->arena, &in), (long long)t->heads);
    t->batch = in.dims[0];
    t->positions = in.dims[t->packed ? 1 : 2];
    t->size = t->packed ? in.dims[2] / t->heads : in.dims[3];
    int64_t dim = t->dim ? t->dim : t->size;
    if (dim < 0 || dim > t->size || dim % 2 != 0)
        return lower_invalid(l, "rotary_embedding_dim", NULL, "%lld of %lld elements cannot be rotated in pairs",
                             (long long)dim, (long long)t->size);
    t->r.pairs = dim / 2;
    struct shape split = SHAPE(in.dims[0], in.dims[1], t->heads, t->size);
    t->x = t->packed ? emit_reshape(&t->s, t->x, &split) : t->x;
    return t->s.status;
}

static odlc_status give_rotated(struct rotated *t)
{
    tensor_id y = rotary_turn(&t->s, &t->r, t->x);
    TRY(t->s.status);
    return emit_give(&t->s, 0, emit_reshape(&t->s, y, &build_type(t->s.l->b, t->s.l->in[0])->shape));
}

odlc_status lower_rotary_embedding(struct lower *l)
{
    struct rotated t = {.s.l = l};
    tensor_id cos, sin;
    TRY(read_rotated(&t));
    TRY(split_rotated(&t));
    TRY(lower_need(l, 1, "cos_cache", &cos));
    TRY(lower_need(l, 2, "sin_cache", &sin));
    struct shape rows = SHAPE(t.batch, t.positions, t.r.pairs);
    TRY(rotary_rows(&t.s, "cos_cache", cos, lower_in(l, 3), &rows, t.packed, &t.r.cos));
    TRY(rotary_rows(&t.s, "sin_cache", sin, lower_in(l, 3), &rows, t.packed, &t.r.sin));
    return give_rotated(&t);
}

/* ---- ONNX Runtime's ---- */

/* position_ids has a number for each position, or that of the first one. */
static odlc_status position_ids(struct rotated *t, struct shape *rows, tensor_id *ids)
{
    struct lower *l = t->s.l;
    int64_t *steps;
    TRY(lower_need(l, 1, "position_ids", ids));
    const struct type type = *build_type(l->b, *ids);
    *rows = SHAPE(t->batch, t->positions, t->r.pairs);
    if (type.shape.rank != 1 || type.shape.dims[0] != 1)
        return ODLC_OK;
    rows->dims[0] = 1;
    TRY(lower_table(l, (uint64_t)t->positions, sizeof *steps, &steps));
    for (int64_t i = 0; i < t->positions; i++)
        steps[i] = i;
    tensor_id line = build_const_ints(l->b, step_name(l, "steps"), type.dtype, &SHAPE(1, t->positions), steps);
    *ids = emit_binary(&t->s, OP_ElementWiseAdd, line, *ids);
    return t->s.status;
}

/* Without rotary_embedding_dim whole heads are turned, whose size the caches tell where num_heads does not. */
odlc_status lower_rotary_embedding_by_runtime(struct lower *l)
{
    struct rotated t = {.s.l = l};
    struct shape rows;
    tensor_id cos, sin, ids;
    int64_t ragged;
    double scale;
    TRY(read_rotated(&t));
    TRY(contrib_flag(l, "interleaved", false, &t.r.interleaved));
    TRY(lower_need(l, 2, "cos_cache", &cos));
    TRY(lower_need(l, 3, "sin_cache", &sin));
    TRY(lower_attr_int(l, "is_packed_batching", 0, &ragged));
    TRY(lower_attr_float(l, "scale", 1, &scale));
    if (scale != 1)
        return lower_unsupported(l, "scale", "ONNX Runtime reads the attribute and computes as with 1",
                                 "nothing defines what a scale does");
    const struct shape *in = &build_type(l->b, t.x)->shape, *cache = &build_type(l->b, cos)->shape;
    if (cache->rank != 2 || cache->dims[1] < 1)
        return lower_invalid(l, NULL, NULL, "cos_cache %s is no matrix", shape_text(l->diags->arena, cache));
    if (t.dim && !t.heads)
        return lower_invalid(l, "num_heads", NULL, "rotary_embedding_dim is there without num_heads");
    if (in->rank == 3 && !t.heads)
        t.heads = in->dims[2] / (2 * cache->dims[1]);
    TRY(split_rotated(&t));
    if (ragged && build_rank(l->b, l->in[1]) != 2)
        return lower_unsupported(l, "is_packed_batching", NULL,
                                 "a ragged batch without a position for each of its rows");
    TRY(position_ids(&t, &rows, &ids));
    TRY(rotary_rows(&t.s, "cos_cache", cos, ids, &rows, t.packed, &t.r.cos));
    TRY(rotary_rows(&t.s, "sin_cache", sin, ids, &rows, t.packed, &t.r.sin));
    return give_rotated(&t);
}
