/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the GPU backend's interface. */
#ifndef QNN_GPU_COMMON_H
#define QNN_GPU_COMMON_H

#define QNN_GPU_API_VERSION_MAJOR 3
#define QNN_GPU_API_VERSION_MINOR 11
#define QNN_GPU_API_VERSION_PATCH 0
/* Of a Qnn_ApiVersion_t; the name is ours. */
#define ODLC_GPU_API_VERSION_INIT                                                           \
    {                                                                                       \
        {2u, 0u, 0u},                                                                       \
        {                                                                                   \
            QNN_GPU_API_VERSION_MAJOR, QNN_GPU_API_VERSION_MINOR, QNN_GPU_API_VERSION_PATCH \
        }                                                                                   \
    }

#endif
