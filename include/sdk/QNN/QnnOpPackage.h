/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of an op package, version 1.4: what a library with kernels of user-defined ops exports.
 *
 *     QNN_API Qnn_ErrorHandle_t <Package>InterfaceProvider(QnnOpPackage_Interface_t *interface);
 *
 * A host calls provider, logInitialize, init, getInfo; for each node validateOpConfig and createOpImpl, then the
 * backend's way to execute, then freeOpImpl; at the end logTerminate and terminate. */
#ifndef QNN_OP_PACKAGE_H
#define QNN_OP_PACKAGE_H

#include "../OdlcSdk.h"
#include "QnnLog.h"
#include "QnnTypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are ours. */
typedef enum {
    QNN_OP_PACKAGE_NO_ERROR = 0,
    QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED = 3001,
    QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED,
    QNN_OP_PACKAGE_ERROR_INVALID_INFO,
    QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE,
    QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT,
    QNN_OP_PACKAGE_ERROR_GENERAL
} QnnOpPackage_Error_t;

/* What these point to is defined by the backend (CPU/QnnCpuOpPackage.h). */
typedef struct QnnOpPackage_GlobalInfrastructure *QnnOpPackage_GlobalInfrastructure_t;
typedef struct QnnOpPackage_GraphInfrastructure *QnnOpPackage_GraphInfrastructure_t;
typedef struct QnnOpPackage_Node *QnnOpPackage_Node_t;
typedef struct QnnOpPackage_OpImpl *QnnOpPackage_OpImpl_t;

#define QNN_OP_PACKAGE_RESERVED_INFO_SIZE 12

/* What a package is; the package's own memory, valid until terminate. */
typedef struct {
    const char *packageName;
    const char **operationNames; /* numOperations, unique in the package */
    const void *operationInfo;   /* of the backend, or NULL */
    uint32_t numOperations;
    const void *optimizations; /* of the backend, or NULL */
    uint32_t numOptimizations;
    const char *sdkBuildId;
    const Qnn_ApiVersion_t *sdkApiVersion;
    const void *packageInfo;                            /* of the backend, or NULL */
    const Qnn_Version_t *opsetVersion;                  /* or NULL */
    size_t reserved[QNN_OP_PACKAGE_RESERVED_INFO_SIZE]; /* zeros */
} QnnOpPackage_Info_t;

#define QNN_OP_PACKAGE_INFO_INIT                                \
    {                                                           \
        NULL, NULL, NULL, 0u, NULL, 0u, NULL, NULL, NULL, NULL, \
        {                                                       \
            0u                                                  \
        }                                                       \
    }

typedef struct {
    Qnn_ErrorHandle_t (*init)(QnnOpPackage_GlobalInfrastructure_t infrastructure); /* once a load */
    Qnn_ErrorHandle_t (*terminate)(void);                                          /* the last call */
    Qnn_ErrorHandle_t (*getInfo)(const QnnOpPackage_Info_t **info);
    Qnn_ErrorHandle_t (*validateOpConfig)(Qnn_OpConfig_t opConfig); /* of each node, before createOpImpl */
    Qnn_ErrorHandle_t (*createOpImpl)(
        QnnOpPackage_GraphInfrastructure_t graphInfrastructure, QnnOpPackage_Node_t node,
        QnnOpPackage_OpImpl_t *opImpl); /* NULL in packages that register ops by other means */
    Qnn_ErrorHandle_t (*freeOpImpl)(QnnOpPackage_OpImpl_t opImpl);
    Qnn_ErrorHandle_t (*logInitialize)(QnnLog_Callback_t callback,
                                       QnnLog_Level_t maxLogLevel); /* these three may be NULL */
    Qnn_ErrorHandle_t (*logSetLevel)(QnnLog_Level_t maxLogLevel);
    Qnn_ErrorHandle_t (*logTerminate)(void);
} QnnOpPackage_ImplementationV1_4_t;

#define QNN_OP_PACKAGE_IMPLEMENTATION_V1_4_INIT              \
    {                                                        \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL \
    }

/* Version 2.0: the order of its functions is published, their parameters are not. No host here calls them. */
typedef struct {
    void (*create)(void);
    void (*getInfo)(void);
    void (*validateOpConfig)(void);
    void (*createOpImpl)(void);
    void (*freeOpImpl)(void);
    void (*logSetLevel)(void);
    void (*free)(void);
} QnnOpPackage_ImplementationV2_0_t;

#define QNN_OP_PACKAGE_IMPLEMENTATION_V2_0_INIT  \
    {                                            \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL \
    }

#define QNN_OP_PACKAGE_API_VERSION_1_4_0 \
    {                                    \
        1u, 4u, 0u                       \
    }
#define QNN_OP_PACKAGE_API_VERSION_2_0_0 \
    {                                    \
        2u, 0u, 0u                       \
    }

typedef struct {
    Qnn_Version_t interfaceVersion; /* says which member of the union is filled */
    union {
        QnnOpPackage_ImplementationV1_4_t v1_4;
        QnnOpPackage_ImplementationV2_0_t v2_0;
    };
} QnnOpPackage_Interface_t;

#define QNN_OP_PACKAGE_INTERFACE_INIT               \
    {                                               \
        QNN_OP_PACKAGE_API_VERSION_1_4_0,           \
        {                                           \
            QNN_OP_PACKAGE_IMPLEMENTATION_V1_4_INIT \
        }                                           \
    }

/* Exported by a package as <Package>InterfaceProvider. */
typedef Qnn_ErrorHandle_t (*QnnOpPackage_InterfaceProvider_t)(QnnOpPackage_Interface_t *interface);

#ifdef __cplusplus
}
#endif

#endif
