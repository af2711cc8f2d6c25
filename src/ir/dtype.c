/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/dtype.h"

#include <math.h>
#include <string.h>

#define NO_CODE UINT32_MAX

/* DLC codes read as decimal digits: 0x0232 is a float (02) of 32 bits (dlc-format.md). */
static const struct dtype_info table[DT_COUNT] = {
    [DT_NONE] = {"none", "Undefined", NULL, 0x7FFFFFFF, 0, CLASS_NONE},
    [DT_BOOL] = {"bool", "Bool_8", "BOOL_8", 0x0508, 8, CLASS_BOOL},
    [DT_INT2] = {"int2", "Int_2", NULL, NO_CODE, 8, CLASS_INT},
    [DT_INT4] = {"int4", "Int_4", "INT_4", 0x0004, 8, CLASS_INT},
    [DT_INT8] = {"int8", "Int_8", "INT_8", 0x0008, 8, CLASS_INT},
    [DT_INT16] = {"int16", "Int_16", "INT_16", 0x0016, 16, CLASS_INT},
    [DT_INT32] = {"int32", "Int_32", "INT_32", 0x0032, 32, CLASS_INT},
    [DT_INT64] = {"int64", "Int_64", "INT_64", 0x0064, 64, CLASS_INT},
    [DT_UINT2] = {"uint2", "uInt_2", NULL, NO_CODE, 8, CLASS_UINT},
    [DT_UINT4] = {"uint4", "uInt_4", "UINT_4", 0x0104, 8, CLASS_UINT},
    [DT_UINT8] = {"uint8", "uInt_8", "UINT_8", 0x0108, 8, CLASS_UINT},
    [DT_UINT16] = {"uint16", "uInt_16", "UINT_16", 0x0116, 16, CLASS_UINT},
    [DT_UINT32] = {"uint32", "uInt_32", "UINT_32", 0x0132, 32, CLASS_UINT},
    [DT_UINT64] = {"uint64", "uInt_64", "UINT_64", 0x0164, 64, CLASS_UINT},
    [DT_FLOAT4E2M1] = {"float4e2m1", "Float_4E2M1", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT8E4M3FN] = {"float8e4m3fn", "Float_8E4M3FN", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", "Float_8E4M3FNUZ", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT8E5M2] = {"float8e5m2", "Float_8E5M2", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", "Float_8E5M2FNUZ", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT8E8M0] = {"float8e8m0", "Float_8E8M0", NULL, NO_CODE, 8, CLASS_FLOAT},
    [DT_FLOAT16] = {"float16", "Float_16", "FLOAT_16", 0x0216, 16, CLASS_FLOAT},
    [DT_BFLOAT16] = {"bfloat16", "BFloat_16", NULL, NO_CODE, 16, CLASS_FLOAT},
    [DT_FLOAT32] = {"float32", "Float_32", "FLOAT_32", 0x0232, 32, CLASS_FLOAT},
    [DT_FLOAT64] = {"float64", "Float_64", "FLOAT_64", 0x0264, 64, CLASS_FLOAT},
    [DT_STRING] = {"string", "String", "STRING", 0x0608, 0, CLASS_STRING},
    [DT_SFXP4] = {"sfxp4", "sFxp_4", NULL, 0x0304, 8, CLASS_SFXP},
    [DT_SFXP8] = {"sfxp8", "sFxp_8", NULL, 0x0308, 8, CLASS_SFXP},
    [DT_SFXP16] = {"sfxp16", "sFxp_16", NULL, 0x0316, 16, CLASS_SFXP},
    [DT_SFXP32] = {"sfxp32", "sFxp_32", NULL, 0x0332, 32, CLASS_SFXP},
    [DT_UFXP4] = {"ufxp4", "uFxp_4", "FIXED_4", 0x0404, 8, CLASS_UFXP},
    [DT_UFXP8] = {"ufxp8", "uFxp_8", "FIXED_8", 0x0408, 8, CLASS_UFXP},
    [DT_UFXP16] = {"ufxp16", "uFxp_16", "FIXED_16", 0x0416, 16, CLASS_UFXP},
    [DT_UFXP32] = {"ufxp32", "uFxp_32", NULL, 0x0432, 32, CLASS_UFXP},
};

const struct dtype_info *dtype_info(enum dtype dtype)
{
    return &table[dtype];
}

uint32_t dtype_size(enum dtype dtype)
{
    return table[dtype].bits / 8;
}

bool dtype_is_float(enum dtype dtype)
{
    return table[dtype].cls == CLASS_FLOAT;
}

bool dtype_is_int(enum dtype dtype)
{
    return table[dtype].cls == CLASS_INT || table[dtype].cls == CLASS_UINT;
}

bool dtype_is_fixed(enum dtype dtype)
{
    return table[dtype].cls == CLASS_SFXP || table[dtype].cls == CLASS_UFXP;
}

bool dtype_is_small_float(enum dtype dtype)
{
    return table[dtype].cls == CLASS_FLOAT && table[dtype].bits == 8;
}

unsigned dtype_value_bits(enum dtype dtype)
{
    switch (dtype) {
    case DT_INT2:
    case DT_UINT2:
        return 2;
    case DT_INT4:
    case DT_UINT4:
    case DT_FLOAT4E2M1:
    case DT_SFXP4:
    case DT_UFXP4:
        return 4;
    default:
        return table[dtype].bits;
    }
}

bool dtype_in_containers(enum dtype dtype)
{
    return table[dtype].dlc != NO_CODE;
}

enum dtype dtype_from_name(const char *name)
{
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return (enum dtype)i;
    return DT_NONE;
}

enum dtype dtype_from_display(const char *name)
{
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if (table[i].display && strcmp(table[i].display, name) == 0)
            return (enum dtype)i;
    return DT_NONE;
}

enum dtype dtype_narrowed(enum dtype dtype)
{
    if (dtype_is_small_float(dtype))
        return DT_FLOAT32;
    switch (dtype) {
    case DT_INT2:
        return DT_INT8;
    case DT_UINT2:
        return DT_UINT8;
    case DT_INT64:
        return DT_INT32;
    case DT_UINT64:
        return DT_UINT32;
    case DT_FLOAT64:
    case DT_BFLOAT16:
        return DT_FLOAT32;
    default:
        return dtype;
    }
}

enum dtype dtype_from_udo(const char *name)
{
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if (table[i].udo && strcmp(table[i].udo, name) == 0)
            return (enum dtype)i;
    return DT_NONE;
}

enum dtype dtype_from_dlc(uint32_t code)
{
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if (table[i].dlc == code && code != NO_CODE)
            return (enum dtype)i;
    return DT_NONE;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    if (exponent == 0x1f)
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f; /* exact: subnormal halves are multiples of 2^-24 */
    return sign ? -tiny : tiny;
}

/* Rounds the double's own bits, so that there is no double rounding on the way. */
uint16_t double_to_half(double value)
{
    uint64_t bits = bits_of_double(value);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & 0xfffffffffffff;
    if (exponent == 1024) /* infinity, NaN */
        return (uint16_t)(sign | 0x7c00 | (fraction ? 0x200 | fraction >> 42 : 0));
    if (exponent > 15)
        return sign | 0x7c00;
    if (exponent < -25)
        return sign;
    /* The kept part is a 10-bit fraction under the exponent; subnormals lose more bits of the full significand. */
    uint32_t drop = exponent >= -14 ? 42 : (uint32_t)(42 + (-14 - exponent));
    uint64_t significand = fraction | (uint64_t)1 << 52;
    uint64_t kept = significand >> drop, rest = significand & (((uint64_t)1 << drop) - 1),
             half = (uint64_t)1 << (drop - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    /* A carry out of the fraction runs into the exponent, which is just right. */
    if (exponent >= -14)
        kept += (uint64_t)(exponent + 14) << 10;
    return (uint16_t)(sign | kept);
}

uint16_t float_to_half(float value)
{
    return double_to_half(value);
}

float bfloat16_to_float(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

uint16_t float_to_bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* How the small float types use their bits; a sign stands before the exponent in all but one. */
struct small_float {
    unsigned exponent_bits, fraction_bits;
    int bias;
    bool is_signed;
    bool unsigned_zero; /* the bits of -0 are the only NaN */
    bool infinities;    /* the largest exponent stands for infinities and NaNs, as in IEEE 754 */
    bool last_is_nan;   /* only the largest magnitude is a NaN */
};

static const struct small_float small_floats[DT_COUNT] = {
    [DT_FLOAT4E2M1] = {.exponent_bits = 2, .fraction_bits = 1, .bias = 1, .is_signed = true},
    [DT_FLOAT8E4M3FN] = {.exponent_bits = 4, .fraction_bits = 3, .bias = 7, .is_signed = true, .last_is_nan = true},
    [DT_FLOAT8E4M3FNUZ] = {.exponent_bits = 4, .fraction_bits = 3, .bias = 8, .is_signed = true, .unsigned_zero = true},
    [DT_FLOAT8E5M2] = {.exponent_bits = 5, .fraction_bits = 2, .bias = 15, .is_signed = true, .infinities = true},
    [DT_FLOAT8E5M2FNUZ] =
        {.exponent_bits = 5, .fraction_bits = 2, .bias = 16, .is_signed = true, .unsigned_zero = true},
    [DT_FLOAT8E8M0] = {.exponent_bits = 8, .bias = 127, .last_is_nan = true},
};

float small_float_to_float(enum dtype dtype, uint8_t bits)
{
    const struct small_float *f = &small_floats[dtype];
    unsigned magnitude_bits = f->exponent_bits + f->fraction_bits, last = (1u << magnitude_bits) - 1;
    unsigned magnitude = bits & last, fraction = magnitude & ((1u << f->fraction_bits) - 1);
    int exponent = (int)(magnitude >> f->fraction_bits), largest = (1 << f->exponent_bits) - 1;
    bool negative = f->is_signed && bits >> magnitude_bits & 1;
    double value;
    if ((f->unsigned_zero && negative && magnitude == 0) || (f->last_is_nan && magnitude == last) ||
        (f->infinities && exponent == largest && fraction))
        value = NAN;
    else if (f->infinities && exponent == largest)
        value = INFINITY;
    else if (exponent == 0 && f->fraction_bits > 0)
        value = ldexp(fraction, 1 - f->bias - (int)f->fraction_bits);
    else
        value = ldexp(fraction + (1u << f->fraction_bits), exponent - f->bias - (int)f->fraction_bits);
    return (float)(negative ? -value : value);
}

bool dtype_is_float8(enum dtype dtype)
{
    const struct small_float *f = &small_floats[dtype];
    return f->is_signed && f->exponent_bits + f->fraction_bits == 7;
}

struct float_values dtype_float8_values(enum dtype dtype)
{
    const struct small_float *f = &small_floats[dtype];
    const int fraction_bits = (int)f->fraction_bits, binades = (1 << f->exponent_bits) - 1 - f->infinities;
    const int highest = binades - f->bias;
    return (struct float_values){.lowest = 1 - f->bias,
                                 .binades = binades,
                                 .fraction_bits = fraction_bits,
                                 .largest = ldexp(2, highest) - ldexp(1 + f->last_is_nan, highest - fraction_bits),
                                 .infinities = f->infinities,
                                 .negative_zero = !f->unsigned_zero};
}
