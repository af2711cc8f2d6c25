/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a container can have the graph inputs of the model. */
#ifndef CONVERTERS_DRIVER_CHECK_INPUTS_H
#define CONVERTERS_DRIVER_CHECK_INPUTS_H

#include "converters/driver/input.h"

/* An error for each graph input whose element type is not known (ODLC_ERR_INVALID) or none that a container has, and
 * one for all whose dimensions are open, with the options that would fix them (ODLC_ERR_UNSUPPORTED). */
odlc_status check_inputs(const struct context *c, const struct input *in) MUST_USE;

#endif
