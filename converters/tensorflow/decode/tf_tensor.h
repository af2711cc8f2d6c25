/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: TensorProto. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_TENSOR_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_TENSOR_H

#include "converters/tensorflow/decode/tf_model.h"

/* The type that a TensorProto's elements have in a view: integers for quantized ones; DT_NONE: there
 * is none. *code gets TensorFlow's number of it. */
enum dtype tf_tensor_dtype(const struct tf_model *m, const struct wire_field *tensor, int64_t *code);
/* A TensorProto as a view, of the mapped file where possible. */
odlc_status tf_decode_tensor(struct tf_model *m, const struct wire_field *tensor, const char *node,
                             struct view *out) MUST_USE;
/* The same for complex numbers: the view has one more axis, of the real and the imaginary parts. */
odlc_status tf_decode_complex(struct tf_model *m, const struct wire_field *tensor, const char *node,
                              struct view *out) MUST_USE;

#endif
