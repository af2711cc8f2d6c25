/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators on quantized integers: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv. Where all scales are
 * known, the latter two are operators of the reals that the integers stand for (onnx_qlinear.c). Else sums of products
 * are computed in integers, so they are exact, and one product with the ratio of the scales follows. */
#include <math.h>

#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_quantized.h"
#include "converters/onnx/lower/onnx_rows.h"

/* The indices of an operator's inputs; scales only of the QLinear ones. */
struct places {
    uint32_t x, x_zero, w, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
};

static const struct places integer_places = {.x = 0, .w = 1, .x_zero = 2, .w_zero = 3, .bias = UINT32_MAX};
static const struct places linear_places = {
    .x = 0, .x_scale = 1, .x_zero = 2, .w = 3, .w_scale = 4, .w_zero = 5, .y_scale = 6, .y_zero = 7, .bias = 8};

static odlc_status need_bytes(const struct lower *l, uint32_t i, const char *what, tensor_id *out)
{
    TRY(lower_need(l, i, what, out));
    enum dtype dtype = build_type(l->b, *out)->dtype;
    if (dtype_is_small_float(dtype))
        return lower_unsupported(l, NULL, NULL, "input %s is of type %s, which containers do not have", what,
                                 dtype_info(dtype)->name);
    if (dtype != DT_INT8 && dtype != DT_UINT8)
        return lower_invalid(l, NULL, NULL, "input %s is of type %s, not of 8-bit integers", what,
                             dtype_info(dtype)->name);
    return ODLC_OK;
}

/* A vector with a value per index of an axis of `of`, followed by `after` more axes: made to broadcast. One value
 * broadcasts to whatever there is; a list of any other shape does as it is. */
static odlc_status spread(struct emit *s, tensor_id *t, int64_t extent, uint32_t after)
{
    if (*t == NO_TENSOR)
        return ODLC_OK;
    const struct lower *l = s->l;
    const struct shape *from = &build_type(l->b, *t)->shape;
    struct shape to = {.rank = 0};
    if (shape_count(from) > 1) {
        if (from->rank != 1)
            return ODLC_OK;
        if (from->dims[0] != extent)
            return lower_invalid(l, NULL, NULL, "%lld scales or zero points for %lld rows or channels",
                                 (long long)from->dims[0], (long long)extent);
        to = (struct shape){.rank = after + 1, .dims = {extent}};
        for (uint32_t i = 1; i <= after; i++)
            to.dims[i] = 1;
    }
    *t = emit_reshape(s, *t, &to);
    return s->status;
}

/* How an operator of floats is lowered on these int32 operands instead of the node's own inputs; its result has no name
 * of the model's. */
static odlc_status lower_on(struct lower *l, lower_fn *fn, const tensor_id *in, uint32_t n_in,
                            const struct places *places, tensor_id *out)
{
    const uint32_t from[] = {places->x, places->w, places->bias};
    const char *names[3];
    struct fw_node node = *l->node;
    for (uint32_t i = 0; i < n_in; i++)
        names[i] = l->node->inputs[from[i]];
    node.inputs = names;
    node.n_inputs = n_in;
    struct lower sub = *l;
    sub.node = &node;
    sub.in = in;
    sub.n_in = n_in;
    sub.out = out;
    sub.n_out = 0;
    return fn(&sub);
}

/* ---- sums of products ---- */

static odlc_status matmul_sum(struct lower *l, const struct places *p, tensor_id *sum)
{
    struct emit s = {.l = l};
    tensor_id a, b, a_zero = lower_in(l, p->x_zero), b_zero = lower_in(l, p->w_zero);
    TRY(need_bytes(l, p->x, "a", &a));
    TRY(need_bytes(l, p->w, "b", &b));
    const struct shape left = build_type(l->b, a)->shape, right = build_type(l->b, b)->shape;
    if (left.rank == 0 || right.rank == 0)
        return lower_invalid(l, NULL, NULL, "an operand is a scalar");
    TRY(spread(&s, &a_zero, left.rank > 1 ? left.dims[left.rank - 2] : 1, left.rank > 1));
    TRY(spread(&s, &b_zero, right.rank > 1 ? right.dims[right.rank - 1] : 1, 0));
    tensor_id in[2];
    in[0] = emit_center(&s, a, a_zero);
    in[1] = emit_center(&s, b, b_zero);
    TRY(s.status);
    return lower_on(l, lower_matmul, in, 2, p, sum);
}

static odlc_status conv_sum(struct lower *l, const struct places *p, tensor_id *sum)
{
    struct emit s = {.l = l};
    tensor_id x, w, x_zero = lower_in(l, p->x_zero), w_zero = lower_in(l, p->w_zero);
    TRY(need_bytes(l, p->x, "x", &x));
    TRY(need_bytes(l, p->w, "w", &w));
    const struct shape weights = build_type(l->b, w)->shape;
    if (weights.rank < 3)
        return lower_invalid(l, NULL, NULL, "the weights %s have no spatial axis",
                             shape_text(l->diags->arena, &weights));
    TRY(spread(&s, &x_zero, 1, 0));
    TRY(spread(&s, &w_zero, weights.dims[0], weights.rank - 1));
    tensor_id in[3] = {[2] = lower_in(l, p->bias)};
    in[0] = emit_center(&s, x, x_zero);
    in[1] = emit_center(&s, w, w_zero);
    TRY(s.status);
    return lower_on(l, lower_conv, in, in[2] == NO_TENSOR ? 2 : 3, p, sum);
}

odlc_status lower_matmul_integer(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id sum;
    TRY(matmul_sum(l, &integer_places, &sum));
    return emit_give(&s, 0, sum);
}

odlc_status lower_conv_integer(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id sum;
    TRY(conv_sum(l, &integer_places, &sum));
    return emit_give(&s, 0, sum);
}

/* ---- between scales ---- */

struct scales {
    tensor_id x, w, y, zero;
    enum dtype to;
};

static odlc_status read_scales(const struct lower *l, const struct places *p, struct scales *q)
{
    TRY(lower_need(l, p->x_scale, "the first scale", &q->x));
    TRY(lower_need(l, p->w_scale, "the second scale", &q->w));
    TRY(lower_need(l, p->y_scale, "y_scale", &q->y));
    TRY(need_bytes(l, p->y_zero, "y_zero_point", &q->zero));
    q->to = build_type(l->b, q->zero)->dtype;
    return ODLC_OK;
}

/* round(sum · (x · w / y)) + zero, saturated. The ratio is computed in the scales' own type, the product in float32. */
static odlc_status give_requantized(struct lower *l, tensor_id sum, const struct scales *q)
{
    struct emit s = {.l = l};
    tensor_id ratio = emit_binary(&s, OP_ElementWiseMultiply, q->x, q->w);
    ratio = emit_binary(&s, OP_ElementWiseDivide, ratio, q->y);
    ratio = emit_cast(&s, ratio, DT_FLOAT32);
    tensor_id product = emit_cast(&s, sum, DT_FLOAT32);
    product = emit_binary(&s, OP_ElementWiseMultiply, product, ratio);
    tensor_id y = emit_saturate(&s, product, q->zero, q->to);
    return emit_give(&s, 0, y);
}

/* ---- by reals ---- */

/* Whether input i is known: positive numbers of float32, so many of them or one. */
static bool known_scale(const struct lower *l, uint32_t i, uint64_t most)
{
    const tensor_id id = lower_in(l, i);
    uint64_t count = 0;
    const double *scale =
        id == NO_TENSOR || build_type(l->b, id)->dtype != DT_FLOAT32 ? NULL : build_const_as_floats(l->b, id, &count);
    if (!scale || (count != 1 && (count != most || build_rank(l->b, id) != 1)))
        return false;
    for (uint64_t k = 0; k < count; k++)
        if (!(scale[k] > 0) || !isfinite(scale[k]))
            return false;
    return true;
}

static bool known_zero(const struct lower *l, uint32_t zero, uint32_t x, uint32_t scale)
{
    const tensor_id id = lower_in(l, zero);
    return id != NO_TENSOR && build_is_const(l->b, id) &&
           (x == UINT32_MAX || build_type(l->b, id)->dtype == build_type(l->b, l->in[x])->dtype) &&
           shape_count(&build_type(l->b, id)->shape) == shape_count(&build_type(l->b, l->in[scale])->shape);
}

/* Whether the encodings are those of fixed-point tensors: one for what is computed, of constant weights one per index
 * of the axis at most. */
static bool has_encodings(const struct lower *l, const struct places *p, int64_t channels)
{
    const bool constant = build_is_const(l->b, l->in[p->w]);
    return known_scale(l, p->x_scale, 1) && known_scale(l, p->y_scale, 1) &&
           known_scale(l, p->w_scale, constant && channels > 0 ? (uint64_t)channels : 1) &&
           known_zero(l, p->x_zero, p->x, p->x_scale) && known_zero(l, p->w_zero, p->w, p->w_scale) &&
           known_zero(l, p->y_zero, UINT32_MAX, p->y_scale);
}

static odlc_status real_operands(struct lower *l, const struct places *p, int64_t axis, tensor_id in[2])
{
    const struct qlinear_operand w = {l->in[p->w], l->in[p->w_scale], l->in[p->w_zero], axis};
    TRY(qlinear_operand(l, (uint32_t[]){p->x, p->x_scale, p->x_zero}, "x", &in[0]));
    return qlinear_real(l, &w, &in[1]);
}

/* ---- QLinearMatMul ---- */

static odlc_status real_matmul(struct lower *l)
{
    const struct places *p = &linear_places;
    tensor_id in[2], real;
    TRY(real_operands(l, p, (int64_t)build_rank(l->b, l->in[p->w]) - 1, in));
    TRY(qlinear_step(l, lower_matmul, in, 2, &real));
    return qlinear_give(l, real, p->y_scale, p->y_zero, DT_UINT8);
}

/* Numbers for columns stand in a list, or in a matrix of one row: [.., 1, N], which becomes a list. */
static odlc_status list_columns(struct lower *l, uint32_t i, tensor_id *in)
{
    struct emit s = {.l = l};
    const tensor_id id = lower_in(l, i);
    const struct shape *shape = id == NO_TENSOR ? NULL : &build_type(l->b, id)->shape;
    if (!shape || shape->rank < 2 || (uint64_t)shape->dims[shape->rank - 1] != shape_count(shape))
        return ODLC_OK;
    in[i] = emit_reshape(&s, id, &SHAPE(shape->dims[shape->rank - 1]));
    return s.status;
}

static odlc_status qlinear_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    const struct places *p = &linear_places;
    struct scales q;
    tensor_id sum;
    TRY(read_scales(l, p, &q));
    TRY(need_bytes(l, p->x, "a", &sum));
    TRY(need_bytes(l, p->w, "b", &sum));
    const struct shape *columns_of = &build_type(l->b, sum)->shape;
    if (has_encodings(l, p, columns_of->rank > 1 ? columns_of->dims[columns_of->rank - 1] : 1))
        return real_matmul(l);
    TRY(matmul_sum(l, p, &sum));
    const struct shape *a = &build_type(l->b, l->in[p->x])->shape, *b = &build_type(l->b, l->in[p->w])->shape;
    int64_t rows = a->rank > 1 ? a->dims[a->rank - 2] : 1, columns = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    uint32_t after = b->rank > 1; /* the columns that follow the rows in the result */
    TRY(spread(&s, &q.x, rows, after));
    TRY(spread(&s, &q.w, columns, 0));
    TRY(spread(&s, &q.y, rows, after));
    TRY(spread(&s, &q.zero, rows, after));
    return give_requantized(l, sum, &q);
}

odlc_status lower_qlinear_matmul(struct lower *l)
{
    struct lower listed = *l;
    tensor_id *in = arena_memdup(l->arena, l->in, l->n_in * sizeof *l->in);
    TRY(list_columns(l, linear_places.w_scale, in));
    TRY(list_columns(l, linear_places.w_zero, in));
    listed.in = in;
    return qlinear_matmul(&listed);
}

/* ---- QLinearConv ---- */

/* The bias has the scales of the products. */
static odlc_status real_conv(struct lower *l, bool channels_last)
{
    struct emit s = {.l = l};
    const struct places *p = &linear_places;
    struct qlinear_operand bias = {.x = lower_in(l, p->bias), .zero = NO_TENSOR};
    tensor_id in[3] = {[2] = NO_TENSOR}, real;
    TRY(real_operands(l, p, 0, in));
    if (bias.x != NO_TENSOR) {
        bias.scale = emit_binary(&s, OP_ElementWiseMultiply, l->in[p->w_scale], l->in[p->x_scale]);
        TRY(s.status);
        TRY(qlinear_real(l, &bias, &in[2]));
    }
    if (channels_last)
        TRY(build_to_channels_first(l->b, in[0], step_name(l, "nchw"), &in[0]));
    TRY(qlinear_step(l, lower_conv, in, 3, &real));
    if (channels_last)
        TRY(build_to_channels_last(l->b, real, &real));
    return qlinear_give(l, real, p->y_scale, p->y_zero, DT_UINT8);
}

odlc_status lower_qlinear_conv(struct lower *l)
{
    struct emit s = {.l = l};
    const struct places *p = &linear_places;
    struct scales q;
    tensor_id sum;
    bool channels_last;
    TRY(read_scales(l, p, &q));
    TRY(need_bytes(l, p->x, "x", &sum));
    TRY(need_bytes(l, p->w, "w", &sum));
    TRY(contrib_flag(l, "channels_last", false, &channels_last));
    if (has_encodings(l, p, build_rank(l->b, sum) > 0 ? build_type(l->b, sum)->shape.dims[0] : 0))
        return real_conv(l, channels_last);
    if (channels_last)
        return lower_unsupported(l, "channels_last", NULL, "channels last, with scales that are not known");
    TRY(conv_sum(l, p, &sum));
    const struct shape w = build_type(l->b, l->in[p->w])->shape;
    TRY(spread(&s, &q.x, 1, 0));
    TRY(spread(&s, &q.w, w.dims[0], w.rank - 2));
    TRY(spread(&s, &q.y, 1, 0));
    TRY(spread(&s, &q.zero, 1, 0));
    return give_requantized(l, sum, &q);
}
