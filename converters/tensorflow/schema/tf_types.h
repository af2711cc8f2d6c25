/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's element types by the numbers that attributes, tensors and checkpoints give them (DataType in
 * proto/tensorflow.proto). */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_TF_TYPES_H
#define CONVERTERS_TENSORFLOW_SCHEMA_TF_TYPES_H

#include "ir/dtype.h"

enum {
    TF_STRING = 7,
    TF_COMPLEX64,
    TF_QINT8 = 11,
    TF_QUINT8,
    TF_QINT32,
    TF_QINT16 = 15,
    TF_QUINT16,
    TF_COMPLEX128 = 18,
    TF_RESOURCE = 20,
    TF_VARIANT
};
#define TF_REF 100 /* what the number of a reference type is more than that of its type */

/* The type, which may be a reference; DT_NONE when there is none here (complex numbers, resources, …). */
enum dtype tf_dtype(int64_t code);
/* The same for elements that are known: those of quantized types (quint8, …) are integers. */
enum dtype tf_stored_dtype(int64_t code);
/* The type of the two parts of complex numbers; DT_NONE: it is another type. */
enum dtype tf_part_dtype(int64_t code);
/* "complex64", for messages; "an unknown type" for numbers that are none. */
const char *tf_dtype_name(int64_t code);
/* "DT_COMPLEX64", as TensorFlow's messages spell it; "DT_INVALID" for numbers that are none. */
const char *tf_dtype_enum(int64_t code);

#endif
