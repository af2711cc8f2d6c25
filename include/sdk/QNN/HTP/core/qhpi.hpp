// SPDX-License-Identifier: Apache-2.0
/* The newest version of the plugin interface under names without a version, for C++. */
#ifndef QHPI_HPP
#define QHPI_HPP

#include "qhpi.h"

typedef QHPI_OpInfo_v1 QHPI_OpInfo;
typedef QHPI_Kernel_v1 QHPI_Kernel;
typedef QHPI_Tensor_Signature_v1 QHPI_Tensor_Signature;

inline QHPI_StatusCode qhpi_register_ops(uint32_t num_ops, const QHPI_OpInfo *operators, const char *package)
{
    return static_cast<QHPI_StatusCode>(qhpi_register_ops_v1(num_ops, operators, package));
}

/* A constant of one element. */
inline QHPI_OpRef gen_const_scalar_f32(const QHPI_Op *root, float value)
{
    const QHPI_OutputDef out = {QHPI_FLOAT32, {0, 0.0f}, {4, {1, 1, 1, 1}}};
    return qhpi_op_reference(qhpi_op_create_constant(root, &out, sizeof value, &value), 0);
}

#endif
