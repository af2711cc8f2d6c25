/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that UDOs claim: translated from the framework's form into the neutral one that src/udo works on. */
#ifndef CONVERTERS_DRIVER_BIND_UDO_H
#define CONVERTERS_DRIVER_BIND_UDO_H

#include "converters/driver/lowering.h"

/* Builds the UDO node for l->node, which `def` claims; declared: what the model says of each of its outputs, or NULL.
 * ODLC_ERR_UNSUPPORTED: an attribute that a UDO node cannot carry; else the statuses of udo_build. */
odlc_status lower_claimed(struct lowering *all, struct lower *l, const struct udo_def *def,
                          const struct fw_value *const *declared) MUST_USE;

#endif
