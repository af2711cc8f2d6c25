/* SPDX-License-Identifier: Apache-2.0 */
/* A node of the graph as op packages get it. */
#ifndef PACKAGE_OP_NODE_H
#define PACKAGE_OP_NODE_H

#include "op/op.h"
#include "runtime/backend.h"
#include "sdk/QNN/CPU/QnnCpuOpPackage.h"
#include "sdk/SnpeUdo/UdoBase.h"

/* All of it is in the arena of op_node_make, at addresses that stay. */
struct op_node {
    QnnCpuOpPackage_Node_t node; /* data of activations NULL until op_node_bind */
    Qnn_OpConfig_t config;       /* the same for validateOpConfig: without data but those of constants and params */
    QnnCpuOpPackage_Tensor_t *inputs, *outputs;
    SnpeUdo_Param_t *static_params; /* the params for validateOperation */
    uint32_t n_static_params;
};

/* The type in which packages get activations: float32 for fixed-point and smaller floats, else the tensor's own. */
enum dtype op_node_activation(enum dtype dtype);

/* Describes the node: operands in its order, absent ones as null tensors, and its params without those that only
 * describe its definition. Operands are as many as are declared, by the definition behind the node's row, else by
 * `registered` (NULL: the library tells nothing of the op), unless one is repeated. constants: as in struct
 * backend_scope. */
struct op_node *op_node_make(struct arena *arena, const struct graph *g, const struct node *n, const char *package,
                             const SnpeUdo_OperationInfo_t *registered, const struct buffer *constants);

/* Activations of the config for validateOpConfig as they are stored, with their encodings: for packages whose kernels
 * get them so. */
void op_node_config_as_stored(struct arena *arena, const struct graph *g, const struct node *n, struct op_node *node);

/* Whether one of the registered operands stands for any number of them. */
bool op_node_repeats(const SnpeUdo_TensorInfo_t *registered, uint32_t count);

/* Whether packages get a param of a node: it is there, and is the op's. */
bool op_node_gives(const struct param *p);

#endif
