/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ONNX models into the framework graph. Accepts IR versions 1 to 13 and opsets 1 to 28 of the default domain;
 * newer ones are read as far as they are alike, with a warning. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_LOAD_H
#define CONVERTERS_ONNX_DECODE_ONNX_LOAD_H

#include "converters/frontend/frontend.h"

/* `load` of struct frontend; all local functions are inlined, but for those that options->claims says. */
odlc_status onnx_load(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                      struct fw_model **out) MUST_USE;

/* The same for a file that is mapped already and stays so while the model is used. Of the options, which may be NULL,
 * `input` is not looked at. */
odlc_status onnx_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                           const struct fw_load_options *options, struct fw_model **out) MUST_USE;

/* `load_tensor` of struct frontend: a file with a serialized TensorProto, as the ONNX project stores test data. */
odlc_status onnx_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                             struct fw_tensor *out) MUST_USE;

#endif
