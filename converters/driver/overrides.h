/* SPDX-License-Identifier: Apache-2.0 */
/* --quantization_overrides: encodings that a file gives for tensors of the model, which the container carries for who
 * quantizes it. */
#ifndef CONVERTERS_DRIVER_OVERRIDES_H
#define CONVERTERS_DRIVER_OVERRIDES_H

#include "converters/driver/lowering.h"
#include "encoding/encoding_file.h"

struct overrides {
    struct encoding_file *file; /* NULL: none is given */
};

/* Reads the file. Fails as encoding_file_read does. */
odlc_status read_overrides(const struct context *c, struct overrides *out) MUST_USE;
/* Gives the lowered graph's tensors what the file has for them. All entries that name no tensor of the model, or do not
 * fit theirs, are reported: ODLC_ERR_INVALID, ODLC_ERR_UNSUPPORTED. */
odlc_status apply_overrides(const struct lowering *all, struct overrides *o) MUST_USE;
/* One warning for what the container does not carry, behind the passes. */
void report_lost_overrides(const struct context *c, const struct graph *g, const struct overrides *o);

#endif
