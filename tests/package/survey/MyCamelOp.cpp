// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>

#include "CpuBackendUtils.hpp"
#include "CustomOpPackage.hpp"
#include "math.h"

/* What users' sources do, good style or not: helpers and variables of the file, C casts, signed loops, names that are not used. */
static float lowest = -std::numeric_limits<float>::max();
static int calls = 0;

static float power(float x, int n)
{
    return (float)pow(x, n);
}

using namespace qnn::custom;
using namespace qnn::custom::utils;

namespace mycamelop {

/* y = w * x^2 + axis + perm[0], where the mode is "square" */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    float *x = (float *)operation->getInput(0)->data;
    const float *w = reinterpret_cast<const float *>(operation->getInput(1)->data);
    auto out = operation->getOutput(0);
    float *y = (float *)out->data;
    const uint32_t rank = operation->getInput(0)->rank;
    uint32_t *dims = operation->getInput(0)->currentDimensions;
    const int columns = operation->getInput(0)->currentDimensions[rank - 1];
    const int32_t axis = (int32_t)backend_utils::getScalarParam(operation->getParam("axis"));
    const int32_t *perm = (const int32_t *)backend_utils::getTensorParam(operation->getParam("perm"))->data;
    const char *mode = backend_utils::getStringParam(operation->getParam("mode"));
    int never_used, rows = 1;
    float largest = lowest;
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(mode, "square"), 0, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    QNN_CUSTOM_BE_ENSURE(out->rank == rank, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    for (int d = 0; d < operation->getInput(0)->rank - 1; d++)
        rows *= dims[d];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < dims[rank - 1]; j++) {
            y[i * columns + j] = w[j] * power(x[i * columns + j], 2) + axis + perm[0];
            largest = std::max(largest, y[i * columns + j]);
        }
    calls += rand() % 2;
    void *first = malloc(1), *second = malloc(1);
    ::free(first);
    std::free(second);
    if (largest == lowest)
        std::cout << std::string("nothing") << std::endl;
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t finalize(const CustomOp *operation)
{
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numInput(), 2, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(operation->numOutput(), 1, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE(operation->getInput(0) && operation->getOutput(0), QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t free(CustomOp &operation)
{
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t populateFromNode(const QnnOpPackage_Node_t node, QnnOpPackage_GraphInfrastructure_t graphInfrastructure,
                                   CustomOp *operation)
{
    for (uint32_t i = 0; i < numInputs(node); i++) {
        operation->addInput(getInput(node, i));
    }
    for (uint32_t i = 0; i < numOutputs(node); i++) {
        operation->addOutput(getOutput(node, i));
    }
    std::pair<bool, CustomOpParamPtr_t> axisPair = getParam(node, "axis");
    QNN_CUSTOM_BE_ENSURE(axisPair.first, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_STATUS(operation->addParam("axis", axisPair.second))
    for (const char *name : {"perm", "mode"})
        operation->addParam(name, getParam(node, name).second);
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t validateOpConfig(Qnn_OpConfig_t opConfig)
{
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(opConfig.v1.typeName, "MyCamelOp"), 0, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfInputs, 2, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    QNN_CUSTOM_BE_ENSURE_EQ(opConfig.v1.numOfOutputs, 1, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    return QNN_SUCCESS;
}

}  // namespace mycamelop

extern "C" QNN_API int survey_calls()
{
    return calls;
}

CustomOpRegistration_t *register_MycamelopCustomOp()
{
    using namespace mycamelop;
    static CustomOpRegistration_t MycamelopRegister = {execute, finalize, free, validateOpConfig, populateFromNode};
    return &MycamelopRegister;
}

REGISTER_OP(MyCamelOp, register_MycamelopCustomOp);
