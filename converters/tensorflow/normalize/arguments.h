/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a function of a saved program that is the model. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_ARGUMENTS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_ARGUMENTS_H

#include "converters/tensorflow/normalize/walk.h"
#include "converters/tensorflow/source/tf_source.h"

/* Those that something reads become inputs of the graph, or constants where the function took them from around it: the
 * value of a variable, or a constant of the graph. ODLC_ERR_INVALID where that is not there, ODLC_ERR_UNSUPPORTED for
 * what is neither. */
odlc_status add_arguments(struct walk *w, const struct tf_source *source) MUST_USE;

#endif
