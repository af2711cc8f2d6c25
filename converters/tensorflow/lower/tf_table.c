/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/tf_table.h"

#include <string.h>

#include "converters/tensorflow/lower/tf_lowerings.h"

/* Operators have no versions: a new meaning gets a new name. */
static const struct lower_row rows[] = {
#define TF_ROW(op, fn, arg) {"", op, 0, LATEST, fn, arg},
#include "converters/tensorflow/lower/tf_rows.def"
#undef TF_ROW
};
const struct lower_table tensorflow_table = {rows, COUNT_OF(rows)};

const char *tensorflow_refusal(const char *domain, const char *op)
{
    static const struct {
        const char *op, *reason;
    } refusals[] = {
#define TF_REFUSAL(op, reason) {op, reason},
#include "converters/tensorflow/lower/tf_refusals.def"
#undef TF_REFUSAL
    };
    for (size_t i = 0; !*domain && i < COUNT_OF(refusals); i++)
        if (strcmp(refusals[i].op, op) == 0)
            return refusals[i].reason;
    return NULL;
}

bool tensorflow_takes_strings(const char *domain, const char *op)
{
    static const char ops[] =
        " BroadcastTo Concat ConcatV2 EnsureShape ExpandDims Fill Gather GatherNd GatherV2 Identity "
        "Pack Rank Reshape ResourceGather ReverseV2 Shape ShapeN Size Slice Split SplitV Squeeze "
        "StridedSlice Tile Transpose Unpack ";
    return !*domain && fw_is_one_of(ops, op);
}
