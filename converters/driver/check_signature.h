/* SPDX-License-Identifier: Apache-2.0 */
/* A node against what the definition of its operator allows. */
#ifndef CONVERTERS_DRIVER_CHECK_SIGNATURE_H
#define CONVERTERS_DRIVER_CHECK_SIGNATURE_H

#include "converters/driver/context.h"
#include "converters/driver/input.h"

/* ODLC_ERR_INVALID, with an error for each thing that is wrong: more inputs or outputs than the operator has at that
 * version, an attribute that it does not have, or that is of another kind. Nodes whose operator's signature is not
 * known are not checked; neither are attributes that begin with "__", which tools keep for themselves. Attributes that
 * the front end leaves out are a warning an operator. */
odlc_status check_signature(const struct context *c, const struct input *in, const struct fw_node *n) MUST_USE;

#endif
