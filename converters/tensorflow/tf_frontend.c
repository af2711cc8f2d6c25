#include "converters/frontends.h"
#include "converters/tensorflow/decode/op_defs.h"
#include "converters/tensorflow/lower/tf_rows.h"
#include "converters/tensorflow/tensorflow.h"
#include "converters/tensorflow/schema/tf_names.h"
#include "converters/tensorflow/schema/tf_types.h"

struct frontend tensorflow_frontend(void)
{
    return (struct frontend){.load = tensorflow_load,
                             .load_tensor = tensorflow_load_tensor,
                             .rows = tensorflow_rows,
                             .n_rows = tensorflow_row_count,
                             .refusal = tensorflow_refusal,
                             .operand_types = tf_operand_types,
                             .likely_types = tf_likely_types,
                             .type_name = tf_dtype_enum,
                             .takes_strings = tensorflow_takes_strings,
                             .schema_default = tensorflow_schema_default,
                             .canonical_name = tensorflow_canonical_name,
                             .bias_apart = true};
}
