/* Elementwise ops of two and three operands, broadcast as numpy does. */
#include <math.h>

#include "op/families.h"
#include "op/rules.h"
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

#define ARITHMETIC(X)                                                                                          \
    X(Add, 0, a + b, wrap_add(a, b), NULL)                                                                     \
    X(Divide, 2, a / b, int_divide(a, b), uint_quotient)                                                       \
    X(FloorDiv, 4, floor(a / b), int_floor_divide(a, b), uint_quotient)                                        \
    X(Fmod, 5, fmod(a, b), int_remainder(a, b), uint_remainder)                                                \
    X(Maximum, 10, a > b || a != a ? a : b, a > b ? a : b, uint_maximum)                                       \
    X(Minimum, 11, a < b || a != a ? a : b, a < b ? a : b, uint_minimum)                                       \
    X(Mod, 12, float_modulo(a, b), int_modulo(a, b), uint_remainder)                                           \
    X(Multiply, 13, (a * b), wrap_multiply(a, b), NULL)                                                        \
    X(SquaredDifference, 17, (a - b) * (a - b), wrap_multiply(wrap_subtract(a, b), wrap_subtract(a, b)), NULL) \
    X(Subtract, 18, a - b, wrap_subtract(a, b), NULL)

#define COMPARISONS(X)         \
    X(Equal, 3, a == b)        \
    X(Greater, 6, a > b)       \
    X(GreaterEqual, 7, a >= b) \
    X(Less, 8, a < b)          \
    X(LessEqual, 9, a <= b)    \
    X(NotEqual, 14, a != b)

#define LOGICAL(X)      \
    X(And, 1, (a && b)) \
    X(Or, 15, (a || b)) \
    X(Xor, 19, !a != !b)

#define DEFINE_ARITHMETIC(name, code, float_expr, int_expr, uint_span)                                       \
    SPAN_BINARY(name##_floats, float, float, float, float_expr)                                              \
    SPAN_BINARY(name##_doubles, double, double, double, float_expr)                                          \
    SPAN_BINARY(name##_ints, int64_t, int64_t, int64_t, int_expr)                                            \
    static odlc_status run_##name(const struct kernel *k)                                                    \
    {                                                                                                        \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, uint_span); \
    }

#define DEFINE_COMPARISON(name, code, expr)                                                                     \
    SPAN_BINARY(name##_floats, int64_t, float, float, expr)                                                     \
    SPAN_BINARY(name##_doubles, int64_t, double, double, expr)                                                  \
    SPAN_BINARY(name##_ints, int64_t, int64_t, int64_t, expr)                                                   \
    SPAN_BINARY(name##_uints, int64_t, uint64_t, uint64_t, expr)                                                \
    static odlc_status run_##name(const struct kernel *k)                                                       \
    {                                                                                                           \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, name##_uints); \
    }

#define DEFINE_LOGICAL(name, code, expr)                                 \
    SPAN_BINARY(name##_bools, int64_t, int64_t, int64_t, expr)           \
    static odlc_status run_##name(const struct kernel *k)                \
    {                                                                    \
        return nd_by_class(k, &(struct span_set){.ints = name##_bools}); \
    }

ARITHMETIC(DEFINE_ARITHMETIC)
COMPARISONS(DEFINE_COMPARISON)
LOGICAL(DEFINE_LOGICAL)

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

static odlc_status run_power(const struct kernel *k)
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

static odlc_status run_prelu(const struct kernel *k)
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

static odlc_status run_select(const struct kernel *k)
{
    if (k->in[0].dtype != DT_INT64 || k->in[1].dtype != k->in[2].dtype)
        return ODLC_ERR_UNSUPPORTED;
    return nd_inputs(k, dtype_size(k->in[1].dtype) == 4 ? select_32_bits : select_64_bits);
}

/* ---- types ---- */

static bool is_number(enum dtype dtype)
{
    return dtype_is_float(dtype) || dtype_is_int(dtype) || dtype_is_fixed(dtype);
}

static odlc_status broadcast(const struct infer *c, const struct shape *a, const struct shape *b, struct shape *out)
{
    if (shape_broadcast(a, b, out))
        return ODLC_OK;
    return infer_error(c, "the shapes %s and %s do not broadcast", shape_text(c->diags->arena, a),
                       shape_text(c->diags->arena, b));
}

/* Quantized operands may differ in width, and stand beside floats: their encodings say what they mean. */
static odlc_status need_same_kind(const struct infer *c, const struct type *a, const struct type *b)
{
    if (can_stand_together(a->dtype, b->dtype))
        return ODLC_OK;
    return infer_error(c, "the operands' types %s and %s differ", dtype_info(a->dtype)->name,
                       dtype_info(b->dtype)->name);
}

static odlc_status infer_arithmetic(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    TRY(need_same_kind(c, a, b));
    if (!is_number(a->dtype))
        return infer_error(c, "operands of type %s are not numbers", dtype_info(a->dtype)->name);
    c->out[0].dtype = a->dtype;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_power(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    if (!is_number(a->dtype) || !is_number(b->dtype))
        return infer_error(c, "operands of type %s and %s are not numbers", dtype_info(a->dtype)->name,
                           dtype_info(b->dtype)->name);
    c->out[0].dtype = a->dtype;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_comparison(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    TRY(need_same_kind(c, a, b));
    if (a->dtype == DT_STRING)
        return infer_error(c, "strings cannot be compared");
    c->out[0].dtype = DT_BOOL;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_logical(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    if (a->dtype != DT_BOOL || b->dtype != DT_BOOL)
        return infer_error(c, "operands of type %s and %s are not bool", dtype_info(a->dtype)->name,
                           dtype_info(b->dtype)->name);
    c->out[0].dtype = DT_BOOL;
    return broadcast(c, &a->shape, &b->shape, &c->out[0].shape);
}

static odlc_status infer_select(const struct infer *c)
{
    const struct type *condition = infer_in(c, 0), *yes = infer_in(c, 1), *no = infer_in(c, 2);
    if (condition->dtype != DT_BOOL)
        return infer_error(c, "the condition is %s, not bool", dtype_info(condition->dtype)->name);
    TRY(need_same_kind(c, yes, no));
    if (yes->dtype == DT_STRING)
        return infer_error(c, "strings cannot be selected");
    struct shape values;
    TRY(broadcast(c, &yes->shape, &no->shape, &values));
    c->out[0].dtype = yes->dtype;
    return broadcast(c, &condition->shape, &values, &c->out[0].shape);
}

static odlc_status infer_prelu(const struct infer *c)
{
    const struct type *in = infer_in(c, 0), *slope = infer_in(c, 1);
    TRY(need_same_kind(c, in, slope));
    if (!is_number(in->dtype))
        return infer_error(c, "an input of type %s is not numbers", dtype_info(in->dtype)->name);
    struct shape both;
    c->out[0] = *in;
    TRY(broadcast(c, &in->shape, &slope->shape, &both));
    /* A promoted scalar has rank 1 while its slope may be of any rank with one element. */
    if (shape_count(&both) != shape_count(&in->shape))
        return infer_error(c, "the slope's shape %s does not broadcast to %s",
                           shape_text(c->diags->arena, &slope->shape), shape_text(c->diags->arena, &in->shape));
    return ODLC_OK;
}

/* ---- rows ---- */

#define BINARY_ROW(op_name, code, types, run)                                                              \
    {                                                                                                      \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Eltwise_Binary", .selector = "eltwise_type",    \
        .operation = code, .has_operation = true, .min_inputs = 2, .max_inputs = 2, .min_outputs = 1,      \
        .max_outputs = 1, .infer = types, .permute = permute_any, .compute = COMPUTE_EITHER, .kernel = run \
    }

#define ARITHMETIC_ROW(name, code, float_expr, int_expr, uint_span) \
    BINARY_ROW(ElementWise##name, code, infer_arithmetic, run_##name),
#define COMPARISON_ROW(name, code, expr) BINARY_ROW(ElementWise##name, code, infer_comparison, run_##name),
#define LOGICAL_ROW(name, code, expr) BINARY_ROW(ElementWise##name, code, infer_logical, run_##name),

const struct op op_rows_eltwise[] = {
    ARITHMETIC(ARITHMETIC_ROW) COMPARISONS(COMPARISON_ROW) LOGICAL(LOGICAL_ROW)
        BINARY_ROW(ElementWisePower, 16, infer_power, run_power),
    {.id = OP_ElementWiseSelect,
     .name = "ElementWiseSelect",
     .dlc_type = "Eltwise_Ternary",
     .selector = "eltwise_type",
     .min_inputs = 3,
     .max_inputs = 3,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_select,
     .permute = permute_any,
     .compute = COMPUTE_EITHER,
     .kernel = run_select},
    {.id = OP_Prelu,
     .name = "Prelu",
     .dlc_type = "Prelu",
     .min_inputs = 2,
     .max_inputs = 2,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_prelu,
     .permute = permute_any,
     .compute = COMPUTE_EITHER,
     .kernel = run_prelu},
};
const size_t op_rows_eltwise_count = COUNT_OF(op_rows_eltwise);
