//==============================================================================
// Auto Generated Code for @PACKAGE@
//==============================================================================
#include <iostream>
#include <string>

#include "CpuBackendUtils.hpp"
#include "CustomOpPackage.hpp"

using namespace qnn::custom;
using namespace qnn::custom::utils;

/* @OP@@DESCRIPTION@
@for lines@
 * @LINE@
@end@
 */
namespace @op@ {

/* Computes the outputs. Nothing may be allocated here: use fixed arrays, or an output as scratch. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    /* Add code here */
    (void)operation;
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t finalize(const CustomOp *operation)
{
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numInput(), @N_INPUTS@, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numOutput(), @N_OUTPUTS@, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    /* Add code here */
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t free(CustomOp &operation)
{
    /* Add code here */
    (void)operation;
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t populateFromNode(const QnnOpPackage_Node_t node,
                                   QnnOpPackage_GraphInfrastructure_t graphInfrastructure, CustomOp *operation)
{
    (void)graphInfrastructure;
    for (uint32_t i = 0; i < numInputs(node); i++)
        operation->addInput(getInput(node, i));
    for (uint32_t i = 0; i < numOutputs(node); i++)
        operation->addOutput(getOutput(node, i));
@for params@
    const std::pair<bool, CustomOpParamPtr_t> @ID@Pair = getParam(node, "@NAME@");
    QNN_CUSTOM_BE_ENSURE(@ID@Pair.first, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    operation->addParam("@NAME@", @ID@Pair.second);
@end@
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t validateOpConfig(Qnn_OpConfig_t opConfig)
{
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(opConfig.v1.typeName, "@OP@"), 0, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfInputs, @N_INPUTS@, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfOutputs, @N_OUTPUTS@, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return QNN_SUCCESS;
}

}  // namespace @op@

CustomOpRegistration_t *register_@Op@CustomOp()
{
    using namespace @op@;
    static CustomOpRegistration_t registration = {execute, finalize, free, validateOpConfig, populateFromNode};
    return &registration;
}

REGISTER_OP(@OP@, register_@Op@CustomOp);
