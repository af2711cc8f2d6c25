/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a frozen TensorFlow graph: converted as far as that goes, with some operators claimed by a UDO config,
 * or refused with a diagnostic; no container is written. Most inputs are changed along TensorFlow's schema
 * (mutate_wire.h), because other bytes seldom get past the decoder. */
#include "conversion.h"
#include "engine.h"

static const char config[] =
    "{\"P\": {\"UDO_PACKAGE_NAME\": \"Fuzzed\", \"Operators\": ["
    "{\"type\": \"MyScale\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"},"
    " {\"name\": \"by\", \"data_type\": \"FLOAT_32\", \"static\": true}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\", \"shape\": \"same_as in0\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\", \"default_value\": 1},"
    " {\"name\": \"axis\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"MySplit\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"a\", \"data_type\": \"FLOAT_32\"}, {\"name\": \"b\", \"data_type\": \"FLOAT_32\"}],"
    " \"tensor_params\": [{\"name\": \"sizes\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"Softmax\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\"}]}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    convert_fuzzed(ODLC_TENSORFLOW, "model.pb", data, size, config, sizeof config - 1);
    return 0;
}
