/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/random.h"

#include <math.h>
#include <string.h>

#include "converters/lowering/shapes.h"

/* ---- ranges ---- */

bool takes_random(const struct lower *l)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->values[i].kind > VALUE_TENSOR)
            return true;
    return false;
}

/* The value as the element type rounds it. */
static double rounded(enum dtype dtype, double value)
{
    uint64_t element = 0;
    convert_elements(&element, dtype, &value, DT_FLOAT64, 1);
    convert_elements(&value, DT_FLOAT64, &element, dtype, 1);
    return value;
}

static void widen(struct random_range *r, double value)
{
    value = rounded(r->type.dtype, value);
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static odlc_status need_range(const struct lower *l, uint32_t i, const struct random_range **out)
{
    if (i >= l->n_in || l->values[i].kind != VALUE_RANDOM)
        return lower_unsupported(l, NULL, NULL, "input %u is neither a tensor nor random numbers", i);
    *out = l->values[i].range;
    return ODLC_OK;
}

/* Input 0 or 1 as random numbers, and the other one as known ones. */
static odlc_status read_operands(const struct lower *l, const struct random_range **range, uint32_t *other)
{
    if (l->n_in != 2)
        return lower_invalid(l, NULL, NULL, "there are %u inputs instead of 2", l->n_in);
    bool first = l->values[0].kind > VALUE_TENSOR;
    *other = first;
    TRY(need_range(l, !first, range));
    if (l->values[*other].kind == VALUE_RANDOM)
        return lower_unsupported(l, NULL, NULL, "both inputs are random numbers");
    tensor_id known;
    TRY(lower_need(l, *other, "the known operand", &known));
    if (build_type(l->b, known)->dtype != (*range)->type.dtype)
        return lower_invalid(l, NULL, NULL, "the operands' types %s and %s differ",
                             dtype_info((*range)->type.dtype)->name, dtype_info(build_type(l->b, known)->dtype)->name);
    return lower_need_const(l, *other, "its number",
                            "the other operand is random, which is possible only where the "
                            "result does not depend on it");
}

static double apply(enum op_id op, double x, double y)
{
    if (op == OP_ElementWiseMultiply)
        return x * y;
    return op == OP_ElementWiseAdd ? x + y : x - y;
}

/* Rounding keeps order, and so do the operators in each of their operands: the ends of the range become those of the
 * result. */
odlc_status random_binary(struct lower *l, enum op_id op)
{
    const struct random_range *in;
    uint32_t other, count32;
    const double *known;
    TRY(read_operands(l, &in, &other));
    TRY(lower_const_floats(l, other, "its number", &known, &count32));
    struct random_range *out = arena_new(l->arena, struct random_range);
    *out = (struct random_range){.type.dtype = in->type.dtype, .low = INFINITY, .high = -INFINITY};
    if (!shape_broadcast(&in->type.shape, &build_type(l->b, l->in[other])->shape, &out->type.shape))
        return lower_invalid(l, NULL, NULL, "the shapes do not broadcast");
    for (uint32_t i = 0; i < count32; i++)
        for (int end = 0; end < 2; end++) {
            double random = end ? in->high : in->low;
            widen(out, other == 0 ? apply(op, known[i], random) : apply(op, random, known[i]));
        }
    l->results[0] = (struct lower_value){.kind = VALUE_RANDOM, .range = out};
    return ODLC_OK;
}

/* ---- one number for all of a range ---- */

static odlc_status refuse(const struct lower *l, const struct random_range *r)
{
    return lower_unsupported(l, NULL,
                             "a dropout keeps everything, and needs no random numbers, when its keep_prob is frozen to "
                             "1: --freeze_input keep_prob=FILE",
                             "its result depends on random numbers between %g and %g, and a container computes the "
                             "same for the same inputs",
                             r->low, r->high);
}

odlc_status random_floor(struct lower *l)
{
    const struct random_range *r;
    TRY(need_range(l, 0, &r));
    if (!isfinite(r->low) || floor(r->low) != floor(r->high))
        return refuse(l, r);
    struct view view = view_splat_float(l->arena, r->type.dtype, &r->type.shape, floor(r->low));
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), r->type.dtype, &view);
    return ODLC_OK;
}

odlc_status random_greater_equal(struct lower *l)
{
    const struct random_range *r;
    uint32_t other, count;
    const double *known;
    struct shape shape;
    TRY(read_operands(l, &r, &other));
    TRY(lower_const_floats(l, other, "its number", &known, &count));
    if (!shape_broadcast(&r->type.shape, &build_type(l->b, l->in[other])->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the shapes do not broadcast");
    bool all = true, none = true;
    for (uint32_t i = 0; i < count; i++) {
        double x_low = other == 0 ? known[i] : r->low, x_high = other == 0 ? known[i] : r->high;
        double y_low = other == 0 ? r->low : known[i], y_high = other == 0 ? r->high : known[i];
        all = all && x_low >= y_high;
        none = none && x_high < y_low;
    }
    if (!all && !none)
        return refuse(l, r);
    l->out[0] = lower_splat(l, lower_out_name(l, 0), DT_BOOL, &shape, all);
    return ODLC_OK;
}
