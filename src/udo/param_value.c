/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/param_value.h"

#include <math.h>
#include <string.h>

#include "udo/udo.h"

const char *udo_type_name(enum dtype dtype)
{
    static const char *const others[DT_COUNT] = {[DT_SFXP4] = "SFIXED_POINT_4",
                                                 [DT_SFXP8] = "SFIXED_POINT_8",
                                                 [DT_SFXP16] = "SFIXED_POINT_16",
                                                 [DT_SFXP32] = "SFIXED_POINT_32",
                                                 [DT_UFXP32] = "UFIXED_POINT_32"};
    const struct dtype_info *info = dtype_info(dtype);
    return info->udo ? info->udo : others[dtype] ? others[dtype] : info->name;
}

enum dtype udo_pick_dtype(enum dtype first, uint64_t several, enum dtype model)
{
    if (model != DT_NONE && several & DTYPE_BIT(model))
        return model;
    if (model != DT_NONE && several & DTYPE_BIT(dtype_narrowed(model)))
        return dtype_narrowed(model);
    if (!dtype_is_fixed(first) || !several)
        return first;
    /* Data in a quantized type needs encodings, which the model does not have. */
    return several & DTYPE_BIT(DT_FLOAT32) ? DT_FLOAT32 : several & DTYPE_BIT(DT_FLOAT16) ? DT_FLOAT16 : first;
}

bool udo_type_suits(enum dtype declared, enum dtype model)
{
    bool quantized = dtype_is_fixed(declared) || (dtype_is_int(declared) && dtype_size(declared) <= 2);
    if (dtype_is_float(model))
        return quantized || dtype_is_float(declared);
    return dtype_narrowed(declared) == dtype_narrowed(model);
}

static uint64_t value_count(const struct param *value)
{
    return value->is_tensor ? shape_count(&value->shape) : 1;
}

/* The integers that a type holds; those of UINT_64 beyond int64 cannot be expressed in params. */
static void int_range(enum dtype dtype, int64_t *low, int64_t *high)
{
    uint32_t bits = dtype == DT_INT4 || dtype == DT_UINT4 ? 4 : dtype_info(dtype)->bits;
    bool is_signed = dtype_info(dtype)->cls == CLASS_INT;
    uint32_t magnitude = is_signed ? bits - 1 : bits;
    *high = dtype == DT_BOOL ? 1 : magnitude >= 63 ? INT64_MAX : ((int64_t)1 << magnitude) - 1;
    *low = is_signed ? -*high - 1 : 0;
}

static double round_to(enum dtype dtype, double value)
{
    if (dtype == DT_FLOAT16)
        return half_to_float(double_to_half(value));
    return dtype == DT_FLOAT32 ? (double)(float)value : value;
}

/* The least magnitude that rounds to infinity: half a step above the largest number. */
static double beyond(enum dtype dtype)
{
    return dtype == DT_FLOAT16 ? 65520.0 : dtype == DT_FLOAT32 ? 0x1.ffffffp127 : INFINITY;
}

static bool float_to_int(double from, enum dtype to, int64_t *out)
{
    int64_t low, high;
    int_range(to, &low, &high);
    /* cppcheck-suppress incorrectLogicOperator ; it does not read hexadecimal floats */
    if (!(from >= -0x1p63 && from < 0x1p63) || from != floor(from))
        return false;
    *out = (int64_t)from;
    return *out >= low && *out <= high;
}

static bool float_to_float(double from, enum dtype to, double *out)
{
    if (isfinite(from) && fabs(from) >= beyond(to))
        return false;
    *out = round_to(to, from);
    return true;
}

static bool int_to_float(int64_t from, enum dtype to, double *out)
{
    double wide = (double)from;
    if (wide >= 0x1p63 || (int64_t)wide != from || fabs(wide) >= beyond(to))
        return false;
    *out = round_to(to, wide);
    return *out == wide;
}

static const char *misfit(struct arena *arena, const struct param *value, uint64_t index, const char *shown,
                          enum dtype to)
{
    if (!value->is_tensor)
        return arena_printf(arena, "%s does not fit %s", shown, udo_type_name(to));
    return arena_printf(arena, "element %llu, %s, does not fit %s", (unsigned long long)index, shown,
                        udo_type_name(to));
}

static bool convert_to_ints(struct arena *arena, struct param *value, enum dtype to, const char **why)
{
    uint64_t count = value_count(value);
    bool from_float = dtype_is_float(value->dtype);
    int64_t *out = arena_array(arena, int64_t, count), low, high;
    int_range(to, &low, &high);
    for (uint64_t k = 0; k < count; k++) {
        if (from_float) {
            double from = value->is_tensor ? value->floats[k] : value->f;
            if (!float_to_int(from, to, &out[k])) {
                *why = misfit(arena, value, k, arena_printf(arena, "%.9g", from), to);
                return false;
            }
        } else {
            out[k] = value->is_tensor ? value->ints[k] : value->i;
            if (out[k] < low || out[k] > high) {
                *why = misfit(arena, value, k, arena_printf(arena, "%lld", (long long)out[k]), to);
                return false;
            }
        }
    }
    value->i = value->is_tensor ? 0 : out[0];
    value->ints = value->is_tensor ? out : NULL;
    value->f = 0;
    value->floats = NULL;
    return true;
}

static bool convert_to_floats(struct arena *arena, struct param *value, enum dtype to, const char **why)
{
    uint64_t count = value_count(value);
    bool from_float = dtype_is_float(value->dtype);
    double *out = arena_array(arena, double, count);
    for (uint64_t k = 0; k < count; k++) {
        if (from_float) {
            double from = value->is_tensor ? value->floats[k] : value->f;
            if (!float_to_float(from, to, &out[k])) {
                *why = misfit(arena, value, k, arena_printf(arena, "%.9g", from), to);
                return false;
            }
        } else {
            int64_t from = value->is_tensor ? value->ints[k] : value->i;
            if (!int_to_float(from, to, &out[k])) {
                *why = misfit(arena, value, k, arena_printf(arena, "%lld", (long long)from), to);
                return false;
            }
        }
    }
    value->f = value->is_tensor ? 0 : out[0];
    value->floats = value->is_tensor ? out : NULL;
    value->i = 0;
    value->ints = NULL;
    return true;
}

bool value_convert(struct arena *arena, struct param *value, enum dtype to, const char **why)
{
    if (dtype_is_fixed(to)) {
        *why = arena_printf(arena, "%s data needs encodings, which only quantization provides", udo_type_name(to));
        return false;
    }
    if ((value->dtype == DT_STRING) != (to == DT_STRING)) {
        *why = arena_printf(arena, "%s cannot hold %s", udo_type_name(to), to == DT_STRING ? "a number" : "text");
        return false;
    }
    if (to != DT_STRING) {
        bool fits =
            dtype_is_float(to) ? convert_to_floats(arena, value, to, why) : convert_to_ints(arena, value, to, why);
        if (!fits)
            return false;
    }
    value->dtype = to;
    return true;
}

void value_to_tensor(struct arena *arena, struct param *value)
{
    value->is_tensor = true;
    value->shape = SHAPE(1);
    if (value->dtype == DT_STRING)
        value->strings = arena_memdup(arena, &value->s, sizeof value->s);
    else if (dtype_is_float(value->dtype))
        value->floats = arena_memdup(arena, &value->f, sizeof value->f);
    else
        value->ints = arena_memdup(arena, &value->i, sizeof value->i);
}

bool value_to_scalar(struct param *value)
{
    if (shape_count(&value->shape) != 1)
        return false;
    value->is_tensor = false;
    if (value->dtype == DT_STRING)
        value->s = value->strings[0];
    else if (dtype_is_float(value->dtype))
        value->f = value->floats[0];
    else
        value->i = value->ints[0];
    return true;
}

/* Source index of result element k. */
static uint64_t permuted_index(const struct shape *result, const int64_t *strides, uint64_t k)
{
    uint64_t index = 0;
    for (uint32_t i = result->rank; i-- > 0; k /= (uint64_t)result->dims[i])
        index += k % (uint64_t)result->dims[i] * (uint64_t)strides[i];
    return index;
}

void value_permute(struct arena *arena, struct param *value, const struct perm *perm)
{
    int64_t source[MAX_RANK], strides[MAX_RANK] = {0};
    shape_strides(&value->shape, source);
    for (uint32_t i = 0; i < perm->rank; i++)
        strides[i] = source[perm->axis[i]];
    struct shape shape = perm_apply(perm, &value->shape);
    uint64_t count = shape_count(&shape);
    int64_t *ints = value->ints ? arena_array(arena, int64_t, count) : NULL;
    double *floats = value->floats ? arena_array(arena, double, count) : NULL;
    const char **strings = value->strings ? arena_array(arena, const char *, count) : NULL;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t from = permuted_index(&shape, strides, k);
        if (ints)
            ints[k] = value->ints[from];
        if (floats)
            floats[k] = value->floats[from];
        if (strings)
            strings[k] = value->strings[from];
    }
    value->shape = shape;
    value->ints = ints;
    value->floats = floats;
    value->strings = strings;
}

struct view value_view(struct arena *arena, const struct param *value)
{
    struct param tensor = *value;
    if (!tensor.is_tensor)
        value_to_tensor(arena, &tensor);
    uint64_t count = shape_count(&tensor.shape);
    struct view view = view_of(NULL, tensor.dtype, &tensor.shape);
    if (tensor.dtype == DT_STRING) {
        view.strings = tensor.strings;
        return view;
    }
    void *bytes = arena_calloc(arena, count, dtype_size(tensor.dtype));
    if (dtype_is_float(tensor.dtype))
        convert_elements(bytes, tensor.dtype, tensor.floats, DT_FLOAT64, count);
    else
        convert_elements(bytes, tensor.dtype, tensor.ints, DT_INT64, count);
    view.bytes = bytes;
    return view;
}

static bool elements_equal(const struct param *a, const struct param *b)
{
    uint64_t count = shape_count(&a->shape);
    for (uint64_t k = 0; k < count; k++) {
        bool same = a->dtype == DT_STRING      ? strcmp(a->strings[k], b->strings[k]) == 0
                    : dtype_is_float(a->dtype) ? a->floats[k] == b->floats[k]
                                               : a->ints[k] == b->ints[k];
        if (!same)
            return false;
    }
    return true;
}

bool value_equal(const struct param *a, const struct param *b)
{
    if (!a || !b)
        return a == b;
    if (a->dtype != b->dtype || a->is_tensor != b->is_tensor)
        return false;
    if (a->is_tensor)
        return shape_equal(&a->shape, &b->shape) && elements_equal(a, b);
    return a->dtype == DT_STRING ? strcmp(a->s, b->s) == 0 : a->i == b->i && a->f == b->f;
}
