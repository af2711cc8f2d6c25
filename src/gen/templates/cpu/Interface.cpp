/* Auto Generated Code for @PACKAGE@
 *
 * The functions that the library exports. There is nothing to edit here. */
#include "CpuBackendUtils.hpp"
#include "CustomOpPackage.hpp"

using namespace qnn::custom;

/* Nothing may be thrown through C. */
#define ODLC_GUARDED(call) \
    try { \
        return call; \
    } catch (...) { \
        return QNN_OP_PACKAGE_ERROR_GENERAL; \
    }

static Qnn_ErrorHandle_t addOps()
{
    INIT_BE_OP_PACKAGE(@PACKAGE@)
@for ops@
    REGISTER_PACKAGE_OP(@OP@)
@end@
    CustomOpPackage::setIsInitialized(true);
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t @PACKAGE@Initialize(QnnOpPackage_GlobalInfrastructure_t)
{
    QNN_CUSTOM_BE_ENSURE(!CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED)
    ODLC_GUARDED(addOps())
}

static Qnn_ErrorHandle_t @PACKAGE@GetInfo(const QnnOpPackage_Info_t **info)
{
    QNN_CUSTOM_BE_ENSURE(CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED)
    ODLC_GUARDED(CustomOpPackage::getInstance()->getPackageInfo(info))
}

static Qnn_ErrorHandle_t validate(Qnn_OpConfig_t opConfig)
{
    CustomOpRegistration_t *registration = CustomOpPackage::getInstance()->getOpRegistration(opConfig.v1.typeName);
    QNN_CUSTOM_BE_ENSURE(registration, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return registration->validateOpConfig(opConfig);
}

static Qnn_ErrorHandle_t @PACKAGE@ValidateOpConfig(Qnn_OpConfig_t opConfig)
{
    QNN_CUSTOM_BE_ENSURE(CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED)
    ODLC_GUARDED(validate(opConfig))
}

static Qnn_ErrorHandle_t @PACKAGE@CreateOpImpl(QnnOpPackage_GraphInfrastructure_t graphInfrastructure,
                                               QnnOpPackage_Node_t node, QnnOpPackage_OpImpl_t *opImpl)
{
    QNN_CUSTOM_BE_ENSURE(CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED)
    ODLC_GUARDED(CustomOpPackage::getInstance()->createOpImpl(graphInfrastructure, node, opImpl))
}

static Qnn_ErrorHandle_t @PACKAGE@FreeOpImpl(QnnOpPackage_OpImpl_t opImpl)
{
    QNN_CUSTOM_BE_ENSURE(CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED)
    ODLC_GUARDED(CustomOpPackage::getInstance()->freeOpImpl(opImpl))
}

static Qnn_ErrorHandle_t @PACKAGE@LogInitialize(QnnLog_Callback_t, QnnLog_Level_t)
{
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t @PACKAGE@LogSetLevel(QnnLog_Level_t)
{
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t @PACKAGE@LogTerminate()
{
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t @PACKAGE@Terminate()
{
    QNN_CUSTOM_BE_ENSURE(CustomOpPackage::getIsInitialized(), QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED)
    CustomOpPackage::getInstance()->freeResolver();
    CustomOpPackage::destroyInstance();
    return QNN_SUCCESS;
}

extern "C" QNN_API Qnn_ErrorHandle_t @PACKAGE@InterfaceProvider(QnnOpPackage_Interface_t *interface)
{
    QNN_CUSTOM_BE_ENSURE(interface, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    interface->interfaceVersion = QNN_OP_PACKAGE_API_VERSION_1_4_0;
    interface->v1_4.init = @PACKAGE@Initialize;
    interface->v1_4.terminate = @PACKAGE@Terminate;
    interface->v1_4.getInfo = @PACKAGE@GetInfo;
    interface->v1_4.validateOpConfig = @PACKAGE@ValidateOpConfig;
    interface->v1_4.createOpImpl = @PACKAGE@CreateOpImpl;
    interface->v1_4.freeOpImpl = @PACKAGE@FreeOpImpl;
    interface->v1_4.logInitialize = @PACKAGE@LogInitialize;
    interface->v1_4.logSetLevel = @PACKAGE@LogSetLevel;
    interface->v1_4.logTerminate = @PACKAGE@LogTerminate;
    return QNN_SUCCESS;
}
