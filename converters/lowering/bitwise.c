/* SPDX-License-Identifier: Apache-2.0 */
/* The container's logical ops are for bools: bits are computed as numbers, by quotients and remainders of powers of two
 * that round down, so that negative numbers show their two's complement. */
#include "converters/lowering/bitwise.h"

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

enum { MOST_BITS = 32 }; /* of an integer that is not known at conversion: what the container stores */

/* Two integer operands that broadcast. */
struct words {
    tensor_id x, y;
    struct shape shape; /* of the result */
    enum dtype dtype;
    enum dtype work;   /* in which the numbers are computed: it has a sign and room to spare, or is dtype itself */
    unsigned bits;     /* of a number in the container */
    unsigned exponent; /* of the largest power of two in `work` */
    bool is_signed;
};

static odlc_status read_words(struct lower *l, tensor_id a, tensor_id b, struct words *w)
{
    w->x = a;
    w->y = b;
    const struct type *x = build_type(l->b, w->x), *y = build_type(l->b, w->y);
    if (!dtype_is_int(x->dtype) || x->dtype != y->dtype)
        return lower_invalid(l, NULL, NULL, "operands of type %s and %s", dtype_info(x->dtype)->name,
                             dtype_info(y->dtype)->name);
    if (!shape_broadcast(&x->shape, &y->shape, &w->shape))
        return lower_invalid(l, NULL, NULL, "the shapes %s and %s do not broadcast",
                             shape_text(l->diags->arena, &x->shape), shape_text(l->diags->arena, &y->shape));
    w->dtype = x->dtype;
    w->is_signed = dtype_info(w->dtype)->cls == CLASS_INT;
    w->bits = min_u64(dtype_info(w->dtype)->bits, MOST_BITS);
    w->work = w->bits < MOST_BITS ? DT_INT32 : w->dtype;
    w->exponent = w->bits < MOST_BITS || w->is_signed ? 30 : 31;
    return ODLC_OK;
}

/* ---- known at conversion: in 64 bits ---- */

/* Element `at` of the result comes from here in an operand that broadcasts. */
static uint64_t source_of(uint64_t at, const struct shape *result, const struct shape *operand)
{
    uint64_t source = 0, stride = 1;
    for (uint32_t i = result->rank; i-- > 0; at /= (uint64_t)result->dims[i]) {
        if (i + operand->rank < result->rank)
            continue;
        uint64_t dim = (uint64_t)operand->dims[i + operand->rank - result->rank];
        source += dim == 1 ? 0 : at % (uint64_t)result->dims[i] * stride;
        stride *= dim;
    }
    return source;
}

typedef int64_t word_fn(const struct words *w, int64_t x, int64_t y);

/* Output 0 from constants; *done false when an operand is not one. */
static odlc_status fold_words(struct lower *l, const struct words *w, word_fn *fn, bool *done)
{
    uint64_t count;
    *done = build_is_const(l->b, w->x) && build_is_const(l->b, w->y);
    if (!*done)
        return ODLC_OK;
    const struct shape x_shape = build_type(l->b, w->x)->shape, y_shape = build_type(l->b, w->y)->shape;
    int64_t *values;
    TRY(lower_check_shape(l, "A", &w->shape));
    TRY(lower_table(l, shape_count(&w->shape), sizeof *values, &values));
    const int64_t *x = build_const_as_ints(l->b, w->x, &count), *y = build_const_as_ints(l->b, w->y, &count);
    for (uint64_t i = 0; i < shape_count(&w->shape); i++)
        values[i] = fn(w, x[source_of(i, &w->shape, &x_shape)], y[source_of(i, &w->shape, &y_shape)]);
    keep_low_bits(values, w->dtype, shape_count(&w->shape));
    l->out[0] = build_const_ints(l->b, lower_out_name(l, 0), w->dtype, &w->shape, values);
    return ODLC_OK;
}

/* ---- pieces ---- */

/* An operand in the type of the computation. A constant must be a number that the container has. */
static odlc_status work_operand(struct emit *s, const struct words *w, tensor_id operand, tensor_id *out)
{
    struct lower *l = s->l;
    uint64_t count;
    const int64_t *values = dtype_size(w->dtype) > 4 ? build_const_as_ints(l->b, operand, &count) : NULL;
    for (uint64_t i = 0; values && i < count; i++)
        if (w->is_signed ? values[i] != (int32_t)values[i] : (uint64_t)values[i] > UINT32_MAX)
            return lower_unsupported(l, NULL, "the container stores 32-bit integers only",
                                     "the constant operand %lld has more than 32 bits", (long long)values[i]);
    *out = emit_cast(s, operand, w->work);
    return s->status;
}

/* 2^k for k = first, first + 1, … with at most `most` as exponent. */
static tensor_id powers(struct emit *s, const struct words *w, unsigned count, unsigned most)
{
    struct shape shape = SHAPE(count);
    double *values = arena_array(s->l->arena, double, count);
    for (unsigned k = 0; k < count; k++)
        values[k] = (double)(UINT64_C(1) << min_u64(k, most));
    return emit_constant(s, w->work, &shape, values);
}

/* What powers() cut off: 2^(k − most) where k is larger. */
static tensor_id powers_beyond(struct emit *s, const struct words *w, unsigned count, unsigned most)
{
    struct shape shape = SHAPE(count);
    double *values = arena_array(s->l->arena, double, count);
    for (unsigned k = 0; k < count; k++)
        values[k] = (double)(UINT64_C(1) << (k > most ? k - most : 0));
    return emit_constant(s, w->work, &shape, values);
}

/* ---- BitwiseAnd, BitwiseOr, BitwiseXor: the bits of both on an axis of their own ---- */

static int64_t word_and(const struct words *w, int64_t x, int64_t y)
{
    (void)w;
    return x & y;
}

static int64_t word_or(const struct words *w, int64_t x, int64_t y)
{
    (void)w;
    return x | y;
}

static int64_t word_xor(const struct words *w, int64_t x, int64_t y)
{
    (void)w;
    return x ^ y;
}

/* 0 or 1 for each bit, lowest first, on a new last axis. */
static tensor_id bits_of(struct emit *s, const struct words *w, tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape column = build_type(s->l->b, x)->shape;
    column.dims[column.rank++] = 1;
    x = emit_reshape(s, x, &column);
    x = emit_binary(s, OP_ElementWiseFloorDiv, x, powers(s, w, w->bits, w->exponent));
    if (w->bits > w->exponent + 1)
        x = emit_binary(s, OP_ElementWiseFloorDiv, x, powers_beyond(s, w, w->bits, w->exponent));
    return emit_binary(s, OP_ElementWiseMod, x, emit_scalar(s, x, 2));
}

/* The numbers that bits on the last axis make. */
static tensor_id of_bits(struct emit *s, const struct words *w, tensor_id bits)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const int64_t last = build_rank(s->l->b, bits) - 1;
    struct shape shape = SHAPE(w->bits);
    double *weights = arena_array(s->l->arena, double, w->bits);
    for (unsigned k = 0; k < w->bits; k++)
        weights[k] = (double)(UINT64_C(1) << k);
    if (w->is_signed)
        weights[w->bits - 1] = -weights[w->bits - 1];
    tensor_id weighted = emit_binary(s, OP_ElementWiseMultiply, bits, emit_constant(s, w->work, &shape, weights));
    return emit_reduce(s, OP_ReduceSum, weighted, &last, 1, false);
}

static tensor_id combine_bits(struct emit *s, word_fn *fn, tensor_id x, tensor_id y)
{
    if (fn == word_and)
        return emit_binary(s, OP_ElementWiseMultiply, x, y);
    if (fn == word_or)
        return emit_binary(s, OP_ElementWiseMaximum, x, y);
    tensor_id sum = emit_binary(s, OP_ElementWiseAdd, x, y);
    return emit_binary(s, OP_ElementWiseMod, sum, emit_scalar(s, sum, 2));
}

/* Flat operands of one shape, where no axis is left for the bits. */
static tensor_id flatten(struct emit *s, const struct words *w, tensor_id x)
{
    struct shape flat = SHAPE((int64_t)shape_count(&w->shape));
    return emit_reshape(s, emit_broadcast(s, x, &w->shape), &flat);
}

/* Ends the operator with a result that may lack its shape. */
static odlc_status give_words(struct emit *s, const struct words *w, tensor_id result)
{
    return emit_give(s, 0, emit_cast(s, emit_reshape(s, result, &w->shape), w->dtype));
}

/* k where the operand is 2^k − 1 everywhere, else 0. */
static unsigned low_mask(const struct lower *l, const struct words *w, tensor_id operand)
{
    uint64_t count;
    const int64_t *values = build_const_as_ints(l->b, operand, &count);
    for (unsigned k = 1; values && count && k <= w->exponent; k++)
        if (values[0] == (INT64_C(1) << k) - 1) {
            for (uint64_t i = 1; i < count; i++)
                if (values[i] != values[0])
                    return 0;
            return k;
        }
    return 0;
}

static odlc_status combine(struct lower *l, word_fn *fn)
{
    struct emit s = {.l = l};
    struct words w;
    bool done, is_and = fn == word_and;
    tensor_id x, y;
    TRY(lower_need(l, 0, "A", &x));
    TRY(lower_need(l, 1, "B", &y));
    TRY(read_words(l, x, y, &w));
    TRY(fold_words(l, &w, fn, &done));
    if (done)
        return ODLC_OK;
    TRY(work_operand(&s, &w, w.x, &x));
    TRY(work_operand(&s, &w, w.y, &y));
    bool y_is_mask = is_and && low_mask(l, &w, w.y), x_is_mask = is_and && !y_is_mask && low_mask(l, &w, w.x);
    if (y_is_mask || x_is_mask) { /* the low bits are a remainder */
        tensor_id mask = y_is_mask ? y : x;
        tensor_id divisor = emit_binary(&s, OP_ElementWiseAdd, mask, emit_scalar(&s, mask, 1));
        return give_words(&s, &w, emit_binary(&s, OP_ElementWiseMod, y_is_mask ? x : y, divisor));
    }
    if (w.shape.rank == MAX_RANK) {
        x = flatten(&s, &w, x);
        y = flatten(&s, &w, y);
    }
    tensor_id x_bits = bits_of(&s, &w, x), y_bits = bits_of(&s, &w, y);
    return give_words(&s, &w, of_bits(&s, &w, combine_bits(&s, fn, x_bits, y_bits)));
}

odlc_status lower_bitwise_and(struct lower *l)
{
    return combine(l, word_and);
}

odlc_status lower_bitwise_or(struct lower *l)
{
    return combine(l, word_or);
}

odlc_status lower_bitwise_xor(struct lower *l)
{
    return combine(l, word_xor);
}

/* ---- BitwiseNot: −1 − x, or the largest number − x ---- */

odlc_status lower_bitwise_not(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    int64_t low, high;
    TRY(lower_need(l, 0, "X", &x));
    const struct type type = *build_type(l->b, x);
    if (!dtype_is_int(type.dtype))
        return lower_invalid(l, NULL, NULL, "an input of type %s has no bits", dtype_info(type.dtype)->name);
    integer_range(type.dtype, &low, &high);
    if (type.dtype == DT_UINT64)
        TRY(lower_need_const(l, 0, "X", "of uint64 values the container holds 32 bits, and the result has more"));
    struct shape scalar = {.rank = 0};
    tensor_id ones = lower_splat(l, step_name(l, "ones"), type.dtype, &scalar, low < 0 ? -1 : high);
    return emit_end_binary(&s, OP_ElementWiseSubtract, ones, x);
}

/* ---- shifts ---- */

/* A count that is negative or not below the number of bits shifts all of them out. */
static bool shifts_all(const struct words *w, int64_t by)
{
    bool negative = w->is_signed && by < 0;
    return negative || (uint64_t)by >= dtype_info(w->dtype)->bits;
}

static int64_t word_left(const struct words *w, int64_t x, int64_t by)
{
    return shifts_all(w, by) ? 0 : (int64_t)((uint64_t)x << by);
}

static int64_t word_right(const struct words *w, int64_t x, int64_t by)
{
    if (!w->is_signed)
        return shifts_all(w, by) ? 0 : (int64_t)((uint64_t)x >> by);
    return x >> (shifts_all(w, by) ? 63 : by);
}

/* Counts from 0 to `bits`, the latter for all that shift everything out. */
static tensor_id shift_counts(struct emit *s, const struct words *w, tensor_id y)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    tensor_id most = emit_scalar(s, y, w->bits), zero = emit_scalar(s, y, 0);
    if (w->is_signed)
        y = emit_select(s, emit_binary(s, OP_ElementWiseLess, y, zero), most, y);
    y = emit_cast(s, emit_binary(s, OP_ElementWiseMinimum, y, most), DT_INT32);
    if (s->status != ODLC_OK || build_rank(s->l->b, y) > 0)
        return y;
    return emit_reshape(s, y, &SHAPE(1));
}

/* Quotients of powers of two, rounded down. */
static tensor_id shift_right(struct emit *s, const struct words *w, tensor_id x, tensor_id counts)
{
    tensor_id table = powers(s, w, w->bits + 1, w->exponent);
    x = emit_binary(s, OP_ElementWiseFloorDiv, x, emit_gather(s, table, counts, 0));
    if (w->bits <= w->exponent)
        return x;
    table = powers_beyond(s, w, w->bits + 1, w->exponent);
    return emit_binary(s, OP_ElementWiseFloorDiv, x, emit_gather(s, table, counts, 0));
}

/* The bits below the one that becomes the highest are multiplied, that one is given its weight: no product overflows.
 * A shift by 0 would need a power that the signed type does not have. */
static tensor_id shift_left(struct emit *s, const struct words *w, tensor_id x, tensor_id counts)
{
    struct shape shape = SHAPE(w->bits + 1);
    double *half = arena_array(s->l->arena, double, 3 * (size_t)(w->bits + 1));
    double *factor = half + w->bits + 1, *weight = factor + w->bits + 1;
    double highest = (double)(UINT64_C(1) << (w->bits - 1));
    for (unsigned by = 0; by <= w->bits; by++) {
        bool all = by == w->bits;
        half[by] = all ? 1 : (double)(UINT64_C(1) << min_u64(w->bits - by - 1, w->exponent));
        factor[by] = all ? 0 : (double)(UINT64_C(1) << min_u64(by, w->exponent));
        weight[by] = all ? 0 : w->is_signed ? -highest : highest;
    }
    tensor_id halves = emit_gather(s, emit_constant(s, w->work, &shape, half), counts, 0);
    tensor_id factors = emit_gather(s, emit_constant(s, w->work, &shape, factor), counts, 0);
    tensor_id weights = emit_gather(s, emit_constant(s, w->work, &shape, weight), counts, 0);
    tensor_id low = emit_binary(s, OP_ElementWiseMultiply, emit_binary(s, OP_ElementWiseMod, x, halves), factors);
    tensor_id quotient = emit_binary(s, OP_ElementWiseFloorDiv, x, halves);
    tensor_id bit = emit_binary(s, OP_ElementWiseMod, quotient, emit_scalar(s, x, 2));
    tensor_id shifted = emit_binary(s, OP_ElementWiseAdd, low, emit_binary(s, OP_ElementWiseMultiply, bit, weights));
    if (w->exponent >= w->bits - 1)
        return shifted;
    tensor_id still = emit_binary(s, OP_ElementWiseEqual, counts, emit_scalar(s, counts, 0));
    return emit_select(s, still, x, shifted);
}

odlc_status lower_shift(struct lower *l, tensor_id number, tensor_id by, bool left)
{
    struct emit s = {.l = l};
    struct words w;
    bool done;
    tensor_id x, y;
    TRY(read_words(l, number, by, &w));
    TRY(fold_words(l, &w, left ? word_left : word_right, &done));
    if (done)
        return ODLC_OK;
    TRY(work_operand(&s, &w, w.x, &x));
    y = emit_cast(&s, w.y, w.work);
    tensor_id counts = shift_counts(&s, &w, y);
    return give_words(&s, &w, left ? shift_left(&s, &w, x, counts) : shift_right(&s, &w, x, counts));
}

/* ---- the same bits as another type ---- */

/* 4-bit integers are one a byte, with nothing but the sign above them. */
static unsigned bits_of_element(enum dtype dtype)
{
    return dtype == DT_INT4 || dtype == DT_UINT4 ? 4 : dtype_info(dtype)->bits;
}

static odlc_status bit_cast_constant(struct lower *l, tensor_id x, enum dtype to)
{
    const struct tensor *t = graph_tensor(l->b->graph, x);
    struct shape shape = t->type->shape;
    struct view view = view_of(view_load(l->arena, t->view, t->type->dtype), to, &shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), to, &view);
    return ODLC_OK;
}

/* Among integers of one size, a Cast keeps the bits; what the bits of a float are no op says. */
odlc_status lower_bit_cast_to(struct lower *l, tensor_id x, const char *attribute, enum dtype to)
{
    enum dtype from = build_type(l->b, x)->dtype;
    if (from == DT_STRING || bits_of_element(from) != bits_of_element(to))
        return lower_invalid(l, attribute, NULL, "%s and %s differ in size", dtype_info(from)->name,
                             dtype_info(to)->name);
    bool same = from == to, to_float = dtype_is_float(to);
    if (!same && (dtype_is_float(from) || to_float)) {
        TRY(lower_need_const(l, 0, "input", "no op of the container gives the bits of a float, or makes one of them"));
        return bit_cast_constant(l, x, to);
    }
    return build_cast(l->b, x, to, lower_out_name(l, 0), &l->out[0]);
}
