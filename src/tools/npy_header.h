/* SPDX-License-Identifier: Apache-2.0 */
/* The head of NumPy's .npy files (numpy.lib.format, version 1.0), behind which the elements stand. */
#ifndef TOOLS_NPY_HEADER_H
#define TOOLS_NPY_HEADER_H

#include "base/vec.h"

/* Appends the head of an array in C order; the type is that of npy_type, or NumPy's own ("<f4"). */
void npy_add_header(struct arena *arena, text *out, const char *type, uint32_t rank, const int64_t *dims);
/* NumPy's word for a type of containers ("uFxp_8": "|u1"), whose name ends in its bits; fewer than 8 take a byte. Not
 * for strings. */
const char *npy_type(struct arena *arena, const char *dtype);

#endif
