/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that round real numbers to those of a quantized type: FakeQuant… and QuantizeAndDequantize…. A
 * known tensor becomes the integers themselves. Others go through a fixed-point tensor where one encoding is for all
 * elements; else they are computed in floats, step by step as TensorFlow does. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "converters/lowering/quantized.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "ir/quant.h"

/* The numbers that there are: k · step for the whole k from lowest to highest. All is computed in floats, as
 * TensorFlow does. */
struct grid {
    float low, high;         /* what is outside is moved there before it is rounded */
    float step, factor;      /* between neighbours, and 1 / step */
    int64_t lowest, highest; /* k */
    int64_t zero;            /* the integer k + zero stands for k */
};

struct grids {
    tensor_id x;
    struct grid *of; /* one, or one per index of the axis */
    uint32_t count, axis;
    bool per_axis;
    int64_t bits;
    bool is_signed; /* the integers */
    /* How TensorFlow computes k from a real, which matters where it rounds: */
    bool shifted; /* it counts from `low` on */
    bool divided; /* by `step`, not multiplied with `factor` */
    bool half_up; /* halves are rounded up, not to even */
};

/* ---- a known tensor ---- */

static int64_t nearest(const struct grids *q, const struct grid *g, float x)
{
    float bounded = fmaxf(fminf(x, g->high), g->low);
    float distance = q->shifted ? bounded - g->low : bounded;
    float k = q->divided ? distance / g->step : distance * g->factor;
    k = q->shifted ? k - (float)-g->lowest : k;
    k = q->half_up ? floorf(k + 0.5f) : rintf(k);
    return min_i64(max_i64((int64_t)k, g->lowest), g->highest);
}

static odlc_status give_integers(struct lower *l, const struct grids *q, const struct quant *quant, enum dtype integer)
{
    const struct tensor *t = graph_tensor(l->b->graph, q->x);
    const struct shape shape = t->type->shape;
    uint64_t count = shape_count(&shape), size = dtype_size(integer);
    uint64_t inner = q->per_axis ? shape_count_range(&shape, q->axis + 1, shape.rank) : count;
    uint8_t *integers;
    TRY(lower_table(l, count, size, &integers));
    const float *x = view_load(l->arena, t->view, DT_FLOAT32);
    for (uint64_t i = 0; i < count; i++) {
        const struct grid *g = &q->of[i / inner % q->count];
        int64_t value = nearest(q, g, x[i]) + g->zero;
        convert_elements(integers + i * size, integer, &value, DT_INT64, 1);
    }
    struct view view = view_of(integers, integer, &shape);
    tensor_id known = graph_add_constant(l->b->graph, step_name(l, "integers"), integer, &view);
    if (!lower_scaled_constant(l, known, quant)) /* not possible: this view has nothing pending */
        return lower_invalid(l, NULL, NULL, "the integers cannot be scaled");
    return ODLC_OK;
}

/* ---- a tensor that is computed ---- */

/* A constant with a number per grid, which broadcasts. */
static tensor_id per_grid(struct emit *s, const struct grids *q, double (*number)(const struct grid *g))
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape along = {.rank = build_rank(s->l->b, q->x)};
    double *values = arena_array(s->l->arena, double, q->count);
    for (uint32_t i = 0; i < along.rank; i++)
        along.dims[i] = i == q->axis ? q->count : 1;
    for (uint32_t i = 0; i < q->count; i++)
        values[i] = number(&q->of[i]);
    return emit_constant(s, DT_FLOAT32, &along, values);
}

static double low_of(const struct grid *g)
{
    return (double)g->low;
}

static double high_of(const struct grid *g)
{
    return (double)g->high;
}

static double step_of(const struct grid *g)
{
    return (double)g->step;
}

static double factor_of(const struct grid *g)
{
    return (double)g->factor;
}

static double places_below_zero(const struct grid *g)
{
    return (double)-g->lowest;
}

/* What nearest() computes, in the same order. */
static odlc_status give_floats(struct lower *l, const struct grids *q)
{
    struct emit s = {.l = l};
    tensor_id low = per_grid(&s, q, low_of), high = per_grid(&s, q, high_of);
    tensor_id k = emit_binary(&s, OP_ElementWiseMinimum, q->x, high);
    k = emit_binary(&s, OP_ElementWiseMaximum, k, low);
    if (q->shifted)
        k = emit_binary(&s, OP_ElementWiseSubtract, k, low);
    tensor_id scale = per_grid(&s, q, q->divided ? step_of : factor_of);
    k = emit_binary(&s, q->divided ? OP_ElementWiseDivide : OP_ElementWiseMultiply, k, scale);
    if (q->shifted)
        k = emit_binary(&s, OP_ElementWiseSubtract, k, per_grid(&s, q, places_below_zero));
    if (q->half_up)
        k = emit_binary(&s, OP_ElementWiseAdd, k, emit_scalar(&s, q->x, 0.5));
    k = emit_unary(&s, q->half_up ? OP_ElementWiseFloor : OP_ElementWiseRound, k);
    return emit_end_binary(&s, OP_ElementWiseMultiply, k, per_grid(&s, q, step_of));
}

/* Quantized and dequantized. The integers' type saturates; where it has more of them than the grid, the reals are
 * bounded before. */
static odlc_status give_fixed(struct lower *l, const struct grids *q, const struct quant *quant, enum dtype integer)
{
    struct emit s = {.l = l};
    tensor_id x = q->x, fixed;
    int64_t least, most;
    integer_range(integer, &least, &most);
    if (q->of->lowest + q->of->zero > least || q->of->highest + q->of->zero < most)
        x = emit_clamp(&s, x, (double)q->of->low, (double)q->of->high);
    TRY(s.status);
    TRY(lower_quantized(l, x, quant, integer, &fixed));
    return lower_dequantized(l, fixed);
}

static enum dtype integer_type(const struct grids *q)
{
    if (q->bits == 4)
        return q->is_signed ? DT_INT4 : DT_UINT4;
    if (q->bits <= 8)
        return q->is_signed ? DT_INT8 : DT_UINT8;
    return q->is_signed ? DT_INT16 : DT_UINT16;
}

static odlc_status give_rounded(struct lower *l, const struct grids *q)
{
    enum dtype integer = integer_type(q);
    double *scale = arena_array(l->arena, double, q->count), *zero = arena_array(l->arena, double, q->count);
    for (uint32_t i = 0; i < q->count; i++) {
        scale[i] = (double)q->of[i].step;
        zero[i] = (double)q->of[i].zero;
    }
    const struct quant *quant =
        quant_create(l->arena, quant_dtype(integer), scale, zero, q->count, q->per_axis, q->axis);
    if (quant && build_is_const(l->b, q->x))
        return give_integers(l, q, quant, integer);
    return quant && !q->per_axis ? give_fixed(l, q, quant, integer) : give_floats(l, q);
}

/* ---- FakeQuant… ---- */

static odlc_status check_bits(const struct lower *l, int64_t bits)
{
    if (bits < 2 || bits > 16)
        return lower_unsupported(l, "num_bits", NULL, "num_bits is %lld, not between 2 and 16", (long long)bits);
    return ODLC_OK;
}

static odlc_status need_floats(const struct lower *l, tensor_id x)
{
    enum dtype dtype = build_type(l->b, x)->dtype;
    if (dtype != DT_FLOAT32)
        return lower_unsupported(l, NULL, NULL, "an input of type %s, not float32, is not supported",
                                 dtype_info(dtype)->name);
    return ODLC_OK;
}

/* Bounds may be too near or too far for what lies between them. */
static odlc_status check_steps(const struct lower *l, const struct grid *g, float min, float max)
{
    if (g->step > 0 && isfinite(g->step) && isfinite(g->factor) && isfinite(min / g->step))
        return ODLC_OK;
    return lower_unsupported(l, NULL, NULL, "the range from %g to %g has no steps that are numbers of float32",
                             (double)min, (double)max);
}

/* Zero becomes a number of the grid: what stands for it is rounded, and the bounds move along. An empty range, of
 * zeros, makes everything 0. */
static odlc_status nudge(const struct lower *l, const struct grids *q, bool narrow, float min, float max,
                         struct grid *g)
{
    float least = narrow, most = (float)((INT64_C(1) << q->bits) - 1);
    *g = (struct grid){.step = 1, .factor = 1};
    if (min == 0 && max == 0)
        return ODLC_OK;
    if (!(min < max) || !isfinite(min) || !isfinite(max))
        return lower_invalid(l, NULL, NULL, "the range from %g to %g is none", (double)min, (double)max);
    g->step = (max - min) / (most - least);
    g->factor = (most - least) / (max - min);
    TRY(check_steps(l, g, min, max));
    float zero = least - min / g->step;
    zero = zero < least ? least : zero > most ? most : roundf(zero);
    g->zero = (int64_t)zero;
    g->low = (least - zero) * g->step;
    g->high = (most - zero) * g->step;
    g->lowest = (int64_t)(least - zero);
    g->highest = (int64_t)(most - zero);
    return ODLC_OK;
}

/* Integers of a narrow range are symmetric where 0 is in its middle: then they are signed. */
static void choose_sign(struct grids *q, bool narrow)
{
    q->is_signed = narrow;
    for (uint32_t i = 0; i < q->count; i++)
        q->is_signed = q->is_signed && q->of[i].lowest == -q->of[i].highest;
    for (uint32_t i = 0; q->is_signed && i < q->count; i++)
        q->of[i].zero = 0;
}

static odlc_status give_fake_quant(struct lower *l, struct grids *q, const double *min, const double *max)
{
    bool narrow;
    TRY(lower_need(l, 0, "inputs", &q->x));
    TRY(need_floats(l, q->x));
    TRY(lower_attr_int(l, "num_bits", 8, &q->bits));
    TRY(lower_attr_bool(l, "narrow_range", false, &narrow));
    TRY(check_bits(l, q->bits));
    q->of = arena_array(l->arena, struct grid, q->count);
    q->shifted = q->half_up = true;
    for (uint32_t i = 0; i < q->count; i++)
        TRY(nudge(l, q, narrow, (float)min[i], (float)max[i], &q->of[i]));
    choose_sign(q, narrow);
    return give_rounded(l, q);
}

odlc_status tf_fake_quant_args(struct lower *l)
{
    struct grids q = {.count = 1};
    double min, max;
    TRY(lower_attr_float(l, "min", -6, &min));
    TRY(lower_attr_float(l, "max", 6, &max));
    return give_fake_quant(l, &q, &min, &max);
}

/* Inputs i and i + 1, a range for all elements or one for each index of the axis. */
static odlc_status read_ranges(const struct lower *l, uint32_t i, struct grids *q, const double **min,
                               const double **max)
{
    uint32_t n_min, n_max;
    tensor_id x, bound;
    TRY(lower_need(l, 0, "inputs", &x));
    TRY(lower_need(l, i, "min", &bound));
    TRY(lower_need(l, i + 1, "max", &bound));
    TRY(lower_const_floats(l, i, "min", min, &n_min));
    TRY(lower_const_floats(l, i + 1, "max", max, &n_max));
    const struct shape *shape = &build_type(l->b, x)->shape;
    int64_t wanted = q->per_axis ? shape->dims[q->axis] : 1;
    if (n_min != wanted || n_max != wanted || wanted == 0)
        return lower_invalid(l, NULL, NULL, "min and max have %u and %u elements instead of %lld", n_min, n_max,
                             (long long)wanted);
    q->count = n_min;
    return ODLC_OK;
}

odlc_status tf_fake_quant_vars(struct lower *l)
{
    struct grids q = {.count = 1, .divided = true};
    const double *min, *max;
    TRY(read_ranges(l, 1, &q, &min, &max));
    return give_fake_quant(l, &q, min, max);
}

odlc_status tf_fake_quant_per_channel(struct lower *l)
{
    struct grids q = {.per_axis = true};
    const double *min, *max;
    TRY(lower_need(l, 0, "inputs", &q.x));
    if (build_rank(l->b, q.x) == 0)
        return lower_invalid(l, NULL, NULL, "the input is a scalar");
    q.axis = build_rank(l->b, q.x) - 1;
    TRY(read_ranges(l, 1, &q, &min, &max));
    return give_fake_quant(l, &q, min, max);
}

/* ---- QuantizeAndDequantize… ---- */

/* 0 stays 0: the side of the range that reaches farther gives the step, and the other one moves. */
static odlc_status scale_range(const struct lower *l, const struct grids *q, bool narrow, float min, float max,
                               struct grid *g)
{
    int64_t half = INT64_C(1) << (q->bits - 1);
    *g = (struct grid){.lowest = q->is_signed ? narrow - half : 0, .highest = q->is_signed ? half - 1 : 2 * half - 1};
    float lowest = (float)g->lowest, highest = (float)g->highest;
    float by_min = lowest * min > 0 ? lowest / min : FLT_MAX, by_max = highest * max > 0 ? highest / max : FLT_MAX;
    if (!(min <= max) || (by_min == FLT_MAX && by_max == FLT_MAX))
        return lower_invalid(l, NULL, NULL, "the range from %g to %g is none", (double)min, (double)max);
    bool reaches_below = by_min < by_max;
    g->factor = reaches_below ? by_min : by_max;
    g->step = reaches_below ? min / lowest : max / highest;
    g->low = reaches_below ? min : lowest * g->step;
    g->high = reaches_below ? highest * g->step : max;
    return check_steps(l, g, min, max);
}

static odlc_status read_rounding(const struct lower *l, struct grids *q)
{
    static const struct choice modes[] = {{"HALF_TO_EVEN", false}, {"HALF_UP", true}};
    int half_up;
    bool given;
    TRY(lower_attr_bool(l, "range_given", strcmp(l->variant, "bits are input 3") == 0, &given));
    if (!given)
        return lower_unsupported(l, "range_given", NULL, "the range would be that of the values");
    TRY(lower_choose(l, "round_mode", "HALF_TO_EVEN", modes, COUNT_OF(modes), &half_up));
    q->half_up = half_up;
    return lower_attr_bool(l, "signed_input", true, &q->is_signed);
}

static odlc_status read_axis(const struct lower *l, struct grids *q)
{
    int64_t axis;
    TRY(lower_need(l, 0, "input", &q->x));
    TRY(need_floats(l, q->x));
    TRY(lower_attr_int(l, "axis", -1, &axis));
    q->per_axis = axis != -1;
    return q->per_axis ? lower_axis(l, "axis", axis, build_rank(l->b, q->x), &q->axis) : ODLC_OK;
}

/* V2 and V4 have num_bits as an attribute, V3 as input 3, which the row says. */
odlc_status tf_quantize_and_dequantize(struct lower *l)
{
    struct grids q = {.count = 1};
    const double *min, *max;
    bool narrow;
    TRY(read_axis(l, &q));
    TRY(read_rounding(l, &q));
    TRY(lower_attr_bool(l, "narrow_range", false, &narrow));
    TRY(lower_attr_int(l, "num_bits", 8, &q.bits));
    if (strcmp(l->variant, "bits are input 3") == 0) {
        const int64_t *bits;
        uint32_t count;
        TRY(lower_const_ints(l, 3, "num_bits", &bits, &count));
        if (count != 1)
            return lower_invalid(l, "num_bits", NULL, "num_bits is not one number");
        q.bits = *bits;
    }
    TRY(check_bits(l, q.bits));
    TRY(read_ranges(l, 1, &q, &min, &max));
    q.of = arena_array(l->arena, struct grid, q.count);
    for (uint32_t i = 0; i < q.count; i++)
        TRY(scale_range(l, &q, narrow, (float)min[i], (float)max[i], &q.of[i]));
    return give_rounded(l, &q);
}
