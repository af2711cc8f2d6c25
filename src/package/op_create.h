/* SPDX-License-Identifier: Apache-2.0 */
/* The op of a node: asked for, and created, as packages expect it. */
#ifndef PACKAGE_OP_CREATE_H
#define PACKAGE_OP_CREATE_H

#include "package/op_node.h"
#include "package/package.h"

/* Which of a package's functions refused, and how. */
struct op_refusal {
    const char *function;
    const struct library *library;
    uint64_t error; /* 0: createOpImpl succeeds, and creates nothing */
    bool registration;
};

/* SnpeUdo_validateOperation of the registration library, where there is one that exports it, then validateOpConfig and
 * createOpImpl. Allocates nothing. False: the package refuses the node. */
bool op_create(const struct package *package, struct op_node *op, QnnOpPackage_OpImpl_t *out, struct op_refusal *why);

/* "error 2 (SNPE_UDO_INVALID_ARGUMENT)" */
const char *op_refusal_text(struct arena *arena, const struct op_refusal *why);

#endif
