/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the registration interface of a UDO package: what the package's operations are, and which libraries
 * implement them.
 *
 * Names are those of the published guides. Only the numbers of the errors from 0 to 4 are published; other numbers,
 * and the order of members, are ours (../OdlcSdk.h). Every SnpeUdo_X is also called Udo_X. C11 and C++11. */
#ifndef SNPE_UDO_BASE_H
#define SNPE_UDO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../OdlcSdk.h"

#ifdef __cplusplus
extern "C" {
#endif

#define API_VERSION_MAJOR 1
#define API_VERSION_MINOR 6
#define API_VERSION_TEENY 0

#define SNPE_UDO_MAX_STRING_SIZE 1024

typedef uint32_t SnpeUdo_Bitmask_t;
typedef SnpeUdo_Bitmask_t Udo_Bitmask_t;
typedef char *SnpeUdo_String_t;
typedef SnpeUdo_String_t Udo_String_t;

/* 0 to 99: of any call; 100 to 200: of the configuration of an operation. */
typedef enum {
    SNPE_UDO_NO_ERROR = 0,
    SNPE_UDO_WRONG_CORE = 1,
    SNPE_UDO_INVALID_ARGUMENT = 2,
    SNPE_UDO_UNSUPPORTED_FEATURE = 3,
    SNPE_UDO_MEM_ALLOC_ERROR = 4,
    SNPE_UDO_WRONG_OPERATION = 100,
    UDO_NO_ERROR = SNPE_UDO_NO_ERROR,
    UDO_WRONG_CORE = SNPE_UDO_WRONG_CORE,
    UDO_INVALID_ARGUMENT = SNPE_UDO_INVALID_ARGUMENT,
    UDO_UNSUPPORTED_FEATURE = SNPE_UDO_UNSUPPORTED_FEATURE,
    UDO_MEM_ALLOC_ERROR = SNPE_UDO_MEM_ALLOC_ERROR,
    UDO_WRONG_OPERATION = SNPE_UDO_WRONG_OPERATION
} SnpeUdo_ErrorType_t;
typedef SnpeUdo_ErrorType_t Udo_ErrorType_t;

/* Bits, so that several can be named at once. */
typedef enum {
    SNPE_UDO_DATATYPE_FLOAT_16 = 1 << 0,
    SNPE_UDO_DATATYPE_FLOAT_32 = 1 << 1,
    SNPE_UDO_DATATYPE_FIXED_4 = 1 << 2,
    SNPE_UDO_DATATYPE_FIXED_8 = 1 << 3,
    SNPE_UDO_DATATYPE_FIXED_16 = 1 << 4,
    SNPE_UDO_DATATYPE_FIXED_32 = 1 << 5,
    SNPE_UDO_DATATYPE_UINT_8 = 1 << 6,
    SNPE_UDO_DATATYPE_UINT_16 = 1 << 7,
    SNPE_UDO_DATATYPE_UINT_32 = 1 << 8,
    SNPE_UDO_DATATYPE_INT_8 = 1 << 9,
    SNPE_UDO_DATATYPE_INT_16 = 1 << 10,
    SNPE_UDO_DATATYPE_INT_32 = 1 << 11,
    /* The names of the rest are ours, too. */
    ODLC_UDO_DATATYPE_UINT_64 = 1 << 12,
    ODLC_UDO_DATATYPE_INT_64 = 1 << 13,
    ODLC_UDO_DATATYPE_BOOL_8 = 1 << 14,
    ODLC_UDO_DATATYPE_FLOAT_64 = 1 << 15,
    ODLC_UDO_DATATYPE_STRING = 1 << 16
} SnpeUdo_DataType_t;
typedef SnpeUdo_DataType_t Udo_DataType_t;

typedef enum {
    SNPE_UDO_LAYOUT_NHWC = 1 << 0,
    SNPE_UDO_LAYOUT_NULL = 1 << 1,  /* an absent tensor */
    ODLC_UDO_LAYOUT_NCHW = 1 << 2,  /* the names of these are ours, too */
    ODLC_UDO_LAYOUT_OTHER = 1 << 3, /* none is declared, or another one */
    SNPE_UDO_LAYOUT_LAST = 0x7FFFFFFF
} SnpeUdo_TensorLayout_t;
typedef SnpeUdo_TensorLayout_t Udo_TensorLayout_t;

/* Bits of SnpeUdo_RegInfo_t.supportedByCores. */
typedef enum {
    SNPE_UDO_CORETYPE_CPU = 0x01,
    SNPE_UDO_CORETYPE_GPU = 0x02,
    SNPE_UDO_CORETYPE_DSP = 0x04
} SnpeUdo_CoreType_t;
typedef SnpeUdo_CoreType_t Udo_CoreType_t;

typedef enum {
    SNPE_UDO_PARAMTYPE_SCALAR = 1,
    SNPE_UDO_PARAMTYPE_STRING = 2,
    SNPE_UDO_PARAMTYPE_TENSOR = 3
} SnpeUdo_ParamType_t;
typedef SnpeUdo_ParamType_t Udo_ParamType_t;

typedef enum {
    SNPE_UDO_QUANTIZATION_NONE = 0,
    SNPE_UDO_QUANTIZATION_TF = 1,
    SNPE_UDO_QUANTIZATION_QMN = 2 /* supported by nobody */
} SnpeUdo_QuantizationType_t;
typedef SnpeUdo_QuantizationType_t Udo_QuantizationType_t;

typedef struct {
    uint32_t major;
    uint32_t minor;
    uint32_t teeny;
} SnpeUdo_Version_t;
typedef SnpeUdo_Version_t Udo_Version_t;

/* Of a library, and of the interface that it was compiled with. */
typedef struct {
    SnpeUdo_Version_t libVersion;
    SnpeUdo_Version_t apiVersion;
} SnpeUdo_LibVersion_t;
typedef SnpeUdo_LibVersion_t Udo_LibVersion_t;

/* ---- values ---- */

typedef union {
    float floatValue;
    uint64_t uint64Value;
    uint32_t uint32Value;
    uint16_t uint16Value;
    uint8_t uint8Value;
    int64_t int64Value;
    int32_t int32Value;
    int16_t int16Value;
    int8_t int8Value;
    bool boolValue;
} SnpeUdo_Value_t;
typedef SnpeUdo_Value_t Udo_Value_t;

typedef struct {
    SnpeUdo_DataType_t dataType;
    SnpeUdo_Value_t dataValue;
} SnpeUdo_ScalarParam_t;
typedef SnpeUdo_ScalarParam_t Udo_ScalarParam_t;

typedef struct {
    float minValue;
    float maxValue;
} SnpeUdo_TFQuantize_t;
typedef SnpeUdo_TFQuantize_t Udo_TFQuantize_t;

typedef struct {
    SnpeUdo_QuantizationType_t quantizeType;
    SnpeUdo_TFQuantize_t TFParams;
} SnpeUdo_QuantizeParams_t;
typedef SnpeUdo_QuantizeParams_t Udo_QuantizeParams_t;

typedef struct {
    uint32_t tensorRank;
    uint32_t *maxDimensions;
    uint32_t *currDimensions;
    SnpeUdo_TensorLayout_t layout;
    SnpeUdo_QuantizeParams_t quantizeParams;
    SnpeUdo_DataType_t dataType;
    void *tensorData;
} SnpeUdo_TensorParam_t;
typedef SnpeUdo_TensorParam_t Udo_TensorParam_t;

typedef struct {
    SnpeUdo_ParamType_t paramType;
    SnpeUdo_String_t paramName;
    union {
        SnpeUdo_ScalarParam_t scalarParam;
        SnpeUdo_TensorParam_t tensorParam;
        SnpeUdo_String_t stringParam;
    };
} SnpeUdo_Param_t;
typedef SnpeUdo_Param_t Udo_Param_t;

/* ---- what a registration library tells ---- */

typedef struct {
    SnpeUdo_CoreType_t coreType;
    SnpeUdo_DataType_t dataType;
} SnpeUdo_PerCoreDatatype_t;
typedef SnpeUdo_PerCoreDatatype_t Udo_PerCoreDatatype_t;

typedef struct {
    SnpeUdo_String_t tensorName;
    uint32_t numOfPerCoreDatatypes;
    SnpeUdo_PerCoreDatatype_t *perCoreDatatypes;
    SnpeUdo_TensorLayout_t tensorLayout;
    bool repeatable;
    bool isStatic;
} SnpeUdo_TensorInfo_t;
typedef SnpeUdo_TensorInfo_t Udo_TensorInfo_t;

typedef struct {
    SnpeUdo_CoreType_t coreType;
    SnpeUdo_Bitmask_t operationCalculationTypes; /* of SnpeUdo_DataType_t */
} SnpeUdo_OpCoreInfo_t;
typedef SnpeUdo_OpCoreInfo_t Udo_OpCoreInfo_t;

typedef struct {
    SnpeUdo_String_t operationType;
    uint32_t numOfCoreInfo;
    SnpeUdo_OpCoreInfo_t *coreInfo;
    uint32_t numOfStaticParams;
    SnpeUdo_Param_t *staticParams; /* names and types; values are those of nodes */
    uint32_t numOfInputs;
    SnpeUdo_TensorInfo_t *inputInfos;
    uint32_t numOfOutputs;
    SnpeUdo_TensorInfo_t *outputInfos;
} SnpeUdo_OperationInfo_t;
typedef SnpeUdo_OperationInfo_t Udo_OperationInfo_t;

typedef struct {
    SnpeUdo_String_t libraryName; /* a file name, looked for beside the registration library, then by the loader */
    SnpeUdo_CoreType_t coreType;
} SnpeUdo_LibraryInfo_t;
typedef SnpeUdo_LibraryInfo_t Udo_LibraryInfo_t;

typedef struct {
    SnpeUdo_String_t packageName;
    uint32_t numOfOperations;
    SnpeUdo_OperationInfo_t *operationsInfo;
    uint32_t numOfImplementationLib;
    SnpeUdo_LibraryInfo_t *implementationLib;
    SnpeUdo_Bitmask_t supportedByCores; /* of SnpeUdo_CoreType_t */
} SnpeUdo_RegInfo_t;
typedef SnpeUdo_RegInfo_t Udo_RegInfo_t;

/* ---- of the older C interface of implementations, which packages for DSP v65 and v66 use ---- */

typedef struct {
    SnpeUdo_CoreType_t coreType;
    SnpeUdo_String_t packageName;
    SnpeUdo_String_t operationsType; /* separated by blanks */
    uint32_t numOfOperations;
} SnpeUdo_ImpInfo_t;
typedef SnpeUdo_ImpInfo_t Udo_ImpInfo_t;

typedef struct {
    SnpeUdo_String_t operationType;
    uint32_t numOfStaticParams;
    SnpeUdo_Param_t *staticParams;
    uint32_t numOfInputs;
    SnpeUdo_TensorParam_t *inputs;
    uint32_t numOfOutputs;
    SnpeUdo_TensorParam_t *outputs;
} SnpeUdo_OpDefinition_t;
typedef SnpeUdo_OpDefinition_t Udo_OpDefinition_t;

typedef struct SnpeUdo_OpFactory *SnpeUdo_OpFactory_t;
typedef struct SnpeUdo_Operation *SnpeUdo_Operation_t;
typedef int (*SnpeUdo_ExternalNotify_t)(const uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
