/* SPDX-License-Identifier: Apache-2.0 */
/* The function that a signature of a saved model serves. TensorFlow 2 saves it as one call in a graph of its own, which
 * has an input for each argument, the variables, and calls for loading and saving. What is converted is the function:
 * names are those inside of it, its inputs go by the signature's keys. What else is needed of the graph around has
 * names with a prefix, so that no two values share one. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_SERVED_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_SERVED_H

#include "converters/tensorflow/decode/tf_signature.h"
#include "converters/tensorflow/normalize/frames.h"

/* Fills nz->served where one call of the model's own graph gives all outputs of the signature. Comes before any name of
 * a value is asked for. Errors of call_frame. */
odlc_status find_served(struct normalize *nz, const struct tf_signature *signature) MUST_USE;
/* What a result of that function, or another value of the graph around it, is: *out gets the value behind Identities,
 * whose name it has, or, where that is an input or a constant, under the name that the graph gives it.
 * out->source.frame NULL: there is none of that name. */
odlc_status find_result(struct normalize *nz, const char *name, struct output *out) MUST_USE;
/* Whether both are one value, Identities left aside. */
odlc_status same_result(struct normalize *nz, const struct source *a, const struct source *b, bool *out) MUST_USE;

#endif
