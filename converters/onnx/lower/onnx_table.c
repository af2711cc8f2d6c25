/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/lower/onnx_table.h"

#include <string.h>

#include "converters/onnx/lower/onnx_rows.h"

static const struct lower_row rows[] = {
#define ONNX_ROW(domain, op, lo, hi, fn, arg) {domain, op, lo, hi, fn, arg},
#include "converters/onnx/lower/onnx_rows.def"
#undef ONNX_ROW
};
const struct lower_table onnx_table = {rows, COUNT_OF(rows)};

const char *onnx_refusal(const char *domain, const char *op)
{
    static const struct {
        const char *domain, *op, *reason;
    } refusals[] = {
#define ONNX_REFUSAL(domain, op, reason) {domain, op, reason},
#include "converters/onnx/lower/onnx_refusals.def"
#undef ONNX_REFUSAL
    };
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        if (strcmp(refusals[i].domain, domain) == 0 && strcmp(refusals[i].op, op) == 0)
            return refusals[i].reason;
    return NULL;
}

bool onnx_takes_strings(const char *domain, const char *op)
{
    static const char ops[] =
        " Cast CastLike CenterCropPad Col2Im Compress Concat DepthToSpace Equal Expand Flatten Gather "
        "GatherElements GatherND GridSample Identity If Loop NonZero OneHot Optional OptionalGetElement "
        "OptionalHasElement Pad Reshape Resize ReverseSequence Scan Scatter ScatterElements ScatterND "
        "SequenceConstruct SequenceInsert SequenceMap Shape Size Slice SpaceToDepth Split SplitToSequence "
        "Squeeze TensorScatter TfIdfVectorizer Tile Transpose Trilu Unique Unsqueeze Upsample Where ";
    return !*domain && fw_is_one_of(ops, op);
}
