/* SPDX-License-Identifier: Apache-2.0 */
/* One node of a model becomes IR nodes, by its row or by the UDO that claims it. */
#ifndef CONVERTERS_DRIVER_LOWER_NODE_H
#define CONVERTERS_DRIVER_LOWER_NODE_H

#include "converters/driver/lowering.h"

/* Lowers the node and defines its outputs in the scope. When that fails, an error says why, the outputs are spoiled,
 * and n->refused is set; the status is that of the node's lowering, or ODLC_ERR_INVALID for a node that depends on one
 * that failed, which is no error of its own. */
odlc_status lower_node(struct scope *s, struct fw_node *n) MUST_USE;

#endif
