/* SPDX-License-Identifier: Apache-2.0 */
/* What registration libraries say of ops, without their implementations. */
#ifndef PACKAGE_REGISTERED_OPS_H
#define PACKAGE_REGISTERED_OPS_H

#include "base/diag.h"
#include "sdk/SnpeUdo/UdoBase.h"

/* An operation of a package; cores: those it has, bits of SnpeUdo_CoreType_t. Strings are valid during the call. */
typedef void registered_op_fn(void *user, const char *package, const SnpeUdo_OperationInfo_t *op, uint32_t cores);

/* Loads a registration library, tells of each operation, and unloads it. Diagnostics and failures are those of
 * package_load, without the implementation's. */
odlc_status registered_ops_tell(struct arena *arena, struct diags *diags, const char *path, registered_op_fn *tell,
                                void *user) MUST_USE;

#endif
