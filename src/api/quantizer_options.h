/* SPDX-License-Identifier: Apache-2.0 */
/* The public options of a quantization become the quantizer's. */
#ifndef API_QUANTIZER_OPTIONS_H
#define API_QUANTIZER_OPTIONS_H

#include "opendlc/quantize.h"
#include "quantize/quantize.h"

/* Fills in all but progress and packages, with copies of what is given; `own` gets the members that these are made of.
 * ODLC_ERR_USAGE: a struct_size or a value that makes no sense. */
odlc_status quantizer_options_read(struct arena *arena, struct diags *diags, const struct odlc_quantize_options *given,
                                   struct odlc_quantize_options *own, struct quantize_options *out) MUST_USE;

#endif
