/* SPDX-License-Identifier: Apache-2.0 */
/* What a registration library says of an op, against the config. */
#ifndef TRIAL_REGISTERED_OP_H
#define TRIAL_REGISTERED_OP_H

#include "package/registration.h"
#include "trial/contained.h"
#include "udo/udo.h"

/* Notes what is not as in the config. */
void registered_op_compare(struct contained *c, const SnpeUdo_OperationInfo_t *op, const struct udo_def *def);

#endif
