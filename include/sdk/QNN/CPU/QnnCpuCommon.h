/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the CPU backend's interface. */
#ifndef QNN_CPU_COMMON_H
#define QNN_CPU_COMMON_H

#define QNN_CPU_API_VERSION_MAJOR 1
#define QNN_CPU_API_VERSION_MINOR 1
#define QNN_CPU_API_VERSION_PATCH 0
#define QNN_CPU_API_VERSION_INIT                                                            \
    {                                                                                       \
        {2u, 0u, 0u},                                                                       \
        {                                                                                   \
            QNN_CPU_API_VERSION_MAJOR, QNN_CPU_API_VERSION_MINOR, QNN_CPU_API_VERSION_PATCH \
        }                                                                                   \
    }

#endif
