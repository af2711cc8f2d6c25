// SPDX-License-Identifier: Apache-2.0
/* How an op source announces its functions, and how the package's interface source finds them. */
#ifndef CUSTOM_OP_REGISTER_HPP
#define CUSTOM_OP_REGISTER_HPP

#include "QnnOpPackage.h"

namespace qnn {
namespace custom {

namespace utils {
class CustomOp;
}

/* The functions of an op, initialized as an aggregate in this order. */
typedef struct {
    Qnn_ErrorHandle_t (*execute)(utils::CustomOp *operation);
    Qnn_ErrorHandle_t (*finalize)(const utils::CustomOp *operation);
    Qnn_ErrorHandle_t (*free)(utils::CustomOp &operation);
    Qnn_ErrorHandle_t (*validateOpConfig)(Qnn_OpConfig_t opConfig);
    Qnn_ErrorHandle_t (*initialize)(const QnnOpPackage_Node_t node,
                                    QnnOpPackage_GraphInfrastructure_t graphInfrastructure,
                                    utils::CustomOp *operation); /* populateFromNode of the skeletons */
} CustomOpRegistration_t;

}  // namespace custom
}  // namespace qnn

/* In the op's source, in no namespace: `function` returns the op's CustomOpRegistration_t. */
#define REGISTER_OP(op, function) \
    __attribute__((visibility("hidden"))) qnn::custom::CustomOpRegistration_t *odlc_registration_of_##op(void) \
    { \
        return function(); \
    }

/* In the package's init function: adds an op that another source has announced. */
#define REGISTER_PACKAGE_OP(op) \
    { \
        extern qnn::custom::CustomOpRegistration_t *odlc_registration_of_##op(void); \
        qnn::custom::CustomOpPackage::getInstance()->addOp(#op, odlc_registration_of_##op()); \
    }

/* In the package's init function, before any op is added. */
#define INIT_BE_OP_PACKAGE(package) \
    { \
        qnn::custom::CustomOpPackage::getInstance()->setPackageName(#package); \
    }

#endif
