/* SPDX-License-Identifier: Apache-2.0 */
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
#define QNN_GET_ERROR_CODE(error) ((error)&0xFFFF)

/* Errors that every part of the interface may return. The numbers are ours. */
enum {
    QNN_COMMON_ERROR_NOT_SUPPORTED = 1,
    QNN_COMMON_ERROR_MEM_ALLOC,
    QNN_COMMON_ERROR_PLATFORM_NOT_SUPPORTED,
    QNN_COMMON_ERROR_SYSTEM_COMMUNICATION,
    QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL
};

typedef void *Qnn_Handle_t;
typedef Qnn_Handle_t Qnn_BackendHandle_t;
typedef Qnn_Handle_t Qnn_OpPackageHandle_t;

typedef struct {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} Qnn_Version_t;

/* The version of the interface as a whole, and that of a backend. */
typedef struct {
    Qnn_Version_t coreApiVersion;
    Qnn_Version_t backendApiVersion;
} Qnn_ApiVersion_t;

#ifdef __cplusplus
}
#endif

#endif
