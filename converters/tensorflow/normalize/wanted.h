/* What is wanted of a model: the values that options or a signature name as inputs and outputs. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_WANTED_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_WANTED_H

#include "converters/frontend/frontend.h"
#include "converters/tensorflow/decode/tf_signature.h"
#include "converters/tensorflow/normalize/frames.h"

/* Fills nz->cuts with the values that become inputs: those that options give dimensions, and those of the signature. */
void find_cuts(struct normalize *nz, const struct fw_load_options *options, const struct tf_signature *signature);
/* Fills nz->outputs with names of nodes, or of outputs of nodes ("name:1"), inside of calls, too: those of the options,
 * of the function that is the model, of the signature, or else all nodes that nothing reads. ODLC_ERR_USAGE for an
 * option that names nothing, ODLC_ERR_UNSUPPORTED for an output that is an input or no tensor, ODLC_ERR_INVALID where
 * there is none. */
odlc_status find_outputs(struct normalize *nz, const struct fw_load_options *options,
                         const struct tf_signature *signature) MUST_USE;

#endif
