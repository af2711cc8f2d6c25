/* SPDX-License-Identifier: Apache-2.0 */
/* --freeze_input: a graph input becomes a constant, so that shapes, axes or pads that a model takes as inputs are known
 * at conversion. */
#ifndef CONVERTERS_DRIVER_FREEZE_H
#define CONVERTERS_DRIVER_FREEZE_H

#include "converters/driver/input.h"

/* The inputs of --freeze_input become initializers. ODLC_ERR_USAGE: there is no such input, or its value is not of the
 * input's type and dimensions; ODLC_ERR_IO: a file cannot be read; others: a file in a form of its own is not sound.
 * All such inputs are reported. */
odlc_status freeze_inputs(const struct context *c, struct input *in) MUST_USE;

/* The value that a file has for a graph input: a view of the mapped file, which stays mapped while the view is used.
 * Statuses as above. */
odlc_status read_frozen(const struct context *c, const struct fw_value *input, const struct file *file,
                        struct view *out) MUST_USE;

#endif
