/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: one table for all their names, sizes and codes. */
#ifndef IR_DTYPE_H
#define IR_DTYPE_H

#include "base/base.h"

enum dtype {
    DT_NONE, /* unknown, or an absent optional input */
    DT_BOOL,
    DT_INT2,
    DT_INT4,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT2,
    DT_UINT4,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
    DT_UINT64,
    DT_FLOAT4E2M1, /* the float types of 8 and fewer bits: known values only, which become float32 */
    DT_FLOAT8E4M3FN,
    DT_FLOAT8E4M3FNUZ,
    DT_FLOAT8E5M2,
    DT_FLOAT8E5M2FNUZ,
    DT_FLOAT8E8M0,
    DT_FLOAT16,
    DT_BFLOAT16,
    DT_FLOAT32,
    DT_FLOAT64,
    DT_STRING,
    DT_SFXP4, /* signed fixed point: quantized values, real = (q + offset) * scale */
    DT_SFXP8,
    DT_SFXP16,
    DT_SFXP32,
    DT_UFXP4,
    DT_UFXP8,
    DT_UFXP16,
    DT_UFXP32,
    DT_COUNT
};

/* A type in a mask of types. */
#define DTYPE_BIT(dtype) ((uint64_t)1 << (dtype))
_Static_assert(DT_COUNT <= 64, "a mask holds all types");

enum dtype_class { CLASS_NONE, CLASS_BOOL, CLASS_INT, CLASS_UINT, CLASS_FLOAT, CLASS_STRING, CLASS_SFXP, CLASS_UFXP };

struct dtype_info {
    const char *name;    /* in text IR and diagnostics: "float32" */
    const char *display; /* in dlc-info reports: "Float_32" */
    const char *udo;     /* in UDO configs: "FLOAT_32"; NULL where they have none */
    uint32_t dlc;        /* code in containers, 0x0232 (dlc-format.md); 0xFFFFFFFF where it has none */
    uint8_t bits;        /* per stored element; types of fewer than 8 bits are stored one per byte. 0 for strings */
    uint8_t cls;         /* enum dtype_class */
};

const struct dtype_info *dtype_info(enum dtype dtype);
/* Bytes per stored element; 0 for DT_NONE and DT_STRING. */
uint32_t dtype_size(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);
/* Signed or unsigned integer, not bool and not fixed point. */
bool dtype_is_int(enum dtype dtype);
bool dtype_is_fixed(enum dtype dtype);
/* A float type of 8 or fewer bits. */
bool dtype_is_small_float(enum dtype dtype);
/* Bits that carry the value: 4 for DT_INT4, 2 for DT_UINT2, else those that are stored. */
unsigned dtype_value_bits(enum dtype dtype);
/* The type of the container in which the model's values of that type are stored: 32 bits for 64, float32 for smaller
 * and brain floats, int8 for int2; most are themselves. */
enum dtype dtype_narrowed(enum dtype dtype);
/* True when containers have the type. */
bool dtype_in_containers(enum dtype dtype);
/* DT_NONE when there is none of that name or code. */
enum dtype dtype_from_name(const char *name);
/* By the name that reports print ("Float_32", "uFxp_8"). */
enum dtype dtype_from_display(const char *name);
enum dtype dtype_from_udo(const char *name);
enum dtype dtype_from_dlc(uint32_t code);

/* IEEE 754 half and bfloat16, rounded to nearest even. */
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
uint16_t double_to_half(double value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);
/* The value of an element of a small float type, which is exact. */
float small_float_to_float(enum dtype dtype, uint8_t bits);

/* The values of a type of floats: multiples of 2^(e - fraction_bits) from 2^e on, for `binades` exponents e from
 * `lowest` on; below them of that of the lowest. */
struct float_values {
    int lowest, binades, fraction_bits;
    double largest;
    bool infinities, negative_zero;
};
/* Whether it is a float8 with a sign and a fraction: one of those but float8e8m0. */
bool dtype_is_float8(enum dtype dtype);
/* Of such a type. */
struct float_values dtype_float8_values(enum dtype dtype);

#endif
