/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/decode/tf_signatures.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define TF_SIGNATURE(name, words) \
    {.op = (name), .hi = INT64_MAX, .most_in = SIGNATURE_MANY, .most_out = SIGNATURE_MANY, .attributes = (words)},

static const struct signature rows[] = {
#include "converters/tensorflow/decode/tf_signatures.def"
};

static int by_op(const void *a, const void *b)
{
    const struct signature *x = a, *y = b;
    return strcmp(x->op, y->op);
}

const struct signature *tf_signature(const char *domain, const char *op, int64_t version)
{
    const struct signature wanted = {.op = op};
    (void)domain;
    (void)version;
    return bsearch(&wanted, rows, COUNT_OF(rows), sizeof rows[0], by_op);
}

bool tf_leaves_out(const struct fw_op *op, const char *attribute)
{
    (void)op;
    (void)attribute;
    return true;
}
