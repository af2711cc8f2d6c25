/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/schema/tf_schema.h"

#include "converters/tensorflow/schema/tf_fields.h"
#include "tensorflow.pb-c.h"

const struct wire_schema tensorflow_schema = {
    .what = "a TensorFlow model",
    .form = "TensorFlow's protobuf form",
    .tensor = &tensorflow__tensor_proto__descriptor,
    .elements = {{TENSOR_CONTENT, WIRE_BYTES},
                 {TENSOR_FLOAT_VAL, WIRE_FIXED32},
                 {TENSOR_DOUBLE_VAL, WIRE_FIXED64},
                 {TENSOR_INT_VAL, WIRE_VARINT},
                 {TENSOR_SCOMPLEX_VAL, WIRE_FIXED32},
                 {TENSOR_INT64_VAL, WIRE_VARINT},
                 {TENSOR_BOOL_VAL, WIRE_VARINT},
                 {TENSOR_DCOMPLEX_VAL, WIRE_FIXED64},
                 {TENSOR_HALF_VAL, WIRE_VARINT},
                 {TENSOR_UINT32_VAL, WIRE_VARINT},
                 {TENSOR_UINT64_VAL, WIRE_VARINT}},
};
