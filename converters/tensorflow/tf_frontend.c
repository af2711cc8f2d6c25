/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/tf_frontend.h"

#include "converters/tensorflow/decode/op_defs.h"
#include "converters/tensorflow/decode/tf_signatures.h"
#include "converters/tensorflow/lower/tf_table.h"
#include "converters/tensorflow/schema/tf_names.h"
#include "converters/tensorflow/schema/tf_types.h"
#include "converters/tensorflow/tensorflow.h"

const struct frontend tensorflow_frontend = {.load = tensorflow_load,
                                             .load_tensor = tensorflow_load_tensor,
                                             .table = &tensorflow_table,
                                             .refusal = tensorflow_refusal,
                                             .takes_strings = tensorflow_takes_strings,
                                             .schema_default = tensorflow_schema_default,
                                             .signature = tf_signature,
                                             .input_count = tf_input_count,
                                             .leaves_out = tf_leaves_out,
                                             .canonical_name = tensorflow_canonical_name,
                                             .short_name = tensorflow_short_name,
                                             .operand_types = tf_operand_types,
                                             .likely_types = tf_likely_types,
                                             .type_name = tf_dtype_enum,
                                             .ends_at_outputs = true};
