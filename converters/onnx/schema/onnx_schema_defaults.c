/* SPDX-License-Identifier: Apache-2.0 */
/* The attribute defaults of ONNX's default domain, as a sorted table. */
#include <float.h>

#include "converters/frontend/defaults.h"
#include "converters/frontend/fw_graph.h"
#include "converters/onnx/schema/onnx_schema_defaults.h"

#define ONNX_DEFAULT(name, attribute, first, last, kind, ...) \
    {.op = (name), .attr = (attribute), .lo = (first), .hi = (last), VALUE_##kind(__VA_ARGS__)},

static const struct default_row rows[] = {
#include "converters/onnx/schema/onnx_schema_defaults.def"
};

bool onnx_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out)
{
    return default_find(rows, COUNT_OF(rows), op_type, version, attr, out);
}

bool onnx_is_flag(const char *op_type, int64_t version, const char *attr)
{
    return default_is_flag(rows, COUNT_OF(rows), op_type, version, attr);
}
