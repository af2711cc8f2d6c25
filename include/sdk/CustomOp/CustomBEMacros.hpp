// SPDX-License-Identifier: Apache-2.0
/* Checks in functions that return a Qnn_ErrorHandle_t. All may stand with or without a semicolon behind them. */
#ifndef CUSTOM_BE_MACROS_HPP
#define CUSTOM_BE_MACROS_HPP

/* Returns `error` unless the condition holds. */
#define QNN_CUSTOM_BE_ENSURE(condition, error) \
    do { \
        if (!(condition)) \
            return static_cast<Qnn_ErrorHandle_t>(error); \
    } while (0);

/* Returns `error` unless the two are equal. */
#define QNN_CUSTOM_BE_ENSURE_EQ(a, b, error) \
    do { \
        if ((a) != (b)) \
            return static_cast<Qnn_ErrorHandle_t>(error); \
    } while (0);

/* Returns the status unless it is QNN_SUCCESS. */
#define QNN_CUSTOM_BE_ENSURE_STATUS(status) \
    do { \
        const Qnn_ErrorHandle_t odlc_status = (status); \
        if (odlc_status != QNN_SUCCESS) \
            return odlc_status; \
    } while (0);

#endif
