/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and strings as bytes that sort as they do. The keys of slices are made of them. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_ORDERED_CODE_H
#define CONVERTERS_TENSORFLOW_SOURCE_ORDERED_CODE_H

#include "base/vec.h"

/* Each appends to out. */
void ordered_add_count(struct arena *arena, text *out, uint64_t value);
void ordered_add_int(struct arena *arena, text *out, int64_t value);
void ordered_add_string(struct arena *arena, text *out, const char *string);

#endif
