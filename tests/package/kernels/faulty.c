/* SPDX-License-Identifier: Apache-2.0 */
/* A package for op Twice (y = 2 x) whose faults are macros; registration and implementation are in one library, unless
 * one of them is left out. C11 and C++11. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "QNN/CPU/QnnCpuOpPackage.h"
#include "SnpeUdo/UdoReg.h"

#ifdef __cplusplus
#define EXPORT extern "C" QNN_API
#else
#define EXPORT QNN_API
#endif

/* ---- the registration library ---- */

#ifdef REGISTERS
static SnpeUdo_Version_t api = {API_MAJOR, API_VERSION_MINOR, API_VERSION_TEENY};
EXPORT SnpeUdo_ErrorType_t SnpeUdo_getVersion(SnpeUdo_LibVersion_t **out)
{
    static SnpeUdo_LibVersion_t version;
    version.apiVersion = api;
    *out = VERSION;
    return GET_VERSION;
}
EXPORT SnpeUdo_ErrorType_t INIT_REG_NAME(void)
{
    return INIT_REG;
}
EXPORT SnpeUdo_ErrorType_t GET_INFO_NAME(SnpeUdo_RegInfo_t **out)
{
    static SnpeUdo_RegInfo_t info;
    static SnpeUdo_OperationInfo_t op;
    static SnpeUdo_OpCoreInfo_t core;
    static SnpeUdo_LibraryInfo_t library;
    static SnpeUdo_TensorInfo_t operands[4];
    static SnpeUdo_Param_t params[4];
    core.coreType = CORE;
    library.libraryName = (SnpeUdo_String_t)LIBRARY;
    library.coreType = CORE;
    op.operationType = (SnpeUdo_String_t)REG_OP;
    op.numOfCoreInfo = 1;
    op.coreInfo = &core;
    op.numOfInputs = REG_INPUTS;
    op.inputInfos = INPUT_INFOS;
    op.numOfOutputs = REG_OUTPUTS;
    op.outputInfos = operands;
    op.numOfStaticParams = REG_PARAMS;
    op.staticParams = params;
    params[0].paramName = (SnpeUdo_String_t) "n";
    info.packageName = (SnpeUdo_String_t)REG_PACKAGE;
    info.numOfOperations = 1;
    info.operationsInfo = &op;
    info.numOfImplementationLib = 1;
    info.implementationLib = &library;
    info.supportedByCores = (SnpeUdo_Bitmask_t)CORE;
    *out = REG_INFO;
    return GET_REG_INFO;
}
#ifdef CHECK
EXPORT SnpeUdo_ErrorType_t SnpeUdo_validateOperation(SnpeUdo_String_t type, uint32_t count,
                                                     const SnpeUdo_Param_t *params)
{
    (void)params;
    if (strcmp(type, "Twice") != 0 || count != 1)
        return SNPE_UDO_WRONG_OPERATION;
    return CHECK;
}
#endif
EXPORT SnpeUdo_ErrorType_t TERMINATE_REG_NAME(void)
{
    return SNPE_UDO_NO_ERROR;
}
#endif

/* ---- the implementation ---- */

#ifdef IMPLEMENTS
static const char *names[] = {OP_NAME};
static Qnn_ErrorHandle_t init(QnnOpPackage_GlobalInfrastructure_t g)
{
    (void)g;
    return INIT;
}
static Qnn_ErrorHandle_t terminate(void)
{
    return QNN_SUCCESS;
}
static Qnn_ErrorHandle_t info(const QnnOpPackage_Info_t **out)
{
    static QnnOpPackage_Info_t i = QNN_OP_PACKAGE_INFO_INIT;
    i.packageName = PACKAGE;
    i.operationNames = NAMES;
    i.numOperations = 1;
    *out = TOLD;
    return INFO;
}
static Qnn_ErrorHandle_t validate(Qnn_OpConfig_t c)
{
    const Qnn_OpConfigV1_t *op = &c.v1;
    (void)op;
    return VALIDATE;
}
/* The fault is one of the inferences that begin with 9. */
static Qnn_ErrorHandle_t execute(void *data)
{
    const QnnCpuOpPackage_Node_t *n = (const QnnCpuOpPackage_Node_t *)data;
    const float *x = (const float *)n->inputs[0]->data;
    float *y = (float *)n->outputs[0]->data;
    if (x[0] == 9)
        return EXECUTE;
    for (int i = 0; i < 4; i++)
        y[i] = 2 * x[i];
    return QNN_SUCCESS;
}
static Qnn_ErrorHandle_t create(QnnOpPackage_GraphInfrastructure_t g, QnnOpPackage_Node_t n, QnnOpPackage_OpImpl_t *out)
{
    static QnnCpuOpPackage_OpImpl_t impl = {FUNCTION, NULL};
    (void)g;
    impl.userData = n;
    *out = CREATED;
    return CREATE;
}
static Qnn_ErrorHandle_t release(QnnOpPackage_OpImpl_t i)
{
    (void)i;
    return QNN_SUCCESS;
}
static Qnn_ErrorHandle_t log_start(QnnLog_Callback_t callback, QnnLog_Level_t level)
{
    (void)callback, (void)level;
    return LOG;
}
EXPORT Qnn_ErrorHandle_t PROVIDER(QnnOpPackage_Interface_t *i)
{
    i->interfaceVersion.major = MAJOR;
    i->interfaceVersion.minor = MINOR;
    i->v1_4.init = init;
    i->v1_4.terminate = terminate;
    i->v1_4.getInfo = info;
    i->v1_4.validateOpConfig = validate;
    i->v1_4.createOpImpl = create;
    i->v1_4.freeOpImpl = release;
    i->v1_4.logInitialize = log_start;
    CHANGE;
    return PROVIDE;
}
#endif
