/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a saved program, of which each may be the model: for saved models without signatures. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_SAVED_PROGRAM_H
#define CONVERTERS_TENSORFLOW_SOURCE_SAVED_PROGRAM_H

#include "converters/tensorflow/source/tf_source.h"

/* Makes the function of that name the model's: names are attributes with dots ("encoder.call") and, where that means
 * several functions, those that they have in the library. ODLC_ERR_USAGE where the program has none of that name. */
odlc_status choose_function(struct tf_source *source, const char *name) MUST_USE;
/* ODLC_ERR_USAGE: a saved model without signatures; the hint lists the functions. */
odlc_status report_no_signature(struct tf_source *source) MUST_USE;

#endif
