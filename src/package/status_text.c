/* SPDX-License-Identifier: Apache-2.0 */
#include "package/status_text.h"

#include "sdk/QNN/QnnLog.h"
#include "sdk/QNN/QnnOpPackage.h"

struct named {
    uint64_t error;
    const char *name;
};

#define NAMED(error)              \
    {                             \
        (uint64_t)(error), #error \
    }

static const char *in_words(struct arena *arena, uint64_t error, const struct named *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].error == error)
            return arena_printf(arena, "error %llu (%s)", (unsigned long long)error, known[i].name);
    return arena_printf(arena, "error %llu", (unsigned long long)error);
}

const char *qnn_error_text(struct arena *arena, Qnn_ErrorHandle_t error)
{
    static const struct named known[] = {
        NAMED(QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED),
        NAMED(QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED),
        NAMED(QNN_OP_PACKAGE_ERROR_INVALID_INFO),
        NAMED(QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE),
        NAMED(QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT),
        NAMED(QNN_OP_PACKAGE_ERROR_GENERAL),
        NAMED(QNN_LOG_ERROR_INVALID_ARGUMENT),
        NAMED(QNN_LOG_ERROR_MEM_ALLOC),
        NAMED(QNN_LOG_ERROR_INITIALIZATION),
        NAMED(QNN_LOG_ERROR_INVALID_HANDLE),
        NAMED(QNN_COMMON_ERROR_NOT_SUPPORTED),
        NAMED(QNN_COMMON_ERROR_MEM_ALLOC),
        NAMED(QNN_COMMON_ERROR_PLATFORM_NOT_SUPPORTED),
        NAMED(QNN_COMMON_ERROR_SYSTEM_COMMUNICATION),
        NAMED(QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL),
    };
    return in_words(arena, error, known, COUNT_OF(known));
}

const char *udo_error_text(struct arena *arena, SnpeUdo_ErrorType_t error)
{
    static const struct named known[] = {
        NAMED(SNPE_UDO_WRONG_CORE),      NAMED(SNPE_UDO_INVALID_ARGUMENT), NAMED(SNPE_UDO_UNSUPPORTED_FEATURE),
        NAMED(SNPE_UDO_MEM_ALLOC_ERROR), NAMED(SNPE_UDO_WRONG_OPERATION),
    };
    return in_words(arena, (uint64_t)error, known, COUNT_OF(known));
}
