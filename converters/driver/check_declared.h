/* SPDX-License-Identifier: Apache-2.0 */
/* What a model declares of its values against what lowering computes. */
#ifndef CONVERTERS_DRIVER_CHECK_DECLARED_H
#define CONVERTERS_DRIVER_CHECK_DECLARED_H

#include "converters/driver/lowering.h"

/* Output k of the node, which became a tensor. ODLC_ERR_INVALID: the model declares another element type, so the model
 * or the converter is wrong. Other dimensions are a warning, for graph outputs at once, else by warn_of_contradictions.
 */
odlc_status check_declared(struct scope *s, const struct fw_node *n, size_t k, tensor_id id) MUST_USE;

/* One warning for all values inside of the model whose declared dimensions are not the computed ones. What models say
 * of these is often old, and where one is wrong, so are those behind it. */
void warn_of_contradictions(const struct lowering *all);

#endif
