/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of two and three operands, broadcast as numpy does. */
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"

/* ---- integer arithmetic: what division by zero leaves undefined is 0, as in numpy ---- */

static int64_t int_divide(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? wrap_subtract(0, a) : a / b;
}

static int64_t int_remainder(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t int_modulo(int64_t a, int64_t b)
{
    int64_t r = int_remainder(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t int_floor_divide(int64_t a, int64_t b)
{
    int64_t r = int_remainder(a, b);
    return int_divide(a, b) - (r != 0 && (r < 0) != (b < 0));
}

static int64_t uint_power(int64_t base, uint64_t exponent)
{
    uint64_t result = 1, factor = (uint64_t)base;
    for (uint64_t e = exponent; e; e >>= 1) {
        if (e & 1)
            result *= factor;
        factor *= factor;
    }
    return (int64_t)result;
}

static int64_t int_power(int64_t base, int64_t exponent)
{
    if (exponent < 0 && base != 1 && base != -1)
        return 0; /* a fraction, truncated */
    return uint_power(base, exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent);
}

static int64_t truncate_to_int(double v)
{
    int64_t out;
    convert_elements(&out, DT_INT64, &v, DT_FLOAT64, 1);
    return out;
}

/* The sign is the divisor's, that of a zero, too. */
static double float_modulo(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0)
        return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

/* ---- kernels ---- */

/* Of two uint64, where that is not what the same bits as int64 give. */
SPAN_BINARY(uint_quotient, uint64_t, uint64_t, uint64_t, b ? a / b : 0)
SPAN_BINARY(uint_remainder, uint64_t, uint64_t, uint64_t, b ? a % b : 0)
SPAN_BINARY(uint_maximum, uint64_t, uint64_t, uint64_t, a > b ? a : b)
SPAN_BINARY(uint_minimum, uint64_t, uint64_t, uint64_t, a < b ? a : b)

#define ARITHMETIC(name, float_expr, int_expr, uint_span)                                                    \
    SPAN_BINARY(name##_floats, float, float, float, float_expr)                                              \
    SPAN_BINARY(name##_doubles, double, double, double, float_expr)                                          \
    SPAN_BINARY(name##_ints, int64_t, int64_t, int64_t, int_expr)                                            \
    odlc_status kernel_##name(const struct kernel *k)                                                        \
    {                                                                                                        \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, uint_span); \
    }

#define COMPARISON(name, expr)                                                                                  \
    SPAN_BINARY(name##_floats, int64_t, float, float, expr)                                                     \
    SPAN_BINARY(name##_doubles, int64_t, double, double, expr)                                                  \
    SPAN_BINARY(name##_ints, int64_t, int64_t, int64_t, expr)                                                   \
    SPAN_BINARY(name##_uints, int64_t, uint64_t, uint64_t, expr)                                                \
    odlc_status kernel_##name(const struct kernel *k)                                                           \
    {                                                                                                           \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, name##_uints); \
    }

#define LOGICAL(name, expr)                                              \
    SPAN_BINARY(name##_bools, int64_t, int64_t, int64_t, expr)           \
    odlc_status kernel_##name(const struct kernel *k)                    \
    {                                                                    \
        return nd_by_class(k, &(struct span_set){.ints = name##_bools}); \
    }

ARITHMETIC(add, a + b, wrap_add(a, b), NULL)
ARITHMETIC(divide, a / b, int_divide(a, b), uint_quotient)
ARITHMETIC(floor_div, floor(a / b), int_floor_divide(a, b), uint_quotient)
ARITHMETIC(fmod, fmod(a, b), int_remainder(a, b), uint_remainder)
ARITHMETIC(maximum, a > b || a != a ? a : b, a > b ? a : b, uint_maximum)
ARITHMETIC(minimum, a < b || a != a ? a : b, a < b ? a : b, uint_minimum)
ARITHMETIC(mod, float_modulo(a, b), int_modulo(a, b), uint_remainder)
ARITHMETIC(multiply, (a * b), wrap_multiply(a, b), NULL)
ARITHMETIC(squared_difference, (a - b) * (a - b), wrap_multiply(wrap_subtract(a, b), wrap_subtract(a, b)), NULL)
ARITHMETIC(subtract, a - b, wrap_subtract(a, b), NULL)

COMPARISON(equal, a == b)
COMPARISON(greater, a > b)
COMPARISON(greater_equal, a >= b)
COMPARISON(less, a < b)
COMPARISON(less_equal, a <= b)
COMPARISON(not_equal, a != b)

LOGICAL(and, (a && b))
LOGICAL(or, (a || b))
LOGICAL(xor, !a != !b)

/* ---- Power: base and exponent may be of different classes; the result is of the base's ---- */

static double power(double a, double b)
{
    return b == 2 ? a * a : pow(a, b); /* squares are what networks ask for most */
}

SPAN_BINARY(power_float_float, float, float, float, power((double)a, b))
SPAN_BINARY(power_float_int, float, float, int64_t, power(a, (double)b))
SPAN_BINARY(power_float_uint, float, float, uint64_t, power(a, (double)b))
SPAN_BINARY(power_double_double, double, double, double, power(a, b))
SPAN_BINARY(power_double_int, double, double, int64_t, power(a, (double)b))
SPAN_BINARY(power_double_uint, double, double, uint64_t, power(a, (double)b))
SPAN_BINARY(power_int_float, int64_t, int64_t, float, truncate_to_int(power((double)a, b)))
SPAN_BINARY(power_int_double, int64_t, int64_t, double, truncate_to_int(power((double)a, b)))
SPAN_BINARY(power_int_int, int64_t, int64_t, int64_t, int_power(a, b))
SPAN_BINARY(power_int_uint, int64_t, int64_t, uint64_t, uint_power(a, b))

odlc_status kernel_power(const struct kernel *k)
{
    /* By the base; real bases and exponents come in one form. */
    const struct span_set int_exponent = {power_float_int, power_double_int, power_int_int};
    const struct span_set uint_exponent = {power_float_uint, power_double_uint, power_int_uint};
    const struct span_set real_exponent = {power_float_float, power_double_double, NULL};
    const struct span_set int_base = {power_int_float, power_int_double, NULL}; /* by the exponent */
    enum dtype base = k->in[0].dtype, exponent = k->in[1].dtype;
    if (k->in[1].stored == DT_UINT64)
        return nd_inputs(k, span_for(&uint_exponent, base));
    if (exponent == DT_INT64)
        return nd_inputs(k, span_for(&int_exponent, base));
    return nd_inputs(k, base == DT_INT64 ? span_for(&int_base, exponent) : span_for(&real_exponent, base));
}

/* ---- Prelu and Select ---- */

SPAN_BINARY(prelu_floats, float, float, float, a < 0 ? a * b : a)
SPAN_BINARY(prelu_doubles, double, double, double, a < 0 ? a * b : a)
SPAN_BINARY(prelu_ints, int64_t, int64_t, int64_t, a < 0 ? wrap_multiply(a, b) : a)
SPAN_UNARY(prelu_uints, uint64_t, uint64_t, a)

odlc_status kernel_prelu(const struct kernel *k)
{
    return nd_with_uint64(k, &(struct span_set){prelu_floats, prelu_doubles, prelu_ints}, prelu_uints);
}

/* Elements are only moved: their size is all that matters. */
#define SPAN_SELECT(name, type)                                                            \
    static void name(const struct span *s, const void *user)                               \
    {                                                                                      \
        (void)user;                                                                        \
        type *out = s->data[0];                                                            \
        const int64_t *condition = s->data[1];                                             \
        const type *yes = s->data[2], *no = s->data[3];                                    \
        for (int64_t i = 0; i < s->count; i++)                                             \
            out[i] = condition[i * s->step[1]] ? yes[i * s->step[2]] : no[i * s->step[3]]; \
    }

SPAN_SELECT(select_32_bits, uint32_t)
SPAN_SELECT(select_64_bits, uint64_t)

odlc_status kernel_select(const struct kernel *k)
{
    if (k->in[0].dtype != DT_INT64 || k->in[1].dtype != k->in[2].dtype)
        return ODLC_ERR_UNSUPPORTED;
    return nd_inputs(k, dtype_size(k->in[1].dtype) == 4 ? select_32_bits : select_64_bits);
}
