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

/* ODLC_ERR_UNSUPPORTED: the node gives strings: whoever gives them would have to say how long they last. */
odlc_status op_check_types(const struct backend_scope *scope, const struct package *package,
                           const struct node *n) MUST_USE;
/* ODLC_ERR_UNSUPPORTED: the node has more of something than the package registers; what is missing may be optional. */
odlc_status op_check_counts(const struct backend_scope *scope, const struct package *package, const struct node *n,
                            const struct op_node *op, const SnpeUdo_OperationInfo_t *registered) MUST_USE;

/* The first two steps of op_create. */
bool op_validate(const struct package *package, struct op_node *op, struct op_refusal *why);
/* SnpeUdo_validateOperation of the registration library, where there is one that exports it, then validateOpConfig and
 * createOpImpl. Allocates nothing. False: the package refuses the node. */
bool op_create(const struct package *package, struct op_node *op, QnnOpPackage_OpImpl_t *out, struct op_refusal *why);

/* "error 2 (SNPE_UDO_INVALID_ARGUMENT)" */
const char *op_refusal_text(struct arena *arena, const struct op_refusal *why);
/* The error of a node that the package refuses; ODLC_ERR_INVALID. */
odlc_status op_refused(struct diags *diags, const struct node *n, const struct package *package,
                       const struct op_refusal *why) MUST_USE;

#endif
