/* SPDX-License-Identifier: Apache-2.0 */
/* Where an op package logs to. */
#ifndef QNN_LOG_H
#define QNN_LOG_H

#include <stdarg.h>

#include "QnnCommon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers above that of ERROR are ours. */
typedef enum {
    QNN_LOG_LEVEL_ERROR = 1,
    QNN_LOG_LEVEL_WARN = 2,
    QNN_LOG_LEVEL_INFO = 3,
    QNN_LOG_LEVEL_VERBOSE = 4,
    QNN_LOG_LEVEL_DEBUG = 5,
    QNN_LOG_LEVEL_MAX = 0x7FFFFFFF
} QnnLog_Level_t;

/* The numbers are ours. */
enum {
    QNN_LOG_ERROR_INVALID_ARGUMENT = 2001,
    QNN_LOG_ERROR_MEM_ALLOC,
    QNN_LOG_ERROR_INITIALIZATION,
    QNN_LOG_ERROR_INVALID_HANDLE
};

/* A message as for vprintf, at a time in nanoseconds. The host's function may be called by any thread. */
typedef void (*QnnLog_Callback_t)(const char *fmt, QnnLog_Level_t level, uint64_t timestamp, va_list args);

#ifdef __cplusplus
}
#endif

#endif
