/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as NumPy's .npy files (numpy.lib.format, version 1.0), for dlc-info --dump. */
#ifndef TOOLS_NPY_OUT_H
#define TOOLS_NPY_OUT_H

#include "base/diag.h"
#include "opendlc/container.h"

/* Writes the elements in C order: as stored, or with `real` as float32, where (q + offset) * scale replaces fixed-point
 * ones. The file appears when it is complete. Refused: a tensor without data, and strings. Pages of the tensor's
 * container are given back while they are read. */
odlc_status npy_write(struct arena *arena, struct diags *diags, const char *path, const odlc_container *container,
                      const struct odlc_tensor *tensor, bool real) MUST_USE;

#endif
