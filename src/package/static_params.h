/* SPDX-License-Identifier: Apache-2.0 */
/* A node's params as registration libraries get them (SnpeUdo_validateOperation). */
#ifndef PACKAGE_STATIC_PARAMS_H
#define PACKAGE_STATIC_PARAMS_H

#include "ir/graph.h"
#include "sdk/QNN/CPU/QnnCpuOpPackage.h"
#include "sdk/SnpeUdo/UdoBase.h"

/* The params of `as_cpu`, which is the same node for the implementation, and whose names and data they borrow: in the
 * order in which `registered` (NULL: nothing is registered) has them, others behind these. */
SnpeUdo_Param_t *static_params_make(struct arena *arena, const struct node *n, const QnnCpuOpPackage_Node_t *as_cpu,
                                    const SnpeUdo_OperationInfo_t *registered, uint32_t *count);

#endif
