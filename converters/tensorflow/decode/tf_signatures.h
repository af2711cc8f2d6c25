/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes TensorFlow's own definitions of its operators have. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_SIGNATURES_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_SIGNATURES_H

#include "converters/frontend/fw_graph.h"
#include "converters/frontend/signature.h"

/* Of an operator that has a row, or NULL. Domain and version are of no use here. */
const struct signature *tf_signature(const char *domain, const char *op, int64_t version);
/* Every attribute that the definition does not have, as TensorFlow does when it imports a graph: graphs of later
 * versions have some, whose defaults mean what was before. */
bool tf_leaves_out(const struct fw_op *op, const char *attribute);

#endif
