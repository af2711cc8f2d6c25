/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of TensorFlow's files are checked along. */
#ifndef CONVERTERS_TENSORFLOW_SCHEMA_TF_SCHEMA_H
#define CONVERTERS_TENSORFLOW_SCHEMA_TF_SCHEMA_H

#include "converters/frontend/wire.h"

extern const struct wire_schema tensorflow_schema;

#endif
