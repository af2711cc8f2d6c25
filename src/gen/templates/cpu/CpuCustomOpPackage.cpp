/* Auto Generated Code for @PACKAGE@
 *
 * From a node to the op that executes it, and back. */
#include "CpuBackendUtils.hpp"
#include "CustomOpPackage.hpp"

using namespace qnn::custom;
using namespace qnn::custom::utils;

/* What an implementation keeps: its op, and the functions of the op's type. */
namespace {

struct Implementation {
    CustomOp op;
    CustomOpRegistration_t *registration;
    std::string name, typeName;

    Implementation(const QnnCpuOpPackage_Node_t &node, CustomOpRegistration_t *functions)
        : registration(functions), name(node.name), typeName(node.typeName)
    {
        op.m_name = name.c_str();
        op.m_typeName = typeName.c_str();
    }
};

}  // namespace

/* Called by the host: nothing may be thrown through it. */
static Qnn_ErrorHandle_t executeImplementation(void *userData)
{
    Implementation *implementation = static_cast<Implementation *>(userData);
    try {
        return implementation->registration->execute(&implementation->op);
    } catch (...) {
        return QNN_OP_PACKAGE_ERROR_GENERAL;
    }
}

Qnn_ErrorHandle_t CustomOpPackage::createOpImpl(QnnOpPackage_GraphInfrastructure_t graphInfrastructure,
                                                QnnOpPackage_Node_t node, QnnOpPackage_OpImpl_t *opImpl)
{
    QNN_CUSTOM_BE_ENSURE(node && opImpl, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    const QnnCpuOpPackage_Node_t &cpuNode = *reinterpret_cast<const QnnCpuOpPackage_Node_t *>(node);
    CustomOpRegistration_t *registration = getOpRegistration(cpuNode.typeName);
    QNN_CUSTOM_BE_ENSURE(registration, QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    std::unique_ptr<Implementation> made(new Implementation(cpuNode, registration));
    QNN_CUSTOM_BE_ENSURE_STATUS(registration->initialize(node, graphInfrastructure, &made->op))
    QNN_CUSTOM_BE_ENSURE_STATUS(registration->finalize(&made->op))
    std::lock_guard<std::mutex> lock(m_implMtx);
    m_OpImplList.push_back(QnnCpuOpPackage_OpImpl_t{executeImplementation, made.get()});
    made.release();
    *opImpl = &m_OpImplList.back();
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t CustomOpPackage::freeOpImpl(QnnOpPackage_OpImpl_t opImpl)
{
    std::lock_guard<std::mutex> lock(m_implMtx);
    for (auto it = m_OpImplList.begin(); it != m_OpImplList.end(); ++it) {
        if (&*it != opImpl)
            continue;
        std::unique_ptr<Implementation> implementation(static_cast<Implementation *>(it->userData));
        m_OpImplList.erase(it);
        return implementation->registration->free(implementation->op);
    }
    return QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT;
}
