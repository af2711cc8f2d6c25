/* What all of the op package interface shares: versions, handles, errors.
 *
 * Written from published documentation and from what public op sources call; source compatible with the documented
 * interface. Values and orders that are published nowhere are this project's own ("ours"): a library is compiled with
 * these headers or it is refused, which QnnOpPackage.h sees to. C11 and C++11. */
#ifndef QNN_COMMON_H
#define QNN_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef QNN_API
#define QNN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* 0 is success; other numbers are errors of the interface that returned them. */
typedef uint64_t Qnn_ErrorHandle_t;
#define QNN_SUCCESS 0
#define QNN_GET_ERROR_CODE(error) ((error) & 0xFFFF)

/* Errors that every part of the interface may return. The numbers are ours. */
typedef enum {
    QNN_COMMON_MIN_ERROR = 1000,
    QNN_COMMON_ERROR_NOT_SUPPORTED = 1000,
    QNN_COMMON_ERROR_MEM_ALLOC = 1002,
    QNN_COMMON_ERROR_SYSTEM = 1003,
    QNN_COMMON_ERROR_INVALID_ARGUMENT = 1004,
    QNN_COMMON_ERROR_OPERATION_NOT_PERMITTED = 1005,
    QNN_COMMON_ERROR_PLATFORM_NOT_SUPPORTED = 1006,
    QNN_COMMON_ERROR_SYSTEM_COMMUNICATION = 1007,
    QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL = 1008,
    QNN_COMMON_ERROR_GENERAL = 1100,
    QNN_COMMON_MAX_ERROR = 1999,
    QNN_COMMON_ERROR_UNDEFINED = 0x7FFFFFFF
} QnnCommon_Error_t;

typedef void *Qnn_Handle_t;
typedef Qnn_Handle_t Qnn_BackendHandle_t;
typedef Qnn_Handle_t Qnn_OpPackageHandle_t;
typedef Qnn_Handle_t Qnn_LogHandle_t;

typedef struct {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} Qnn_Version_t;

#define QNN_VERSION_INIT {0u, 0u, 0u}

/* The version of the interface as a whole, and that of a backend. */
typedef struct {
    Qnn_Version_t coreApiVersion;
    Qnn_Version_t backendApiVersion;
} Qnn_ApiVersion_t;

#define QNN_API_VERSION_MAJOR 2
#define QNN_API_VERSION_MINOR 13
#define QNN_API_VERSION_PATCH 0
#define QNN_API_VERSION_INIT \
    { \
        {QNN_API_VERSION_MAJOR, QNN_API_VERSION_MINOR, QNN_API_VERSION_PATCH}, QNN_VERSION_INIT \
    }

#ifdef __cplusplus
}
#endif

#endif
