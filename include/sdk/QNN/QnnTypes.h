/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, params and op configs as op packages see them.
 *
 * Values of data types, tensor types and encodings are those of public files and documentation; enums of which only
 * names are published count from 0 in the order of their names here, which is ours. */
#ifndef QNN_TYPES_H
#define QNN_TYPES_H

#include "QnnCommon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- enums ---- */

/* Class in the high byte, bits as decimal digits in the low byte. A boolean is a byte. Types of 4 bits take a byte an
 * element. */
typedef enum {
    QNN_DATATYPE_INT_8 = 0x0008,
    QNN_DATATYPE_INT_16 = 0x0016,
    QNN_DATATYPE_INT_32 = 0x0032,
    QNN_DATATYPE_INT_64 = 0x0064,
    QNN_DATATYPE_UINT_8 = 0x0108,
    QNN_DATATYPE_UINT_16 = 0x0116,
    QNN_DATATYPE_UINT_32 = 0x0132,
    QNN_DATATYPE_UINT_64 = 0x0164,
    QNN_DATATYPE_FLOAT_16 = 0x0216,
    QNN_DATATYPE_FLOAT_32 = 0x0232,
    QNN_DATATYPE_FLOAT_64 = 0x0264,
    QNN_DATATYPE_SFIXED_POINT_4 = 0x0304,
    QNN_DATATYPE_SFIXED_POINT_8 = 0x0308,
    QNN_DATATYPE_SFIXED_POINT_16 = 0x0316,
    QNN_DATATYPE_SFIXED_POINT_32 = 0x0332,
    QNN_DATATYPE_UFIXED_POINT_4 = 0x0404,
    QNN_DATATYPE_UFIXED_POINT_8 = 0x0408,
    QNN_DATATYPE_UFIXED_POINT_16 = 0x0416,
    QNN_DATATYPE_UFIXED_POINT_32 = 0x0432,
    QNN_DATATYPE_BOOL_8 = 0x0508,
    QNN_DATATYPE_STRING = 0x0608,
    QNN_DATATYPE_BFLOAT_16 = 0x0816, /* the number is ours */
    QNN_DATATYPE_UNDEFINED = 0x7FFFFFFF
} Qnn_DataType_t;

typedef enum {
    QNN_TENSOR_TYPE_APP_WRITE = 0, /* a graph input */
    QNN_TENSOR_TYPE_APP_READ = 1,  /* a graph output */
    QNN_TENSOR_TYPE_APP_READWRITE = 2,
    QNN_TENSOR_TYPE_NATIVE = 3,
    QNN_TENSOR_TYPE_STATIC = 4, /* constant data */
    QNN_TENSOR_TYPE_NULL = 5    /* an optional operand that is absent */
} Qnn_TensorType_t;

/* How the elements lie: dense, the last dimension fastest. */
typedef uint32_t Qnn_TensorDataFormat_t;
#define QNN_TENSOR_DATA_FORMAT_FLAT_BUFFER 0

typedef enum {
    QNN_TENSORMEMTYPE_RAW = 0,      /* clientBuf is the data */
    QNN_TENSORMEMTYPE_MEMHANDLE = 1 /* memHandle is */
} Qnn_TensorMemType_t;

typedef enum { QNN_TENSOR_VERSION_1 = 1, QNN_TENSOR_VERSION_2 = 2 } Qnn_TensorVersion_t;

typedef enum { QNN_OPCONFIG_VERSION_1 = 1 } Qnn_OpConfigVersion_t;

typedef enum { QNN_PARAMTYPE_SCALAR = 0, QNN_PARAMTYPE_TENSOR = 1 } Qnn_ParamType_t;

typedef enum {
    QNN_DEFINITION_IMPL_GENERATED = 0,
    QNN_DEFINITION_DEFINED = 1,
    QNN_DEFINITION_UNDEFINED = 0x7FFFFFFF
} Qnn_Definition_t;

typedef enum {
    QNN_QUANTIZATION_ENCODING_SCALE_OFFSET = 0,
    QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET = 1,
    QNN_QUANTIZATION_ENCODING_BW_SCALE_OFFSET = 2,
    QNN_QUANTIZATION_ENCODING_BW_AXIS_SCALE_OFFSET = 3,
    QNN_QUANTIZATION_ENCODING_BLOCKWISE_EXPANSION = 4,
    QNN_QUANTIZATION_ENCODING_UNDEFINED = 0x7FFFFFFF
} Qnn_QuantizationEncoding_t;

/* ---- encodings: real = (stored + offset) * scale ---- */

typedef struct {
    float scale;
    int32_t offset;
} Qnn_ScaleOffset_t;

typedef struct {
    int32_t axis;
    uint32_t numScaleOffsets;
    Qnn_ScaleOffset_t *scaleOffset;
} Qnn_AxisScaleOffset_t;

typedef struct {
    uint32_t bitwidth;
    float scale;
    int32_t offset;
} Qnn_BwScaleOffset_t;

typedef struct {
    uint32_t bitwidth;
    int32_t axis;
    uint32_t numElements;
    float *scales;
    int32_t *offsets; /* NULL: all are 0 */
} Qnn_BwAxisScaleOffset_t;

/* The scale of place i of the axis and block k stands at i * numBlocksPerAxis + k. */
typedef struct {
    int32_t axis;
    Qnn_ScaleOffset_t *scaleOffsets;
    uint32_t numBlocksPerAxis;
    uint32_t blockScaleBitwidth;
    uint32_t blockScaleStorageType; /* 0: blocksScale8; 1: blocksScale16 */
    union {
        uint8_t *blocksScale8;
        uint16_t *blocksScale16;
    };
} Qnn_BlockwiseExpansion_t;

typedef struct {
    Qnn_Definition_t encodingDefinition;
    Qnn_QuantizationEncoding_t quantizationEncoding;
    union {
        Qnn_ScaleOffset_t scaleOffsetEncoding;
        Qnn_AxisScaleOffset_t axisScaleOffsetEncoding;
        Qnn_BwScaleOffset_t bwScaleOffsetEncoding;
        Qnn_BwAxisScaleOffset_t bwAxisScaleOffsetEncoding;
        Qnn_BlockwiseExpansion_t *blockwiseExpansion;
    };
} Qnn_QuantizeParams_t;

#define QNN_QUANTIZE_PARAMS_INIT                                       \
    {                                                                  \
        QNN_DEFINITION_UNDEFINED, QNN_QUANTIZATION_ENCODING_UNDEFINED, \
        {                                                              \
            {                                                          \
                0.0f, 0                                                \
            }                                                          \
        }                                                              \
    }

/* ---- tensors ---- */

typedef struct {
    void *data;
    uint32_t dataSize; /* bytes */
} Qnn_ClientBuffer_t;

typedef void *Qnn_MemHandle_t;

typedef struct {
    uint32_t id;
    const char *name;
    Qnn_TensorType_t type;
    Qnn_TensorDataFormat_t dataFormat;
    Qnn_DataType_t dataType;
    Qnn_QuantizeParams_t quantizeParams;
    uint32_t rank;
    uint32_t *dimensions; /* rank of them */
    Qnn_TensorMemType_t memType;
    union {
        Qnn_ClientBuffer_t clientBuf;
        Qnn_MemHandle_t memHandle;
    };
} Qnn_TensorV1_t;

/* Begins with the members of version 1; the order behind memHandle is ours. */
typedef struct {
    uint32_t id;
    const char *name;
    Qnn_TensorType_t type;
    Qnn_TensorDataFormat_t dataFormat;
    Qnn_DataType_t dataType;
    Qnn_QuantizeParams_t quantizeParams;
    uint32_t rank;
    uint32_t *dimensions;
    Qnn_TensorMemType_t memType;
    union {
        Qnn_ClientBuffer_t clientBuf;
        Qnn_MemHandle_t memHandle;
    };
    uint8_t *isDynamicDimensions; /* NULL: none is */
    void *sparseParams;           /* NULL: the tensor is dense */
} Qnn_TensorV2_t;

/* A tensor of version 2 without data: begins with the members of version 1, to which the rest adds nothing. */
#define QNN_TENSOR_V2_INIT                                                                            \
    {                                                                                                 \
        0u, NULL, QNN_TENSOR_TYPE_NATIVE, QNN_TENSOR_DATA_FORMAT_FLAT_BUFFER, QNN_DATATYPE_UNDEFINED, \
            QNN_QUANTIZE_PARAMS_INIT, 0u, NULL, QNN_TENSORMEMTYPE_RAW, {{NULL, 0u}}, NULL, NULL       \
    }

typedef struct {
    Qnn_TensorVersion_t version;
    union {
        Qnn_TensorV1_t v1;
        Qnn_TensorV2_t v2;
    };
} Qnn_Tensor_t;

#define QNN_TENSOR_INIT                                                                                       \
    {                                                                                                         \
        QNN_TENSOR_VERSION_1,                                                                                 \
        {                                                                                                     \
            {                                                                                                 \
                0u, NULL, QNN_TENSOR_TYPE_NATIVE, QNN_TENSOR_DATA_FORMAT_FLAT_BUFFER, QNN_DATATYPE_UNDEFINED, \
                    QNN_QUANTIZE_PARAMS_INIT, 0u, NULL, QNN_TENSORMEMTYPE_RAW,                                \
                {                                                                                             \
                    {                                                                                         \
                        NULL, 0u                                                                              \
                    }                                                                                         \
                }                                                                                             \
            }                                                                                                 \
        }                                                                                                     \
    }

/* ---- params ---- */

typedef struct {
    Qnn_DataType_t dataType;
    union {
        float floatValue;
        double doubleValue;
        uint64_t uint64Value;
        int64_t int64Value;
        uint32_t uint32Value;
        int32_t int32Value;
        uint16_t uint16Value;
        int16_t int16Value;
        uint8_t uint8Value;
        int8_t int8Value;
        uint8_t bool8Value;
        const char *stringValue;
    };
} Qnn_Scalar_t;

#define QNN_SCALAR_INIT         \
    {                           \
        QNN_DATATYPE_UNDEFINED, \
        {                       \
            0.0f                \
        }                       \
    }

typedef struct {
    Qnn_ParamType_t paramType;
    const char *name;
    union {
        Qnn_Scalar_t scalarParam;
        Qnn_Tensor_t tensorParam;
    };
} Qnn_Param_t;

/* ---- op configs ---- */

typedef struct {
    const char *name;
    const char *packageName;
    const char *typeName;
    uint32_t numOfParams;
    Qnn_Param_t *params;
    uint32_t numOfInputs;
    Qnn_Tensor_t *inputTensors;
    uint32_t numOfOutputs;
    Qnn_Tensor_t *outputTensors;
} Qnn_OpConfigV1_t;

typedef struct {
    Qnn_OpConfigVersion_t version;
    union {
        Qnn_OpConfigV1_t v1;
    };
} Qnn_OpConfig_t;

#define QNN_OPCONFIG_INIT                                      \
    {                                                          \
        QNN_OPCONFIG_VERSION_1,                                \
        {                                                      \
            {                                                  \
                NULL, NULL, NULL, 0u, NULL, 0u, NULL, 0u, NULL \
            }                                                  \
        }                                                      \
    }

#ifdef __cplusplus
}
#endif

#endif
