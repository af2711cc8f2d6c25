/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ONNX model: converted as far as that goes, with some operators claimed by a UDO config, or refused
 * with a diagnostic; no container is written. What converts is converted with other options, too. Most inputs are
 * changed along the schema of ONNX (mutate_onnx.c), because other bytes seldom get past the decoder. */
#include "conversion.h"
#include "engine.h"

static const char config[] =
    "{\"P\": {\"UDO_PACKAGE_NAME\": \"Fuzzed\", \"Operators\": ["
    "{\"type\": \"MyScale\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"},"
    " {\"name\": \"by\", \"data_type\": \"FLOAT_32\", \"static\": true}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\", \"shape\": \"same_as in0\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\", \"default_value\": 1},"
    " {\"name\": \"axis\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"MySplit\", \"domain\": \"fuzz\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\","
    " \"tensor_layout\": \"NHWC\"}],"
    " \"outputs\": [{\"name\": \"a\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"shape\": [\"in0[0]\", \"in0[1]\", \"in0[2]\", \"in0[3]/2\"]}, {\"name\": \"b\", \"data_type\": \"FLOAT_32\"}],"
    " \"tensor_params\": [{\"name\": \"sizes\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"ThresholdedRelu\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\"}]},"
    "{\"type\": \"SoftClamp\", \"domain\": \"com.example\", \"inputs\": [{\"name\": \"x\", \"data_type\": \"FLOAT_32\","
    " \"tensor_layout\": \"NHWC\"}, {\"name\": \"limit\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"static\": true}], \"outputs\": [{\"name\": \"y\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"shape\": \"same_as in0\"}], \"scalar_params\": [{\"name\": \"sharpness\", \"data_type\": \"FLOAT_32\","
    " \"default_value\": 1.0}, {\"name\": \"mode\", \"data_type\": \"STRING\"}],"
    " \"tensor_params\": [{\"name\": \"axes\", \"data_type\": \"INT_32\"}]}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    convert_fuzzed(ODLC_ONNX, "model.onnx", data, size, config, sizeof config - 1);
    return 0;
}
