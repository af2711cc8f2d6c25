/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of one operand, and Cast. */
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"

/* Numbers of any class: the value of a float, of an integer, of a uint64. */
#define NUMERIC(name, float_expr, int_expr, uint_expr)                                                          \
    SPAN_UNARY(name##_floats, float, float, float_expr)                                                         \
    SPAN_UNARY(name##_doubles, double, double, float_expr)                                                      \
    SPAN_UNARY(name##_ints, int64_t, int64_t, int_expr)                                                         \
    SPAN_UNARY(name##_uints, uint64_t, uint64_t, uint_expr)                                                     \
    odlc_status kernel_##name(const struct kernel *k)                                                           \
    {                                                                                                           \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, name##_uints); \
    }

#define REAL(name, expr)                                                                \
    SPAN_UNARY(name##_floats, float, float, expr)                                       \
    SPAN_UNARY(name##_doubles, double, double, expr)                                    \
    odlc_status kernel_##name(const struct kernel *k)                                   \
    {                                                                                   \
        return nd_by_class(k, &(struct span_set){name##_floats, name##_doubles, NULL}); \
    }

NUMERIC(abs, fabs(a), a < 0 ? wrap_subtract(0, a) : a, a)
NUMERIC(neg, -a, wrap_subtract(0, a), -a)
NUMERIC(sign, a != a ? a : (double)((a > 0) - (a < 0)), (a > 0) - (a < 0), a > 0)

/* rint: to nearest, halves to even, in the default rounding mode. */
REAL(asin, asin(a))
REAL(atan, atan(a))
REAL(ceil, ceil(a))
REAL(cos, cos(a))
REAL(exp, exp(a))
REAL(floor, floor(a))
REAL(log, log(a))
REAL(reciprocal, 1 / a)
REAL(round, rint(a))
REAL(rsqrt, 1 / sqrt(a))
REAL(sin, sin(a))
REAL(square_root, sqrt(a))

SPAN_UNARY(not_bools, int64_t, int64_t, !a)

odlc_status kernel_not(const struct kernel *k)
{
    return nd_by_class(k, &(struct span_set){.ints = not_bools});
}

/* The low bits stay (conversion alone would saturate): between integers, and where ONNX defines it for floats, too. */
static void cast_to_low_bits(const struct kernel *k, uint64_t count)
{
    enum dtype to = k->out[0].dtype;
    int64_t *wide = arena_array(k->scratch, int64_t, count);
    convert_elements(wide, DT_INT64, k->in[0].data, k->in[0].dtype, count);
    keep_low_bits(wide, to, count);
    convert_elements(k->out[0].data, to, wide, DT_INT64, count);
}

odlc_status kernel_cast(const struct kernel *k)
{
    enum dtype from = k->in[0].dtype, to = k->out[0].dtype;
    uint64_t count = shape_count(&k->out[0].shape);
    if (dtype_is_fixed(from) || dtype_is_fixed(to)) {
        struct buffer wide = buffer_widen(&k->in[0], DT_FLOAT64, k->scratch);
        buffer_narrow(&wide, &k->out[0]);
    } else if (dtype_is_int(to) && (!dtype_is_float(from) || dtype_value_bits(to) < 8)) {
        cast_to_low_bits(k, count);
    } else {
        convert_elements(k->out[0].data, to, k->in[0].data, from, count);
    }
    return ODLC_OK;
}
