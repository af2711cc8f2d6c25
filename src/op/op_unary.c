/* Elementwise ops of one operand, and Cast. */
#include <math.h>

#include "kernel/eval.h"
#include "op/families.h"
#include "op/rules.h"
#include "kernel/nd_iterate.h"

/* ---- kernels ---- */

/* Numbers of any class: X(name, operation, value of a float, of an integer, of a uint64). */
#define NUMERIC(X)                                         \
    X(Abs, 0, fabs(a), a < 0 ? wrap_subtract(0, a) : a, a) \
    X(Neg, 8, -a, wrap_subtract(0, a), -a)                 \
    X(Sign, 13, a != a ? a : (double)((a > 0) - (a < 0)), (a > 0) - (a < 0), a > 0)

/* rint: to nearest, halves to even, in the default rounding mode. */
#define REAL(X)               \
    X(Asin, 1, asin(a))       \
    X(Atan, 2, atan(a))       \
    X(Ceil, 3, ceil(a))       \
    X(Cos, 4, cos(a))         \
    X(Exp, 5, exp(a))         \
    X(Floor, 6, floor(a))     \
    X(Log, 7, log(a))         \
    X(Reciprocal, 10, 1 / a)  \
    X(Round, 11, rint(a))     \
    X(Rsqrt, 12, 1 / sqrt(a)) \
    X(Sin, 14, sin(a))        \
    X(SquareRoot, 15, sqrt(a))

#define DEFINE_NUMERIC(name, code, float_expr, int_expr, uint_expr)                                             \
    SPAN_UNARY(name##_floats, float, float, float_expr)                                                         \
    SPAN_UNARY(name##_doubles, double, double, float_expr)                                                      \
    SPAN_UNARY(name##_ints, int64_t, int64_t, int_expr)                                                         \
    SPAN_UNARY(name##_uints, uint64_t, uint64_t, uint_expr)                                                     \
    static odlc_status run_##name(const struct kernel *k)                                                       \
    {                                                                                                           \
        return nd_with_uint64(k, &(struct span_set){name##_floats, name##_doubles, name##_ints}, name##_uints); \
    }

#define DEFINE_REAL(name, code, expr)                                                   \
    SPAN_UNARY(name##_floats, float, float, expr)                                       \
    SPAN_UNARY(name##_doubles, double, double, expr)                                    \
    static odlc_status run_##name(const struct kernel *k)                               \
    {                                                                                   \
        return nd_by_class(k, &(struct span_set){name##_floats, name##_doubles, NULL}); \
    }

NUMERIC(DEFINE_NUMERIC)
REAL(DEFINE_REAL)

SPAN_UNARY(not_bools, int64_t, int64_t, !a)

static odlc_status run_not(const struct kernel *k)
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

static odlc_status run_cast(const struct kernel *k)
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

/* ---- types ---- */

static odlc_status infer_not(const struct infer *c)
{
    if (infer_in(c, 0)->dtype != DT_BOOL)
        return infer_error(c, "an input of type %s is not bool", dtype_info(infer_in(c, 0)->dtype)->name);
    return infer_same(c);
}

/* The target type is that of the output and nowhere else: whoever adds a Cast gives it (build_cast). */
static odlc_status infer_cast(const struct infer *c)
{
    const struct tensor *out = c->node->outputs ? node_output(c->graph, c->node, 0) : NULL;
    if (!out)
        return infer_error(c, "the type to cast to is not given");
    if (infer_in(c, 0)->dtype == DT_STRING || out->type->dtype == DT_STRING)
        return infer_error(c, "strings cannot be cast");
    if (dtype_is_small_float(out->type->dtype))
        return infer_error(c, "there are no %s results", dtype_info(out->type->dtype)->name);
    c->out[0] = (struct type){.dtype = out->type->dtype, .shape = infer_in(c, 0)->shape};
    return ODLC_OK;
}

/* ---- rows ---- */

#define UNARY_ROW(op_name, code, types, run)                                                               \
    {                                                                                                      \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Eltwise_Unary", .selector = "eltwise_type",     \
        .operation = code, .has_operation = true, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,      \
        .max_outputs = 1, .infer = types, .permute = permute_any, .compute = COMPUTE_EITHER, .kernel = run \
    }

#define NUMERIC_ROW(name, code, float_expr, int_expr, uint_expr) \
    UNARY_ROW(ElementWise##name, code, infer_numeric, run_##name),
#define REAL_ROW(name, code, expr) UNARY_ROW(ElementWise##name, code, infer_real, run_##name),

const struct op op_rows_unary[] = {
    NUMERIC(NUMERIC_ROW) REAL(REAL_ROW) UNARY_ROW(ElementWiseNot, 9, infer_not, run_not),
    {.id = OP_Cast,
     .name = "Cast",
     .dlc_type = "Cast",
     .min_inputs = 1,
     .max_inputs = 1,
     .min_outputs = 1,
     .max_outputs = 1,
     .infer = infer_cast,
     .permute = permute_any,
     .may_copy = true,
     .compute = COMPUTE_BYTES,
     .kernel = run_cast},
};
const size_t op_rows_unary_count = COUNT_OF(op_rows_unary);
