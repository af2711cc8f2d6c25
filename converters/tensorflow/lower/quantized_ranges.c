/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/quantized_ranges.h"

#include <math.h>

#include "converters/lowering/shapes.h"

static odlc_status read_bounds(const struct lower *l, tensor_id x, struct quantized_ranges *r)
{
    static const char *const names[] = {"min_range", "max_range"};
    const double **const bounds[] = {&r->min, &r->max};
    const int64_t wanted = r->per_axis ? build_type(l->b, x)->shape.dims[r->axis] : 1;
    for (uint32_t i = 0; i < 2; i++) {
        tensor_id bound;
        TRY(lower_need(l, i + 1, names[i], &bound));
        TRY(lower_const_floats(l, i + 1, names[i], bounds[i], &r->count));
        if (r->count != wanted)
            return lower_invalid(l, names[i], NULL, "%s has %u elements instead of %lld", names[i], r->count,
                                 (long long)wanted);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const float min = (float)r->min[i], max = (float)r->max[i];
        if (!isfinite(min) || !isfinite(max) || !isfinite(max - min) || min > max)
            return lower_invalid(l, NULL, NULL, "the range from %g to %g is none", r->min[i], r->max[i]);
    }
    return ODLC_OK;
}

odlc_status read_quantized_ranges(const struct lower *l, tensor_id x, enum dtype integer, struct quantized_ranges *out)
{
    static const struct choice modes[] = {{"MIN_COMBINED", MIN_COMBINED}, {"MIN_FIRST", MIN_FIRST}, {"SCALED", SCALED}};
    int64_t axis, lowest, highest;
    *out = (struct quantized_ranges){.count = 1};
    TRY(lower_choose(l, "mode", "MIN_COMBINED", modes, COUNT_OF(modes), &out->mode));
    TRY(lower_attr_bool(l, "narrow_range", false, &out->narrow));
    TRY(lower_attr_int(l, "axis", -1, &axis));
    out->per_axis = axis != -1;
    if (out->per_axis && out->mode == MIN_FIRST) /* TensorFlow does not dequantize it either */
        return lower_unsupported(l, "axis", NULL,
                                 "mode MIN_FIRST with one range per index of an axis is not supported");
    if (out->per_axis)
        TRY(lower_axis(l, "axis", axis, build_rank(l->b, x), &out->axis));
    integer_range(integer, &lowest, &highest);
    out->lowest = (double)lowest;
    out->highest = (double)highest;
    return read_bounds(l, x, out);
}

tensor_id per_quantized_range(struct emit *s, const struct quantized_ranges *r, tensor_id x, const double *values)
{
    struct shape along = {.rank = r->per_axis ? build_rank(s->l->b, x) - r->axis : 0};
    for (uint32_t i = 0; i < along.rank; i++)
        along.dims[i] = i == 0 ? r->count : 1;
    return emit_constant(s, DT_FLOAT32, &along, values);
}
