/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that the model keeps in files beside itself. */
#ifndef CONVERTERS_ONNX_DECODE_EXTERNAL_DATA_H
#define CONVERTERS_ONNX_DECODE_EXTERNAL_DATA_H

#include "converters/onnx/decode/onnx_decode.h"

/* The files beside the model, which the arena closes. */
struct external *external_create(struct arena *arena, struct diags *diags, const char *model_path, bool follow_links);
/* Adds the paths of the files that were opened to those of the model. */
void external_list(const struct external *x, struct fw_model *model);
/* The elements of a tensor that the model keeps in another file: `size` bytes, mapped as long as the arena of
 * external_create. ODLC_ERR_IO: the file cannot be read; ODLC_ERR_INVALID: the file has no such bytes, or its name is
 * none of a file in the model's folder. */
odlc_status external_bytes(struct decode *d, const struct wire_field *tensor, uint64_t size,
                           const struct odlc_diag *place, const uint8_t **bytes, const struct file **file) MUST_USE;

#endif
