/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU backend hands to createOpImpl, and what a package hands back: kernels in OpenCL C with their arguments.
 *
 * Names without ODLC_ are those of published documentation, and so are the members of QnnGpu_BlockEncodingInfo_t,
 * QnnGpu_MemoryObject_t and QnnGpuOpPackage_SuperNodeOptimization_t with their order. Nothing is published of the node,
 * the kernel, its arguments and the operation but their names: their members are ours, and so are all numbers.
 *
 * A QnnOpPackage_Node_t points to a QnnGpuOpPackage_Node_t, the host's until createOpImpl returns; a
 * QnnOpPackage_OpImpl_t to a QnnGpu_Operation_t, the package's until freeOpImpl. Kernels take operands in the types
 * that the memory objects say, which are those of the config's tensors: what a registration library registers for the
 * GPU where that is FLOAT_16 or FLOAT_32 and the operand is one of reals, else as the tensor is stored. C11 and C++11.
 */
#ifndef QNN_GPU_OP_PACKAGE_H
#define QNN_GPU_OP_PACKAGE_H

#include "../QnnOpPackage.h"
#include "QnnGpuCommon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a package tells of itself ---- */

/* QnnOpPackage_Info_t.packageInfo. Another hash makes kernels that a host has stored invalid. */
typedef struct {
    const char *kernelRepoHash;
} QnnGpuOpPackage_PackageInfo_t;

/* A pattern of nodes that become one; each array ends with NULL. What the elements point to is not published. */
typedef struct {
    const void **operations;
    const void **connectionConstraints;
    const void **tensorConstraints;
} QnnGpuOpPackage_SuperNodeOptimization_t;

typedef enum {
    QNN_GPU_OPTIMIZATION_TYPE_UNDEFINED = 0,
    ODLC_GPU_OPTIMIZATION_TYPE_SUPER_NODE = 1
} ODLC_GpuOptimizationType_t;

/* QnnOpPackage_Info_t.optimizations are of these. */
typedef struct {
    ODLC_GpuOptimizationType_t type;
    const char *name;
    union {
        const QnnGpuOpPackage_SuperNodeOptimization_t *superNode;
    };
} QnnGpuOpPackage_Optimization_t;

/* ---- memory ---- */

typedef enum {
    QNN_GPU_MEM_OBJ_TYPE_UNCLAIMED = 0, /* the host chooses */
    ODLC_GPU_MEM_OBJ_TYPE_BUFFER = 1
} QnnGpu_MemObjType;

typedef enum {
    QNN_GPU_MEM_LAYOUT_UNDEFINED = 0 /* dense, the last dimension fastest */
} ODLC_GpuMemLayout_t;

/* Of tensors that are quantized in blocks. */
typedef struct {
    const uint32_t *bqBlockSize; /* one for each dimension; NULL: the tensor is not */
    uint32_t bqEncodingTensorId;
} QnnGpu_BlockEncodingInfo_t;

typedef struct {
    QnnGpu_MemObjType type;
    Qnn_DataType_t dataType;
    const uint32_t *dimensions; /* numDimensions of them */
    const uint32_t *offsets;    /* the same; NULL: zeros */
    uint32_t numDimensions;
    ODLC_GpuMemLayout_t layout;
    QnnGpu_BlockEncodingInfo_t blockEncodingInfo;
} QnnGpu_MemoryObject_t;

/* ---- nodes and operations ---- */

/* Static tensors of the config, and tensor params, have their data in clientBuf. An operand that is absent has a memory
 * object of type QNN_GPU_MEM_OBJ_TYPE_UNCLAIMED and no dimensions; its argument is NULL in the kernel. */
typedef struct {
    const Qnn_OpConfig_t *opConfig;
    const QnnGpu_MemoryObject_t *inputs;  /* one for each input of the config */
    const QnnGpu_MemoryObject_t *outputs; /* one for each output of the config */
} QnnGpuOpPackage_Node_t;

typedef enum {
    ODLC_GPU_ARG_INPUT = 0,
    ODLC_GPU_ARG_OUTPUT = 1,
    ODLC_GPU_ARG_SCALAR = 2,
    ODLC_GPU_ARG_PARAM = 3, /* a buffer with the elements of a tensor param */
    ODLC_GPU_ARG_LOCAL = 4  /* local memory */
} ODLC_GpuKernelArgType_t;

/* The arguments of a kernel, in the order of its parameters. */
typedef struct {
    ODLC_GpuKernelArgType_t type;
    uint32_t index; /* of an input or an output: which of the node's; of a param: which of the config's; else bytes */
    Qnn_Scalar_t scalar; /* of a number: handed over by value, in its type */
} QnnGpu_KernelArg_t;

#define ODLC_GPU_MAX_WORK_DIMENSIONS 3

typedef struct {
    const char *name;           /* of the __kernel function */
    const char *source;         /* OpenCL C, with a NUL at its end */
    const char *buildOptions;   /* or NULL */
    uint32_t numWorkDimensions; /* 1 to ODLC_GPU_MAX_WORK_DIMENSIONS */
    size_t globalWorkSizes[ODLC_GPU_MAX_WORK_DIMENSIONS];
    size_t localWorkSizes[ODLC_GPU_MAX_WORK_DIMENSIONS]; /* zeros: the host chooses; else divisors of the global ones */
    uint32_t numArgs;
    const QnnGpu_KernelArg_t *args;
} QnnGpu_Kernel_t;

/* What a node executes: its kernels, one after another. */
typedef struct {
    uint32_t numKernels;
    const QnnGpu_Kernel_t *kernels;
    const QnnGpu_MemoryObject_t *outputClaims; /* how outputs lie, one for each; NULL: as the node has them */
} QnnGpu_Operation_t;

#ifndef ODLC_SDK_HOST
/* Marks libraries that create QnnGpu_Operation_t; weak, as odlc_sdk_abi is. */
extern const uint32_t odlc_sdk_gpu __attribute__((weak, visibility("default")));
const uint32_t odlc_sdk_gpu = 1;
#endif

#ifdef __cplusplus
}
#endif

#endif
