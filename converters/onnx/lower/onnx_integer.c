/* ONNX operators on quantized integers: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv. Sums of products are
 * computed in integers, so they are exact; one product with the ratio of the scales follows. */
#include "converters/onnx/lower/onnx_shape.h"
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

odlc_status lower_qlinear_matmul(struct lower *l)
{
    struct emit s = {.l = l};
    const struct places *p = &linear_places;
    struct scales q;
    tensor_id sum;
    TRY(read_scales(l, p, &q));
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

odlc_status lower_qlinear_conv(struct lower *l)
{
    struct emit s = {.l = l};
    const struct places *p = &linear_places;
    struct scales q;
    tensor_id sum;
    TRY(read_scales(l, p, &q));
    TRY(conv_sum(l, p, &sum));
    const struct shape w = build_type(l->b, l->in[p->w])->shape;
    TRY(spread(&s, &q.x, 1, 0));
    TRY(spread(&s, &q.w, w.dims[0], w.rank - 2));
    TRY(spread(&s, &q.y, 1, 0));
    TRY(spread(&s, &q.zero, 1, 0));
    return give_requantized(l, sum, &q);
}
