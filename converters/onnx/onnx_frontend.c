/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/onnx_frontend.h"

#include "converters/onnx/decode/onnx_load.h"
#include "converters/onnx/lower/onnx_table.h"
#include "converters/onnx/schema/onnx_schema_defaults.h"
#include "converters/onnx/schema/operand_types.h"
#include "converters/onnx/schema/signatures.h"

const struct frontend onnx_frontend = {.load = onnx_load,
                                       .load_tensor = onnx_load_tensor,
                                       .table = &onnx_table,
                                       .refusal = onnx_refusal,
                                       .takes_strings = onnx_takes_strings,
                                       .schema_default = onnx_schema_default,
                                       .operand_types = onnx_operand_types,
                                       .signature = onnx_signature,
                                       .leaves_out = onnx_leaves_out,
                                       .is_flag = onnx_is_flag,
                                       .channels_first = true,
                                       .has_opsets = true};
