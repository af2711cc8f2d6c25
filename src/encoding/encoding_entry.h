/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of a tensor, in each form of the file. */
#ifndef ENCODING_ENCODING_ENTRY_H
#define ENCODING_ENCODING_ENTRY_H

#include "encoding/encoding_file.h"

struct encoding_reader {
    struct arena *arena;
    struct encoding_file *file;
    odlc_status status; /* of the first error */
};

/* Fill an entry whose name and place are there; false, with an error, where it says none. */
typedef bool encoding_read_fn(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out);
/* Without a version to 0.6.1: [{"bitwidth", "min", "max", …}, …], or one of the objects. */
encoding_read_fn encoding_read_ranges;
/* 1.0.0: {"enc_type", "dtype", "bw", "is_sym", "scale": […], "offset": […]}. */
encoding_read_fn encoding_read_scales;
/* 2.0.0: {"output_dtype", "y_scale", "y_zero_point", "axis"}. */
encoding_read_fn encoding_read_onnx;

/* Reports at a value; the reader's status is that of the first error. Gives false. */
bool encoding_wrong(struct encoding_reader *r, odlc_status status, const struct json_value *at, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
