/* SPDX-License-Identifier: Apache-2.0 */
/* What the user says about a model is put into it before anything else looks at it. */
#ifndef CONVERTERS_DRIVER_PREPARE_H
#define CONVERTERS_DRIVER_PREPARE_H

#include "converters/driver/input.h"

/* Applies the options of input_options.h, --freeze_input and --out_node to the model, gives unnamed nodes a name and
 * finds the live nodes. ODLC_ERR_USAGE: an option does not fit the model; ODLC_ERR_IO and others of freeze.h: a file of
 * --freeze_input cannot be read. */
odlc_status prepare_model(const struct context *c, struct input *in) MUST_USE;

#endif
