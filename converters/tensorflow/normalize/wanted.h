/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted of a model: the values that options or a signature name as inputs and outputs. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_WANTED_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_WANTED_H

#include "converters/frontend/frontend.h"
#include "converters/tensorflow/decode/tf_signature.h"
#include "converters/tensorflow/normalize/frames.h"

/* The name of the value that the model's own graph calls `name`, which may be the result of a call; `name` itself where
 * the graph has none. */
odlc_status name_in_graph(struct normalize *nz, const char *name, const char **out) MUST_USE;
/* Fills nz->cuts with the values that become inputs: those that options give dimensions, and those of the signature. A
 * key of the signature comes before a value of that name. */
odlc_status find_cuts(struct normalize *nz, const struct fw_load_options *options,
                      const struct tf_signature *signature) MUST_USE;
/* Fills nz->outputs with values, inside of calls, too: those that the options name (by keys of the signature first),
 * the results of the function that is the model, those of the signature, or else all nodes that nothing reads.
 * ODLC_ERR_USAGE for an option that names nothing, ODLC_ERR_UNSUPPORTED for an output that is an input or no tensor,
 * ODLC_ERR_INVALID where there is none. */
odlc_status find_outputs(struct normalize *nz, const struct fw_load_options *options,
                         const struct tf_signature *signature) MUST_USE;
/* What the tensor of an output is called. */
const char *output_name(struct normalize *nz, const struct output *out);

#endif
