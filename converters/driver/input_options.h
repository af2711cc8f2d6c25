/* SPDX-License-Identifier: Apache-2.0 */
/* What options say of the graph inputs is put into the model: --input_dim, --input_dtype, --input_layout, --batch and
 * --define_symbol. */
#ifndef CONVERTERS_DRIVER_INPUT_OPTIONS_H
#define CONVERTERS_DRIVER_INPUT_OPTIONS_H

#include "converters/driver/input.h"

/* ODLC_ERR_USAGE: an option names an input or a symbol that the model does not have, or has a value that is no
 * dimension, type or size. All such options are reported. */
odlc_status apply_input_options(const struct context *c, struct input *in) MUST_USE;

#endif
