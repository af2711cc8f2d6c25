/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files, versions 1 to 3 of the format (numpy.lib.format). */
#ifndef IR_NPY_H
#define IR_NPY_H

#include "ir/view.h"

/* True when the file starts as .npy files do. */
bool npy_is(const struct file *file);
/* The array as a view of the file: numbers and bools, little-endian, in C or Fortran order. */
odlc_status npy_read(struct arena *arena, struct diags *diags, const struct file *file, struct view *out) MUST_USE;

#endif
