/* SPDX-License-Identifier: Apache-2.0 */
/* Element types in attributes of nodes. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_TYPE_ATTRIBUTE_H
#define CONVERTERS_TENSORFLOW_LOWER_TYPE_ATTRIBUTE_H

#include "converters/lowering/lower.h"

/* The type that an attribute of the node names; `absent` without it (DT_NONE: it must be there). ODLC_ERR_INVALID
 * where it is missing, ODLC_ERR_UNSUPPORTED for a type that the IR has not, at the node. */
odlc_status lower_tf_dtype(const struct lower *l, const char *name, enum dtype absent, enum dtype *out) MUST_USE;

#endif
