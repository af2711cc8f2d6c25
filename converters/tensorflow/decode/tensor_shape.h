/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: TensorShapeProto. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TENSOR_SHAPE_H
#define CONVERTERS_TENSORFLOW_DECODE_TENSOR_SHAPE_H

#include "converters/tensorflow/decode/tf_model.h"

/* A shape that may leave dimensions open: into has_shape, rank and dims of v. */
odlc_status tf_decode_shape(struct tf_model *m, const struct wire_field *shape, const char *node,
                            struct fw_value *v) MUST_USE;

#endif
