/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU backend hands to createOpImpl, and what a package hands back: names as op sources use them, the order
 * of the members is ours.
 *
 * A QnnOpPackage_Node_t points to a QnnCpuOpPackage_Node_t. The host's memory stays valid, at the same addresses, until
 * freeOpImpl: a package may keep the pointers. Activations are float32, whatever the container's fixed-point type;
 * integers, booleans and static data are of their own type. Output data are set to zero before each execution. */
#ifndef QNN_CPU_OP_PACKAGE_H
#define QNN_CPU_OP_PACKAGE_H

#include "../QnnOpPackage.h"
#include "QnnCpuCommon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which member of a param is set. */
enum { ODLC_CPU_PARAM_SCALAR = 0, ODLC_CPU_PARAM_TENSOR = 1, ODLC_CPU_PARAM_STRING = 2 };

/* An operand. One that is absent has a data of NULL and a rank of 0. Elements of QNN_DATATYPE_STRING, of inputs and
 * tensor params alone, are const char *. */
typedef struct {
    Qnn_TensorDataFormat_t dataFormat;
    Qnn_DataType_t dataType;
    uint32_t rank;
    uint32_t *maxDimensions;     /* rank of them: what `data` has room for */
    uint32_t *currentDimensions; /* rank of them */
    void *data;
    Qnn_QuantizeParams_t quantizeParams; /* of fixed-point data */
} QnnCpuOpPackage_Tensor_t;

typedef struct {
    uint32_t type; /* ODLC_CPU_PARAM_… */
    const char *name;
    double scalarParam; /* of every numeric type, and booleans */
    const char *stringParam;
    QnnCpuOpPackage_Tensor_t *tensorParam;
} QnnCpuOpPackage_Param_t;

typedef struct {
    const char *name;
    const char *packageName;
    const char *typeName;
    uint32_t numOfParams;
    QnnCpuOpPackage_Param_t **params; /* exactly those that the op's description declares, in its order */
    uint32_t numOfInputs;             /* as many as a registration library declares, unless one is repeated */
    QnnCpuOpPackage_Tensor_t **inputs;
    uint32_t numOfOutputs;
    QnnCpuOpPackage_Tensor_t **outputs;
} QnnCpuOpPackage_Node_t;

/* Made by createOpImpl; the package's memory, until freeOpImpl. */
typedef struct QnnOpPackage_OpImpl {
    /* Executes the op once, with userData. Any thread calls it, at most one at a time for an implementation. */
    Qnn_ErrorHandle_t (*opImplFn)(void *userData);
    void *userData;
} QnnCpuOpPackage_OpImpl_t;

#ifdef __cplusplus
}
#endif

#endif
