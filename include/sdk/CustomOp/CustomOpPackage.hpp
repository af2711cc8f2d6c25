// SPDX-License-Identifier: Apache-2.0
/* The package behind the interface functions of a generated CPU package: its ops, and the nodes made of them.
 *
 * There is one in each library: the classes are hidden, so that libraries which are loaded together share nothing.
 * createOpImpl and freeOpImpl stand in the package's CpuCustomOpPackage.cpp. All may be called from several threads. */
#ifndef CUSTOM_OP_PACKAGE_HPP
#define CUSTOM_OP_PACKAGE_HPP

/* Headers that op sources rely on. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "CPU/QnnCpuOpPackage.h"
#include "CustomBEMacros.hpp"
#include "CustomOpRegister.hpp"
#include "CustomOpUtils.hpp"
#include "QnnOpPackage.h"
#include "QnnSdkBuildId.h"

namespace qnn {
namespace custom {

namespace macros {
}

/* The ops of nodes that live, by handle. */
class __attribute__((visibility("hidden"))) CustomOpResolver
{
  public:
    uint64_t registerCustomOp(std::shared_ptr<utils::CustomOp> op)
    {
        std::lock_guard<std::mutex> lock(m_mtx);
        m_ops[++m_last] = std::move(op);
        return m_last;
    }

    Qnn_ErrorHandle_t getCustomOp(uint64_t handle, std::shared_ptr<utils::CustomOp> &op)
    {
        std::lock_guard<std::mutex> lock(m_mtx);
        auto found = m_ops.find(handle);
        QNN_CUSTOM_BE_ENSURE(found != m_ops.end(), QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
        op = found->second;
        return QNN_SUCCESS;
    }

    Qnn_ErrorHandle_t removeCustomOp(uint64_t handle)
    {
        std::lock_guard<std::mutex> lock(m_mtx);
        QNN_CUSTOM_BE_ENSURE(m_ops.erase(handle) == 1, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
        return QNN_SUCCESS;
    }

  private:
    std::mutex m_mtx;
    uint64_t m_last = 0;
    std::map<uint64_t, std::shared_ptr<utils::CustomOp>> m_ops;
};

class __attribute__((visibility("hidden"))) CustomOpPackage
{
  public:
    static std::shared_ptr<CustomOpPackage> getInstance()
    {
        std::lock_guard<std::mutex> lock(s_mtx());
        if (!s_opPackageInstance())
            s_opPackageInstance().reset(new CustomOpPackage);
        return s_opPackageInstance();
    }

    static void destroyInstance()
    {
        std::lock_guard<std::mutex> lock(s_mtx());
        s_opPackageInstance().reset();
        s_isInitialized() = false;
    }

    static bool getIsInitialized()
    {
        std::lock_guard<std::mutex> lock(s_mtx());
        return s_isInitialized();
    }

    static void setIsInitialized(bool isInitialized)
    {
        std::lock_guard<std::mutex> lock(s_mtx());
        s_isInitialized() = isInitialized;
    }

    /* Before an op is added; both in the package's init function. */
    void setPackageName(const std::string &name)
    {
        m_packageName = name;
    }

    void addOp(const std::string &typeName, CustomOpRegistration_t *registration)
    {
        m_registered_ops[typeName] = registration;
    }

    /* The package's own memory, until destroyInstance. */
    Qnn_ErrorHandle_t getPackageInfo(const QnnOpPackage_Info_t **info)
    {
        QNN_CUSTOM_BE_ENSURE(info, QNN_OP_PACKAGE_ERROR_INVALID_INFO)
        std::lock_guard<std::mutex> lock(s_mtx());
        m_operationNames.clear();
        for (const auto &op : m_registered_ops)
            m_operationNames.push_back(op.first.c_str());
        m_sdkApiVersion = QNN_CPU_API_VERSION_INIT;
        m_packageInfo = QNN_OP_PACKAGE_INFO_INIT;
        m_packageInfo.packageName = m_packageName.c_str();
        m_packageInfo.operationNames = m_operationNames.data();
        m_packageInfo.numOperations = static_cast<uint32_t>(m_operationNames.size());
        m_packageInfo.sdkBuildId = QNN_SDK_BUILD_ID;
        m_packageInfo.sdkApiVersion = &m_sdkApiVersion;
        *info = &m_packageInfo;
        return QNN_SUCCESS;
    }

    /* NULL: the package has no such op. */
    CustomOpRegistration_t *getOpRegistration(const std::string &typeName) const
    {
        auto found = m_registered_ops.find(typeName);
        return found == m_registered_ops.end() ? nullptr : found->second;
    }

    std::shared_ptr<CustomOpResolver> getOpResolver()
    {
        return m_opResolver;
    }

    void freeResolver()
    {
        m_opResolver.reset(new CustomOpResolver);
    }

    /* Makes the op of a node: registration, initialize, finalize. */
    Qnn_ErrorHandle_t createOpImpl(QnnOpPackage_GraphInfrastructure_t graphInfrastructure, QnnOpPackage_Node_t node,
                                   QnnOpPackage_OpImpl_t *opImpl);
    Qnn_ErrorHandle_t freeOpImpl(QnnOpPackage_OpImpl_t opImpl);

  private:
    CustomOpPackage() : m_opResolver(new CustomOpResolver)
    {
    }

    static std::mutex &s_mtx()
    {
        static std::mutex mutex;
        return mutex;
    }

    static std::shared_ptr<CustomOpPackage> &s_opPackageInstance()
    {
        static std::shared_ptr<CustomOpPackage> instance;
        return instance;
    }

    static bool &s_isInitialized()
    {
        static bool isInitialized = false;
        return isInitialized;
    }

    std::map<std::string, CustomOpRegistration_t *> m_registered_ops;
    std::vector<const char *> m_operationNames;
    QnnOpPackage_Info_t m_packageInfo = QNN_OP_PACKAGE_INFO_INIT;
    std::string m_packageName;
    Qnn_ApiVersion_t m_sdkApiVersion = QNN_CPU_API_VERSION_INIT;
    std::shared_ptr<CustomOpResolver> m_opResolver;
    std::mutex m_implMtx;
    std::list<QnnCpuOpPackage_OpImpl_t> m_OpImplList;
};

}  // namespace custom
}  // namespace qnn

#endif
