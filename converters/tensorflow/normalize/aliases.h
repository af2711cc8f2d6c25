/* SPDX-License-Identifier: Apache-2.0 */
/* What options may call graph inputs and outputs beside their names: keys of the signature, and names of the graph
 * around the function that the signature serves. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_ALIASES_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_ALIASES_H

#include "converters/tensorflow/decode/tf_signature.h"
#include "converters/tensorflow/normalize/frames.h"

/* Fills the lists of nz->model, when the outputs are known. */
odlc_status note_aliases(struct normalize *nz, const struct tf_signature *signature) MUST_USE;

#endif
