/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that change their variables while they run. A container has no state: each run would start from the saved
 * values, and give other numbers than the model. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_STATE_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_STATE_H

#include "converters/tensorflow/normalize/frames.h"

/* After the walk: ODLC_ERR_UNSUPPORTED when what is run for the outputs, control inputs included, assigns to a variable
 * that they read. */
odlc_status check_state(struct normalize *nz) MUST_USE;

#endif
