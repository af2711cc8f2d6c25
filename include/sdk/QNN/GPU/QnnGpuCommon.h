/* The version of the GPU backend's interface. */
#ifndef QNN_GPU_COMMON_H
#define QNN_GPU_COMMON_H

#define QNN_GPU_API_VERSION_MAJOR 3
#define QNN_GPU_API_VERSION_MINOR 11
#define QNN_GPU_API_VERSION_PATCH 0

#endif
