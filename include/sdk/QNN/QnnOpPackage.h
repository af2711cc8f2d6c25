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
    QNN_OP_PACKAGE_MIN_ERROR = 3000,
    QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED = 3000,
    QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED = 3001,
    QNN_OP_PACKAGE_ERROR_INVALID_HANDLE = 3002,
    QNN_OP_PACKAGE_ERROR_INVALID_INFRASTRUCTURE = 3003,
    QNN_OP_PACKAGE_ERROR_INVALID_INFO = 3004,
    QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE = 3005,
    QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT = 3006,
    QNN_OP_PACKAGE_ERROR_UNSUPPORTED_FEATURE = 3007,
    QNN_OP_PACKAGE_ERROR_GENERAL = 3100,
    QNN_OP_PACKAGE_MAX_ERROR = 3999,
    QNN_OP_PACKAGE_ERROR_UNKNOWN_ERROR = 0x7FFFFFFF
} QnnOpPackage_Error_t;

/* What these point to is defined by the backend (CPU/QnnCpuOpPackage.h). */
typedef struct QnnOpPackage_GlobalInfrastructure *QnnOpPackage_GlobalInfrastructure_t;
typedef struct QnnOpPackage_GraphInfrastructure *QnnOpPackage_GraphInfrastructure_t;
typedef struct QnnOpPackage_Node *QnnOpPackage_Node_t;
typedef struct QnnOpPackage_OpImpl *QnnOpPackage_OpImpl_t;
typedef struct QnnOpPackage_OperationInfo QnnOpPackage_OperationInfo_t;
typedef struct QnnOpPackage_Optimization QnnOpPackage_Optimization_t;
typedef struct QnnOpPackage_PackageInfo QnnOpPackage_PackageInfo_t;

#define QNN_OP_PACKAGE_RESERVED_INFO_SIZE 12

/* What a package is; the package's own memory, valid until terminate. */
typedef struct {
    const char *packageName;
    const char **operationNames; /* numOperations, unique in the package */
    const QnnOpPackage_OperationInfo_t *operationInfo; /* of the backend, or NULL */
    uint32_t numOperations;
    const QnnOpPackage_Optimization_t *optimizations; /* of the backend, or NULL */
    uint32_t numOptimizations;
    const char *sdkBuildId;
    const Qnn_ApiVersion_t *sdkApiVersion;
    const QnnOpPackage_PackageInfo_t *packageInfo; /* of the backend, or NULL */
    const Qnn_Version_t *opsetVersion;             /* or NULL */
    size_t reserved[QNN_OP_PACKAGE_RESERVED_INFO_SIZE]; /* zeros */
} QnnOpPackage_Info_t;

#define QNN_OP_PACKAGE_INFO_INIT {NULL, NULL, NULL, 0u, NULL, 0u, NULL, NULL, NULL, NULL, {0u}}

typedef Qnn_ErrorHandle_t (*QnnOpPackage_InitFn_t)(QnnOpPackage_GlobalInfrastructure_t infrastructure);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_TerminateFn_t)(void);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_GetInfoFn_t)(const QnnOpPackage_Info_t **info);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_ValidateOpConfigFn_t)(Qnn_OpConfig_t opConfig);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_CreateOpImplFn_t)(QnnOpPackage_GraphInfrastructure_t graphInfrastructure,
                                                           QnnOpPackage_Node_t node, QnnOpPackage_OpImpl_t *opImpl);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_FreeOpImplFn_t)(QnnOpPackage_OpImpl_t opImpl);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_LogInitializeFn_t)(QnnLog_Callback_t callback, QnnLog_Level_t maxLogLevel);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_LogSetLevelFn_t)(QnnLog_Level_t maxLogLevel);
typedef Qnn_ErrorHandle_t (*QnnOpPackage_LogTerminateFn_t)(void);

typedef struct {
    QnnOpPackage_InitFn_t init;           /* once a load */
    QnnOpPackage_TerminateFn_t terminate; /* the last call */
    QnnOpPackage_GetInfoFn_t getInfo;
    QnnOpPackage_ValidateOpConfigFn_t validateOpConfig; /* of each node, before createOpImpl */
    QnnOpPackage_CreateOpImplFn_t createOpImpl;         /* NULL in packages that register ops by other means */
    QnnOpPackage_FreeOpImplFn_t freeOpImpl;
    QnnOpPackage_LogInitializeFn_t logInitialize; /* these three may be NULL */
    QnnOpPackage_LogSetLevelFn_t logSetLevel;
    QnnOpPackage_LogTerminateFn_t logTerminate;
} QnnOpPackage_ImplementationV1_4_t;

#define QNN_OP_PACKAGE_IMPLEMENTATION_V1_4_INIT {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

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

#define QNN_OP_PACKAGE_IMPLEMENTATION_V2_0_INIT {NULL, NULL, NULL, NULL, NULL, NULL, NULL}

#define QNN_OP_PACKAGE_API_VERSION_1_4_0 {1u, 4u, 0u}
#define QNN_OP_PACKAGE_API_VERSION_2_0_0 {2u, 0u, 0u}

typedef struct {
    Qnn_Version_t interfaceVersion; /* says which member of the union is filled */
    union {
        QnnOpPackage_ImplementationV1_4_t v1_4;
        QnnOpPackage_ImplementationV2_0_t v2_0;
    };
} QnnOpPackage_Interface_t;

#define QNN_OP_PACKAGE_INTERFACE_INIT \
    { \
        QNN_OP_PACKAGE_API_VERSION_1_4_0, \
        { \
            QNN_OP_PACKAGE_IMPLEMENTATION_V1_4_INIT \
        } \
    }

/* Exported by a package as <Package>InterfaceProvider. */
typedef Qnn_ErrorHandle_t (*QnnOpPackage_InterfaceProvider_t)(QnnOpPackage_Interface_t *interface);

#ifdef __cplusplus
}
#endif

#endif
