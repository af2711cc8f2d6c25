/* Auto Generated Code for @PACKAGE@
 *
 * Tensors and params of the CPU backend. */
#ifndef CPU_BACKEND_UTILS_HPP
#define CPU_BACKEND_UTILS_HPP

#include "BackendUtils.hpp"
#include "CPU/QnnCpuOpPackage.h"
#include "CustomOpUtils.hpp"

namespace qnn {
namespace custom {
namespace utils {

/* tensor->data, tensor->rank, tensor->currentDimensions, … */
struct CustomOpTensor : public QnnCpuOpPackage_Tensor_t {
};

struct CustomOpParam : public QnnCpuOpPackage_Param_t {
};

template <typename T> const T *getTensorData(CustomOpTensorPtr_t tensor)
{
    return static_cast<const T *>(tensor->data);
}

template <typename T> T *getTensorDataRef(CustomOpTensorPtr_t tensor)
{
    return static_cast<T *>(tensor->data);
}

namespace backend_utils {

/* The value of a number, whatever its type. */
double getScalarParam(CustomOpParamPtr_t param);
CustomOpTensorPtr_t getTensorParam(CustomOpParamPtr_t param);
const char *getStringParam(CustomOpParamPtr_t param);

}  // namespace backend_utils
}  // namespace utils
}  // namespace custom
}  // namespace qnn

#endif
