/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a container as text, for the reports. */
#ifndef REPORT_VALUE_TEXT_H
#define REPORT_VALUE_TEXT_H

#include "base/vec.h"
#include "opendlc/container.h"

/* "bitwidth 8, min -1.000000000000, max 0.992187500000, scale 0.007812500000, offset -128.000000000000" */
const char *encoding_text(struct arena *arena, const struct odlc_encoding *encoding);
/* Of a tensor with several, on one line: "3 along axis 1, bitwidth 8, scale 0.25 to 2, offset 0, min -1 to -0.5, max
 * 1";
 * ", overridden" at the end where they are. "" where there are none. */
const char *encodings_text(struct arena *arena, const struct odlc_tensor *tensor);
/* "1x3x240x320", "1,3,240,320"; "scalar" for rank 0. */
const char *dims_text(struct arena *arena, const struct odlc_tensor *tensor, const char *between);
/* The shortest decimal that reads back as the same number: of float32 where that is the type. */
void float_text_add(struct arena *arena, text *line, double value, bool is_double);
/* Element `index` of a readable tensor as it is stored. */
void element_text_add(struct arena *arena, text *line, const struct odlc_tensor *tensor, uint64_t index);
/* The value of an attribute that is not nested; tensors of many elements are cut. */
void attribute_text_add(struct arena *arena, text *line, const struct odlc_attribute *a, bool with_type);

#endif
