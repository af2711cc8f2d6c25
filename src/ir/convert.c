/* SPDX-License-Identifier: Apache-2.0 */
/* Element conversion goes through one of two wide types, a block at a time: double where a float takes part, int64_t
 * otherwise. One load and one store per dtype then serve all pairs. */
#include <math.h>
#include <string.h>

#include "ir/view.h"

enum { BLOCK = 512 };

#define LOAD_AS(wide, type)                                                           \
    for (size_t i = 0; i < n; i++) {                                                  \
        type element;                                                                 \
        memcpy(&element, (const uint8_t *)from + i * sizeof element, sizeof element); \
        to[i] = (wide)element;                                                        \
    }                                                                                 \
    break

static void load_doubles(double *to, const void *from, enum dtype dtype, size_t n)
{
    switch (dtype) {
    case DT_BOOL:
    case DT_UINT2:
    case DT_UINT4:
    case DT_UINT8:
    case DT_UFXP4:
    case DT_UFXP8:
        LOAD_AS(double, uint8_t);
    case DT_INT2:
    case DT_INT4:
    case DT_INT8:
    case DT_SFXP4:
    case DT_SFXP8:
        LOAD_AS(double, int8_t);
    case DT_INT16:
    case DT_SFXP16:
        LOAD_AS(double, int16_t);
    case DT_UINT16:
    case DT_UFXP16:
        LOAD_AS(double, uint16_t);
    case DT_INT32:
    case DT_SFXP32:
        LOAD_AS(double, int32_t);
    case DT_UINT32:
    case DT_UFXP32:
        LOAD_AS(double, uint32_t);
    case DT_INT64:
        LOAD_AS(double, int64_t);
    case DT_UINT64:
        LOAD_AS(double, uint64_t);
    case DT_FLOAT16:
    case DT_BFLOAT16:
        for (size_t i = 0; i < n; i++) {
            uint16_t bits;
            memcpy(&bits, (const uint8_t *)from + 2 * i, 2);
            to[i] = (double)(dtype == DT_FLOAT16 ? half_to_float(bits) : bfloat16_to_float(bits));
        }
        break;
    case DT_FLOAT4E2M1:
    case DT_FLOAT8E4M3FN:
    case DT_FLOAT8E4M3FNUZ:
    case DT_FLOAT8E5M2:
    case DT_FLOAT8E5M2FNUZ:
    case DT_FLOAT8E8M0:
        for (size_t i = 0; i < n; i++)
            to[i] = (double)small_float_to_float(dtype, ((const uint8_t *)from)[i]);
        break;
    case DT_FLOAT32:
        LOAD_AS(double, float);
    case DT_FLOAT64:
        memcpy(to, from, n * sizeof *to);
        break;
    case DT_NONE:
    case DT_STRING:
    case DT_COUNT:
        break;
    }
}

static void load_ints(int64_t *to, const void *from, enum dtype dtype, size_t n)
{
    switch (dtype) {
    case DT_BOOL:
    case DT_UINT2:
    case DT_UINT4:
    case DT_UINT8:
    case DT_UFXP4:
    case DT_UFXP8:
        LOAD_AS(int64_t, uint8_t);
    case DT_INT2:
    case DT_INT4:
    case DT_INT8:
    case DT_SFXP4:
    case DT_SFXP8:
        LOAD_AS(int64_t, int8_t);
    case DT_INT16:
    case DT_SFXP16:
        LOAD_AS(int64_t, int16_t);
    case DT_UINT16:
    case DT_UFXP16:
        LOAD_AS(int64_t, uint16_t);
    case DT_INT32:
    case DT_SFXP32:
        LOAD_AS(int64_t, int32_t);
    case DT_UINT32:
    case DT_UFXP32:
        LOAD_AS(int64_t, uint32_t);
    case DT_INT64:
    case DT_UINT64:
        memcpy(to, from, n * sizeof *to);
        break;
    default:
        break;
    }
}

/* Of an integer, fixed-point or bool type. */
static unsigned value_bits(enum dtype dtype)
{
    return dtype == DT_BOOL ? 1 : dtype_value_bits(dtype);
}

static bool has_sign(enum dtype dtype)
{
    return dtype_info(dtype)->cls == CLASS_INT || dtype_info(dtype)->cls == CLASS_SFXP;
}

void integer_range(enum dtype dtype, int64_t *low, int64_t *high)
{
    *high = (int64_t)(UINT64_MAX >> (64 - value_bits(dtype) + has_sign(dtype)));
    *low = has_sign(dtype) ? -*high - 1 : 0;
}

void keep_low_bits(int64_t *values, enum dtype dtype, uint64_t count)
{
    unsigned shift = 64 - value_bits(dtype);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t high = (uint64_t)values[i] << shift;
        values[i] = has_sign(dtype) ? (int64_t)high >> shift : (int64_t)(high >> shift);
    }
}

static void store_ints(void *to, enum dtype dtype, const int64_t *from, size_t n)
{
    uint8_t *p = to;
    uint32_t size = dtype_size(dtype);
    if (dtype == DT_BOOL) {
        for (size_t i = 0; i < n; i++)
            p[i] = from[i] != 0;
        return;
    }
    if (dtype == DT_INT64 || dtype == DT_UINT64) {
        memcpy(to, from, n * sizeof *from);
        return;
    }
    int64_t low, high;
    integer_range(dtype, &low, &high);
    for (size_t i = 0; i < n; i++) {
        int64_t v = from[i] < low ? low : from[i] > high ? high : from[i];
        memcpy(p + i * size, &v, size); /* little-endian: the low bytes come first */
    }
}

static int64_t saturate_to_int64(double v)
{
    if (v != v)
        return 0;
    if (v >= 0x1p63)
        return INT64_MAX;
    return v <= -0x1p63 ? INT64_MIN : (int64_t)v;
}

static void store_doubles_as_ints(void *to, enum dtype dtype, const double *from, size_t n)
{
    int64_t wide[BLOCK];
    for (size_t i = 0; i < n; i++) {
        if (dtype == DT_BOOL)
            wide[i] = from[i] != 0;
        else if (dtype == DT_UINT64 && from[i] >= 0x1p63)
            wide[i] = from[i] >= 0x1p64 ? -1 : (int64_t)(uint64_t)from[i];
        else if (dtype == DT_UINT64)
            wide[i] = from[i] > 0 ? (int64_t)from[i] : 0;
        else
            wide[i] = saturate_to_int64(from[i]);
    }
    store_ints(to, dtype, wide, n);
}

/* Correctly rounded to bfloat16 in one step: float with round-to-odd first, so that the second rounding is exact. */
static uint16_t double_to_bfloat16(double v)
{
    float near = (float)v;
    if (isfinite(near) && (double)near != v) {
        uint32_t bits;
        memcpy(&bits, &near, 4);
        if (fabs((double)near) > fabs(v))
            bits--;
        bits |= 1;
        memcpy(&near, &bits, 4);
    }
    return float_to_bfloat16(near);
}

/* The code of the nearest value, the first of equals, which is right for values that the type has; of a NaN where there
 * is one. */
static uint8_t code_of_nearest(enum dtype dtype, double v)
{
    const unsigned codes = 1u << dtype_value_bits(dtype);
    double least = INFINITY;
    uint8_t nearest = 0;
    for (unsigned code = 0; code < codes; code++) {
        const double value = (double)small_float_to_float(dtype, (uint8_t)code);
        if ((value == v && signbit(value) == signbit(v)) || (isnan(value) && isnan(v)))
            return (uint8_t)code;
        if (fabs(value - v) < least) {
            least = fabs(value - v);
            nearest = (uint8_t)code;
        }
    }
    return nearest;
}

static void store_doubles(void *to, enum dtype dtype, const double *from, size_t n)
{
    uint8_t *p = to;
    switch (dtype) {
    case DT_FLOAT64:
        memcpy(to, from, n * sizeof *from);
        break;
    case DT_FLOAT32:
        for (size_t i = 0; i < n; i++) {
            float v = (float)from[i];
            memcpy(p + 4 * i, &v, 4);
        }
        break;
    case DT_FLOAT16:
    case DT_BFLOAT16:
        for (size_t i = 0; i < n; i++) {
            uint16_t v = dtype == DT_FLOAT16 ? double_to_half(from[i]) : double_to_bfloat16(from[i]);
            memcpy(p + 2 * i, &v, 2);
        }
        break;
    case DT_FLOAT8E4M3FN:
    case DT_FLOAT8E4M3FNUZ:
    case DT_FLOAT8E5M2:
    case DT_FLOAT8E5M2FNUZ:
        for (size_t i = 0; i < n; i++)
            p[i] = code_of_nearest(dtype, from[i]);
        break;
    default:
        store_doubles_as_ints(to, dtype, from, n);
        break;
    }
}

/* ---- pairs with a loop of their own ---- */

/* The one pair that a double on the way would round twice. */
static void ints_to_floats(void *to, const void *from, enum dtype from_dtype, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t v;
        memcpy(&v, (const uint8_t *)from + 8 * i, 8);
        float f = from_dtype == DT_UINT64 ? (float)(uint64_t)v : (float)v;
        memcpy((uint8_t *)to + 4 * i, &f, 4);
    }
}

static void doubles_to_floats(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, (const uint8_t *)from + 8 * i, 8);
        float f = (float)v;
        memcpy((uint8_t *)to + 4 * i, &f, 4);
    }
}

/* As half_to_float, without branches: multiplying moves the exponent's bias, and makes subnormals normal. */
static void halves_to_floats(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, (const uint8_t *)from + 2 * i, 2);
        uint32_t bits = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
        float value;
        memcpy(&value, &bits, 4);
        value *= 0x1p112f;
        memcpy(&bits, &value, 4);
        bits |= sign | (value >= 0x1p16f ? 0x7f800000u : 0); /* infinities and NaNs have the largest exponent */
        memcpy((uint8_t *)to + 4 * i, &bits, 4);
    }
}

static void bfloats_to_floats(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        memcpy(&half, (const uint8_t *)from + 2 * i, 2);
        uint32_t bits = (uint32_t)half << 16;
        memcpy((uint8_t *)to + 4 * i, &bits, 4);
    }
}

/* 64 bits to 32 of the same signedness, where all values of the block fit; else false, and the target is undefined. */
static bool ints_narrowed(void *to, const void *from, bool is_signed, size_t n)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, (const uint8_t *)from + 8 * i, 8);
        uint32_t low = (uint32_t)v;
        lost |= (is_signed ? v + 0x80000000u : v) >> 32;
        memcpy((uint8_t *)to + 4 * i, &low, 4);
    }
    return lost == 0;
}

/* True when the pair has a loop of its own, and the elements are converted. */
static bool convert_directly(void *to, enum dtype to_dtype, const void *from, enum dtype from_dtype, size_t n)
{
    if (to_dtype == DT_FLOAT32 && (from_dtype == DT_INT64 || from_dtype == DT_UINT64))
        ints_to_floats(to, from, from_dtype, n);
    else if (to_dtype == DT_FLOAT32 && from_dtype == DT_FLOAT64)
        doubles_to_floats(to, from, n);
    else if (to_dtype == DT_FLOAT32 && from_dtype == DT_FLOAT16)
        halves_to_floats(to, from, n);
    else if (to_dtype == DT_FLOAT32 && from_dtype == DT_BFLOAT16)
        bfloats_to_floats(to, from, n);
    else if (to_dtype == DT_INT32 && from_dtype == DT_INT64)
        return ints_narrowed(to, from, true, n);
    else if (to_dtype == DT_UINT32 && from_dtype == DT_UINT64)
        return ints_narrowed(to, from, false, n);
    else
        return false;
    return true;
}

/* ---- any pair ---- */

void convert_elements(void *to, enum dtype to_dtype, const void *from, enum dtype from_dtype, size_t count)
{
    uint32_t to_size = dtype_size(to_dtype), from_size = dtype_size(from_dtype);
    if (to_dtype == from_dtype) {
        if (count)
            memcpy(to, from, count * to_size);
        return;
    }
    if (convert_directly(to, to_dtype, from, from_dtype, count))
        return;
    if (to_dtype == DT_FLOAT64 && (uintptr_t)to % sizeof(double) == 0) {
        load_doubles(to, from, from_dtype, count);
        return;
    }
    if (from_dtype == DT_FLOAT64 && dtype_is_float(to_dtype) && !dtype_is_small_float(to_dtype) &&
        (uintptr_t)from % sizeof(double) == 0) {
        store_doubles(to, to_dtype, from, count);
        return;
    }
    bool as_double = dtype_is_float(to_dtype) || dtype_is_float(from_dtype);
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < BLOCK ? count - done : BLOCK;
        const uint8_t *source = (const uint8_t *)from + done * from_size;
        uint8_t *target = (uint8_t *)to + done * to_size;
        if (as_double) {
            double wide[BLOCK];
            load_doubles(wide, source, from_dtype, n);
            store_doubles(target, to_dtype, wide, n);
        } else {
            int64_t wide[BLOCK];
            load_ints(wide, source, from_dtype, n);
            if (from_dtype == DT_UINT64 && to_dtype != DT_BOOL)
                for (size_t i = 0; i < n; i++)
                    wide[i] = wide[i] < 0 && to_dtype != DT_INT64 ? INT64_MAX : wide[i];
            store_ints(target, to_dtype, wide, n);
        }
    }
}

/* ---- scaling ---- */

/* What a float32 keeps of each difference to the zero point, as ONNX has it for integers of 32 bits. */
static void round_differences(double *values, size_t n, const struct scaling *s)
{
    for (size_t i = 0; i < n; i++) {
        double zero = s->zero ? s->zero[s->each ? i : 0] : 0;
        values[i] = (double)(float)(values[i] - zero) + zero;
    }
}

static void scale_doubles(double *values, size_t n, const struct scaling *s)
{
    if (!s->each)
        for (size_t i = 0; i < n; i++)
            values[i] = (values[i] - (s->zero ? *s->zero : 0)) * *s->factor;
    else if (s->zero)
        for (size_t i = 0; i < n; i++)
            values[i] = (values[i] - s->zero[i]) * s->factor[i];
    else
        for (size_t i = 0; i < n; i++)
            values[i] *= s->factor[i];
}

/* The common case, a folded batch normalization: a factor for each float, no zeros. */
static CLONED void scale_floats(void *restrict to, const void *restrict from, size_t n, const double *restrict factor)
{
    for (size_t i = 0; i < n; i++) {
        float v;
        memcpy(&v, (const uint8_t *)from + 4 * i, 4);
        v = (float)((double)v * factor[i]);
        memcpy((uint8_t *)to + 4 * i, &v, 4);
    }
}

void scale_elements(void *to, enum dtype to_dtype, const void *from, enum dtype from_dtype, size_t count,
                    const struct scaling *scaling)
{
    double values[BLOCK];
    if (to_dtype == DT_FLOAT32 && from_dtype == DT_FLOAT32 && scaling->each && !scaling->zero) {
        scale_floats(to, from, count, scaling->factor);
        return;
    }
    struct scaling s = *scaling;
    for (size_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        convert_elements(values, DT_FLOAT64, (const uint8_t *)from + done * dtype_size(from_dtype), from_dtype, n);
        if (from_dtype == DT_INT32)
            round_differences(values, n, &s);
        scale_doubles(values, n, &s);
        convert_elements((uint8_t *)to + done * dtype_size(to_dtype), to_dtype, values, DT_FLOAT64, n);
        s.factor += s.each ? n : 0;
        s.zero += s.zero && s.each ? n : 0;
    }
}
