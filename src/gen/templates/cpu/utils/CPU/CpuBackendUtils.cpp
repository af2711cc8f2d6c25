/* Auto Generated Code for @PACKAGE@ */
#include "CpuBackendUtils.hpp"

namespace qnn {
namespace custom {
namespace utils {

static const QnnCpuOpPackage_Node_t *cpuNode(QnnOpPackage_Node_t node)
{
    return reinterpret_cast<const QnnCpuOpPackage_Node_t *>(node);
}

const CustomOpTensorPtr_t *getInput(QnnOpPackage_Node_t node)
{
    return reinterpret_cast<const CustomOpTensorPtr_t *>(cpuNode(node)->inputs);
}

const CustomOpTensorPtr_t *getOutput(QnnOpPackage_Node_t node)
{
    return reinterpret_cast<const CustomOpTensorPtr_t *>(cpuNode(node)->outputs);
}

const CustomOpParamPtr_t *getParam(QnnOpPackage_Node_t node)
{
    return reinterpret_cast<const CustomOpParamPtr_t *>(cpuNode(node)->params);
}

uint32_t numInputs(QnnOpPackage_Node_t node)
{
    return cpuNode(node)->numOfInputs;
}

uint32_t numOutputs(QnnOpPackage_Node_t node)
{
    return cpuNode(node)->numOfOutputs;
}

CustomOpTensorPtr_t getInput(QnnOpPackage_Node_t node, size_t index)
{
    return index < numInputs(node) ? getInput(node)[index] : nullptr;
}

CustomOpTensorPtr_t getOutput(QnnOpPackage_Node_t node, size_t index)
{
    return index < numOutputs(node) ? getOutput(node)[index] : nullptr;
}

std::pair<bool, CustomOpParamPtr_t> getParam(QnnOpPackage_Node_t node, const std::string &name)
{
    for (uint32_t i = 0; i < cpuNode(node)->numOfParams; i++)
        if (name == getParam(node)[i]->name)
            return std::make_pair(true, getParam(node)[i]);
    return std::make_pair(false, static_cast<CustomOpParamPtr_t>(nullptr));
}

uint32_t numDimensions(CustomOpTensorPtr_t tensor)
{
    return tensor->rank;
}

const uint32_t *getTensorShape(CustomOpTensorPtr_t tensor)
{
    return tensor->currentDimensions;
}

uint32_t numTensorSize(CustomOpTensorPtr_t tensor)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= tensor->currentDimensions[i];
    return count;
}

void *getTensorData(CustomOpTensorPtr_t tensor)
{
    return tensor->data;
}

namespace backend_utils {

double getScalarParam(CustomOpParamPtr_t param)
{
    return param->scalarParam;
}

CustomOpTensorPtr_t getTensorParam(CustomOpParamPtr_t param)
{
    return static_cast<CustomOpTensorPtr_t>(param->tensorParam);
}

const char *getStringParam(CustomOpParamPtr_t param)
{
    return param->stringParam;
}

}  // namespace backend_utils
}  // namespace utils
}  // namespace custom
}  // namespace qnn
