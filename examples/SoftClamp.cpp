// SPDX-License-Identifier: Apache-2.0
//==============================================================================
// Auto Generated Code for ExampleOps
//==============================================================================
#include <math.h>
#include <string.h>

#include "CpuBackendUtils.hpp"
#include "CustomOpPackage.hpp"

using namespace qnn::custom;
using namespace qnn::custom::utils;

/* SoftClamp: y = limit * tanh(sharpness * x), with a limit for each channel, or for each element
 *   input 0, x: FLOAT_32, NHWC
 *   input 1, limit: FLOAT_32, NHWC, static
 *   output 0, y: FLOAT_32, NHWC
 *   param sharpness, FLOAT_32: backend_utils::getScalarParam(operation->getParam("sharpness"))
 *   param mode, STRING: backend_utils::getStringParam(operation->getParam("mode"))
 *   param axes, elements INT_32: backend_utils::getTensorParam(operation->getParam("axes"))->data
 */
namespace softclamp
{

/* Computes the outputs. Nothing may be allocated here: use fixed arrays, or an output as scratch. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0), limit = operation->getInput(1);
    const double sharpness = backend_utils::getScalarParam(operation->getParam("sharpness"));
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(backend_utils::getStringParam(operation->getParam("mode")), "smooth"), 0,
                            QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    const float *from = getTensorData<float>(x), *limits = getTensorData<float>(limit);
    float *to = getTensorDataRef<float>(operation->getOutput(0));
    const uint32_t count = numTensorSize(x), n_limits = numTensorSize(limit);
    for (uint32_t i = 0; i < count; i++)
        to[i] = static_cast<float>(limits[i % n_limits] * tanh(sharpness * from[i]));
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t finalize(const CustomOp *operation)
{
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numInput(), 2, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numOutput(), 1, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    const uint32_t limits = numTensorSize(operation->getInput(1));
    QNN_CUSTOM_BE_ENSURE(limits > 0, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(numTensorSize(operation->getInput(0)) % limits, 0, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t free(CustomOp &operation)
{
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
    const std::pair<bool, CustomOpParamPtr_t> param0Pair = getParam(node, "sharpness");
    QNN_CUSTOM_BE_ENSURE(param0Pair.first, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    operation->addParam("sharpness", param0Pair.second);
    const std::pair<bool, CustomOpParamPtr_t> param1Pair = getParam(node, "mode");
    QNN_CUSTOM_BE_ENSURE(param1Pair.first, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    operation->addParam("mode", param1Pair.second);
    const std::pair<bool, CustomOpParamPtr_t> param2Pair = getParam(node, "axes");
    QNN_CUSTOM_BE_ENSURE(param2Pair.first, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    operation->addParam("axes", param2Pair.second);
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t validateOpConfig(Qnn_OpConfig_t opConfig)
{
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(opConfig.v1.typeName, "SoftClamp"), 0, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfInputs, 2, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfOutputs, 1, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return QNN_SUCCESS;
}

} // namespace softclamp

CustomOpRegistration_t *register_SoftclampCustomOp()
{
    using namespace softclamp;
    static CustomOpRegistration_t registration = {execute, finalize, free, validateOpConfig, populateFromNode};
    return &registration;
}

REGISTER_OP(SoftClamp, register_SoftclampCustomOp);
