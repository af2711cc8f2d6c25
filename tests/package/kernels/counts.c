/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that tell which operands they were handed, in a package that is registered: Three of an input that must be there
 * and two that need not, and of an output that may be left out; SnpeUdo_validateOperation knows all params. */
#include <string.h>

#include "QNN/CPU/QnnCpuOpPackage.h"
#include "SnpeUdo/UdoReg.h"

/* ---- the registration library: its params are not in the config's order ---- */

static SnpeUdo_OpCoreInfo_t cores[] = {{SNPE_UDO_CORETYPE_CPU, SNPE_UDO_DATATYPE_FLOAT_32},
                                       {SNPE_UDO_CORETYPE_DSP, SNPE_UDO_DATATYPE_FLOAT_32}};
static SnpeUdo_TensorInfo_t inputs[] = {{.tensorName = "x"}, {.tensorName = "a"}, {.tensorName = "b"}};
static SnpeUdo_TensorInfo_t outputs[] = {{.tensorName = "y"}, {.tensorName = "z"}};
static SnpeUdo_Param_t params[] = {{.paramName = "list"}, {.paramName = "left"}, {.paramName = "word"},
                                   {.paramName = "rate"}, {.paramName = "yes"},  {.paramName = "whole"}};
static SnpeUdo_OperationInfo_t operations[] = {{"Three", 2, cores, 6, params, 3, inputs, 2, outputs},
                                               {.operationType = "OnGpu"}};

QNN_API SnpeUdo_ErrorType_t SnpeUdo_initRegLibrary(void)
{
    return SNPE_UDO_NO_ERROR;
}

QNN_API SnpeUdo_ErrorType_t SnpeUdo_getVersion(SnpeUdo_LibVersion_t **version)
{
    static SnpeUdo_LibVersion_t versions = {{1, 0, 0}, {API_VERSION_MAJOR, API_VERSION_MINOR, API_VERSION_TEENY}};
    *version = &versions;
    return SNPE_UDO_NO_ERROR;
}

QNN_API SnpeUdo_ErrorType_t SnpeUdo_getRegInfo(SnpeUdo_RegInfo_t **out)
{
    static SnpeUdo_OpCoreInfo_t gpu = {SNPE_UDO_CORETYPE_GPU, SNPE_UDO_DATATYPE_FLOAT_32};
    static SnpeUdo_RegInfo_t info = {"Counts", 2, operations, 0, NULL, SNPE_UDO_CORETYPE_CPU | SNPE_UDO_CORETYPE_DSP};
    operations[1].numOfCoreInfo = 1;
    operations[1].coreInfo = &gpu;
    *out = &info;
    return SNPE_UDO_NO_ERROR;
}

/* Each difference has a number of its own. */
QNN_API SnpeUdo_ErrorType_t SnpeUdo_validateOperation(SnpeUdo_String_t type, uint32_t count, const SnpeUdo_Param_t *p)
{
    static const char *const names[] = {"list", "word", "rate", "yes", "whole"}; /* `left` is absent */
    if (strcmp(type, "Three") != 0 || count != 5)
        return (SnpeUdo_ErrorType_t)110;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(p[i].paramName, names[i]) != 0)
            return (SnpeUdo_ErrorType_t)111;
    const SnpeUdo_TensorParam_t *list = &p[0].tensorParam;
    if (p[0].paramType != SNPE_UDO_PARAMTYPE_TENSOR || list->tensorRank != 1 || list->currDimensions[0] != 2 ||
        list->dataType != SNPE_UDO_DATATYPE_FLOAT_32 || ((const float *)list->tensorData)[1] != 2.5f)
        return (SnpeUdo_ErrorType_t)112;
    if (p[1].paramType != SNPE_UDO_PARAMTYPE_STRING || strcmp(p[1].stringParam, "abc") != 0)
        return (SnpeUdo_ErrorType_t)113;
    if (p[2].paramType != SNPE_UDO_PARAMTYPE_SCALAR || p[2].scalarParam.dataType != SNPE_UDO_DATATYPE_FLOAT_32 ||
        p[2].scalarParam.dataValue.floatValue != 0.5f)
        return (SnpeUdo_ErrorType_t)114;
    if (p[3].scalarParam.dataType != ODLC_UDO_DATATYPE_BOOL_8 || !p[3].scalarParam.dataValue.boolValue)
        return (SnpeUdo_ErrorType_t)115;
    if (p[4].scalarParam.dataType != SNPE_UDO_DATATYPE_INT_32 || p[4].scalarParam.dataValue.int32Value != -7)
        return (SnpeUdo_ErrorType_t)116;
    return SNPE_UDO_NO_ERROR;
}

QNN_API SnpeUdo_ErrorType_t SnpeUdo_terminateRegLibrary(void)
{
    return SNPE_UDO_NO_ERROR;
}

/* ---- the implementation ---- */

static Qnn_ErrorHandle_t init(QnnOpPackage_GlobalInfrastructure_t infrastructure)
{
    (void)infrastructure;
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t terminate(void)
{
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t info(const QnnOpPackage_Info_t **out)
{
    static const char *names[] = {"Three"};
    static QnnOpPackage_Info_t told = QNN_OP_PACKAGE_INFO_INIT;
    told.packageName = "Counts";
    told.operationNames = names;
    told.numOperations = 1;
    *out = &told;
    return QNN_SUCCESS;
}

/* As packages of the vendor's skeleton: counts are exact. */
static Qnn_ErrorHandle_t validate(Qnn_OpConfig_t config)
{
    uint32_t absent = 0;
    if (config.v1.numOfInputs != 3 || config.v1.numOfOutputs != 2)
        return QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
    for (uint32_t i = 0; i < 3; i++) {
        const Qnn_TensorV1_t *t = &config.v1.inputTensors[i].v1;
        if ((t->type == QNN_TENSOR_TYPE_NULL) != (t->rank == 0))
            return QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT;
        absent += t->type == QNN_TENSOR_TYPE_NULL;
    }
    return absent <= 2 ? QNN_SUCCESS : QNN_OP_PACKAGE_ERROR_INVALID_INFO;
}

/* y: the numbers of operands, which inputs are there as bits, the rank of those that are not, what is in the others. */
static Qnn_ErrorHandle_t execute(void *node)
{
    const QnnCpuOpPackage_Node_t *n = node;
    float *y = n->outputs[0]->data;
    y[0] = (float)(10 * n->numOfInputs + n->numOfOutputs);
    for (uint32_t i = 0; i < n->numOfInputs; i++) {
        const float *values = n->inputs[i]->data;
        y[1] += values ? (float)(1 << i) : 0;
        y[2] += values ? 0 : (float)n->inputs[i]->rank;
        y[3] += values ? values[3] : 0;
    }
    if (n->outputs[1]->data)
        *(float *)n->outputs[1]->data = 77;
    else if (n->outputs[1]->rank != 0)
        return QNN_OP_PACKAGE_ERROR_GENERAL;
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t create(QnnOpPackage_GraphInfrastructure_t graph, QnnOpPackage_Node_t node,
                                QnnOpPackage_OpImpl_t *out)
{
    static QnnCpuOpPackage_OpImpl_t made[8];
    static int count;
    (void)graph;
    made[count] = (QnnCpuOpPackage_OpImpl_t){execute, node};
    *out = &made[count++ % 8];
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t release(QnnOpPackage_OpImpl_t op)
{
    (void)op;
    return QNN_SUCCESS;
}

QNN_API Qnn_ErrorHandle_t CountsInterfaceProvider(QnnOpPackage_Interface_t *out)
{
    *out = (QnnOpPackage_Interface_t)QNN_OP_PACKAGE_INTERFACE_INIT;
    out->v1_4 = (QnnOpPackage_ImplementationV1_4_t){init, terminate, info, validate, create, release, NULL, NULL, NULL};
    return QNN_SUCCESS;
}
