/* Auto Generated Code for @PACKAGE@
 *
 * The op of a node: its operands and params. */
#ifndef CUSTOM_OP_UTILS_HPP
#define CUSTOM_OP_UTILS_HPP

#include <stdint.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "BackendUtils.hpp"
#include "QnnOpPackage.h"

namespace qnn {
namespace custom {
namespace utils {

class __attribute__((visibility("hidden"))) CustomOp
{
  public:
    const char *m_name;
    const char *m_typeName; /* finds the registration of the op */
    uint32_t m_numKernels = 1;

    CustomOp(const char *name, const char *typeName) : m_name(name), m_typeName(typeName)
    {
    }

    CustomOp() : CustomOp("", "")
    {
    }

    virtual ~CustomOp()
    {
    }

    virtual Qnn_ErrorHandle_t addInput(CustomOpTensorPtr_t tensor)
    {
        m_Inputs.push_back(tensor);
        return QNN_SUCCESS;
    }

    virtual Qnn_ErrorHandle_t addOutput(CustomOpTensorPtr_t tensor)
    {
        m_Outputs.push_back(tensor);
        return QNN_SUCCESS;
    }

    virtual Qnn_ErrorHandle_t addParam(const std::string &name, CustomOpParamPtr_t param)
    {
        m_Params[name] = param;
        return QNN_SUCCESS;
    }

    /* Operands by place. NULL past the end. */
    CustomOpTensorPtr_t getInput(size_t index = 0) const
    {
        return index < m_Inputs.size() ? m_Inputs[index] : nullptr;
    }

    CustomOpTensorPtr_t getOutput(size_t index = 0) const
    {
        return index < m_Outputs.size() ? m_Outputs[index] : nullptr;
    }

    CustomOpTensorPtr_t *getOutputsFlat()
    {
        return m_Outputs.data();
    }

    /* NULL: the node has no such param. */
    CustomOpParamPtr_t getParam(const std::string &name)
    {
        auto found = m_Params.find(name);
        return found == m_Params.end() ? nullptr : found->second;
    }

    uint32_t numInput() const
    {
        return static_cast<uint32_t>(m_Inputs.size());
    }

    uint32_t numOutput() const
    {
        return static_cast<uint32_t>(m_Outputs.size());
    }

  protected:
    std::vector<CustomOpTensorPtr_t> m_Inputs;
    std::vector<CustomOpTensorPtr_t> m_Outputs;
    std::map<std::string, CustomOpParamPtr_t> m_Params;
    CustomOpTensorPtr_t m_tempTensor = nullptr;
};

}  // namespace utils
}  // namespace custom
}  // namespace qnn

#endif
