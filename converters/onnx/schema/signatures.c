/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/schema/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "converters/frontend/fw_graph.h"

#define MANY SIGNATURE_MANY
#define ONNX_SIGNATURE(domain, op, lo, hi, inputs, outputs, attributes) \
    {(domain), (op), (lo), (hi), (inputs), (outputs), (attributes)},

static const struct signature rows[] = {
#include "converters/onnx/schema/signatures.def"

#include "converters/onnx/schema/contrib_signatures.def"
};

static int by_version(const void *a, const void *b)
{
    const struct signature *wanted = a, *row = b;
    int order = strcmp(wanted->domain, row->domain);
    order = order ? order : strcmp(wanted->op, row->op);
    return order ? order : wanted->lo < row->lo ? -1 : wanted->lo > row->hi;
}

const struct signature *onnx_signature(const char *domain, const char *op, int64_t version)
{
    const struct signature wanted = {.domain = domain, .op = op, .lo = version};
    return bsearch(&wanted, rows, COUNT_OF(rows), sizeof rows[0], by_version);
}

bool onnx_leaves_out(const struct fw_op *op, const char *attribute)
{
    return !*op->domain && strcmp(op->type, "BatchNormalization") == 0 && strcmp(attribute, "spatial") == 0;
}
