/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/schema/tf_types.h"

#include <limits.h>

#include "tensorflow.pb-c.h"

static const struct {
    const char *name;
    enum dtype dtype;
} types[] = {
    [1] = {"float32", DT_FLOAT32},
    [2] = {"float64", DT_FLOAT64},
    [3] = {"int32", DT_INT32},
    [4] = {"uint8", DT_UINT8},
    [5] = {"int16", DT_INT16},
    [6] = {"int8", DT_INT8},
    [7] = {"string", DT_STRING},
    [8] = {"complex64", DT_NONE},
    [9] = {"int64", DT_INT64},
    [10] = {"bool", DT_BOOL},
    [11] = {"qint8", DT_NONE},
    [12] = {"quint8", DT_NONE},
    [13] = {"qint32", DT_NONE},
    [14] = {"bfloat16", DT_BFLOAT16},
    [15] = {"qint16", DT_NONE},
    [16] = {"quint16", DT_NONE},
    [17] = {"uint16", DT_UINT16},
    [18] = {"complex128", DT_NONE},
    [19] = {"float16", DT_FLOAT16},
    [20] = {"resource", DT_NONE},
    [21] = {"variant", DT_NONE},
    [22] = {"uint32", DT_UINT32},
    [23] = {"uint64", DT_UINT64},
    [24] = {"float8e5m2", DT_FLOAT8E5M2},
    [25] = {"float8e4m3fn", DT_FLOAT8E4M3FN},
    [29] = {"int4", DT_INT4},
    [30] = {"uint4", DT_UINT4},
};

static int64_t without_reference(int64_t code)
{
    return code > TF_REF ? code - TF_REF : code;
}

enum dtype tf_dtype(int64_t code)
{
    code = without_reference(code);
    return code > 0 && code < (int64_t)COUNT_OF(types) ? types[code].dtype : DT_NONE;
}

enum dtype tf_stored_dtype(int64_t code)
{
    static const enum dtype integers[] = {[TF_QINT8] = DT_INT8,
                                          [TF_QUINT8] = DT_UINT8,
                                          [TF_QINT32] = DT_INT32,
                                          [TF_QINT16] = DT_INT16,
                                          [TF_QUINT16] = DT_UINT16};
    bool quantized = code > 0 && code < (int64_t)COUNT_OF(integers) && integers[code] != DT_NONE;
    return quantized ? integers[code] : tf_dtype(code);
}

enum dtype tf_part_dtype(int64_t code)
{
    return code == TF_COMPLEX64 ? DT_FLOAT32 : code == TF_COMPLEX128 ? DT_FLOAT64 : DT_NONE;
}

const char *tf_dtype_name(int64_t code)
{
    code = without_reference(code);
    bool known = code > 0 && code < (int64_t)COUNT_OF(types) && types[code].name;
    return known ? types[code].name : "an unknown type";
}

const char *tf_dtype_enum(int64_t code)
{
    const ProtobufCEnumDescriptor *types_of_messages = &tensorflow__data_type__descriptor;
    const ProtobufCEnumValue *value = NULL;
    if (code > 0 && code <= INT_MAX)
        value = protobuf_c_enum_descriptor_get_value(types_of_messages, (int)code);
    return value ? value->name : "DT_INVALID";
}
