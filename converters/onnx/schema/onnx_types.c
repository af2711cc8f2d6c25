/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/schema/onnx_types.h"

#include "base/base.h"
#include "converters/onnx/schema/onnx_fields.h"

static const struct onnx_type types[] = {
    {1, "float", DT_FLOAT32, TENSOR_FLOAT_DATA, 0, 0},
    {2, "uint8", DT_UINT8, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {3, "int8", DT_INT8, TENSOR_INT32_DATA, INT8_MIN, INT8_MAX},
    {4, "uint16", DT_UINT16, TENSOR_INT32_DATA, 0, UINT16_MAX},
    {5, "int16", DT_INT16, TENSOR_INT32_DATA, INT16_MIN, INT16_MAX},
    {6, "int32", DT_INT32, TENSOR_INT32_DATA, INT32_MIN, INT32_MAX},
    {7, "int64", DT_INT64, TENSOR_INT64_DATA, INT64_MIN, INT64_MAX},
    {8, "string", DT_STRING, 0, 0, 0},
    {9, "bool", DT_BOOL, TENSOR_INT32_DATA, 0, 1},
    {10, "float16", DT_FLOAT16, TENSOR_INT32_DATA, 0, UINT16_MAX},
    {11, "double", DT_FLOAT64, TENSOR_DOUBLE_DATA, 0, 0},
    {12, "uint32", DT_UINT32, TENSOR_UINT64_DATA, 0, UINT32_MAX},
    {13, "uint64", DT_UINT64, TENSOR_UINT64_DATA, INT64_MIN, INT64_MAX}, /* as bits */
    {14, "complex64", DT_NONE, 0, 0, 0},
    {15, "complex128", DT_NONE, 0, 0, 0},
    {16, "bfloat16", DT_BFLOAT16, TENSOR_INT32_DATA, 0, UINT16_MAX},
    {17, "float8e4m3fn", DT_FLOAT8E4M3FN, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {18, "float8e4m3fnuz", DT_FLOAT8E4M3FNUZ, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {19, "float8e5m2", DT_FLOAT8E5M2, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {20, "float8e5m2fnuz", DT_FLOAT8E5M2FNUZ, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {21, "uint4", DT_UINT4, TENSOR_INT32_DATA, 0, UINT8_MAX}, /* of fewer than 8 bits: packed */
    {22, "int4", DT_INT4, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {23, "float4e2m1", DT_FLOAT4E2M1, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {24, "float8e8m0", DT_FLOAT8E8M0, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {25, "uint2", DT_UINT2, TENSOR_INT32_DATA, 0, UINT8_MAX},
    {26, "int2", DT_INT2, TENSOR_INT32_DATA, 0, UINT8_MAX},
};

const struct onnx_type *onnx_find_type(int64_t code)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].code == code)
            return &types[i];
    return NULL;
}

odlc_status onnx_dtype(int64_t code, enum dtype *out, const char **name)
{
    const struct onnx_type *type = onnx_find_type(code);
    *name = type ? type->name : NULL;
    if (!type)
        return ODLC_ERR_INVALID;
    if (type->dtype == DT_NONE)
        return ODLC_ERR_UNSUPPORTED;
    *out = type->dtype;
    return ODLC_OK;
}
