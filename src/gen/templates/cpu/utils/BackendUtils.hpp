/* Auto Generated Code for @PACKAGE@
 *
 * Nodes, tensors and params as op sources see them, whatever backend runs them. */
#ifndef BACKEND_UTILS_HPP
#define BACKEND_UTILS_HPP

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <utility>

#include "QnnOpPackage.h"

namespace qnn {
namespace custom {
namespace utils {

struct CustomOpTensor;
struct CustomOpParam;
typedef CustomOpTensor *CustomOpTensorPtr_t;
typedef CustomOpParam *CustomOpParamPtr_t;
typedef void *CustomOpContextPtr_t;
typedef void *CustomOpKernelContextPtr_t;

/* All operands or params of a node, and how many operands there are. */
const CustomOpTensorPtr_t *getInput(QnnOpPackage_Node_t node);
const CustomOpTensorPtr_t *getOutput(QnnOpPackage_Node_t node);
const CustomOpParamPtr_t *getParam(QnnOpPackage_Node_t node);
uint32_t numInputs(QnnOpPackage_Node_t node);
uint32_t numOutputs(QnnOpPackage_Node_t node);

/* One of them. */
CustomOpTensorPtr_t getInput(QnnOpPackage_Node_t node, size_t index);
CustomOpTensorPtr_t getOutput(QnnOpPackage_Node_t node, size_t index);
/* (false, NULL): the node has no param of that name. */
std::pair<bool, CustomOpParamPtr_t> getParam(QnnOpPackage_Node_t node, const std::string &name);

uint32_t numDimensions(CustomOpTensorPtr_t tensor);
const uint32_t *getTensorShape(CustomOpTensorPtr_t tensor);
/* Number of elements. */
uint32_t numTensorSize(CustomOpTensorPtr_t tensor);
void *getTensorData(CustomOpTensorPtr_t tensor);

}  // namespace utils
}  // namespace custom
}  // namespace qnn

#endif
