/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX BitShift and BitCast. */
#include <string.h>

#include "converters/lowering/bitwise.h"
#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/onnx_rows.h"

odlc_status lower_bit_shift(struct lower *l)
{
    const char *direction;
    tensor_id x, y;
    TRY(lower_need(l, 0, "A", &x));
    TRY(lower_need(l, 1, "B", &y));
    TRY(lower_attr_string(l, "direction", "", &direction));
    bool left = strcmp(direction, "LEFT") == 0;
    if (!left && strcmp(direction, "RIGHT") != 0)
        return lower_invalid(l, "direction", "it is LEFT or RIGHT", "direction \"%s\" is not known", direction);
    return lower_shift(l, x, y, left);
}

static odlc_status bit_cast_target(const struct lower *l, enum dtype *to)
{
    int64_t code;
    const char *name = NULL;
    TRY(lower_attr_int(l, "to", -1, &code));
    odlc_status status = onnx_dtype(code, to, &name);
    if (status == ODLC_ERR_UNSUPPORTED)
        return lower_unsupported(l, "to", NULL, "the type %s is not supported", name);
    if (status != ODLC_OK || *to == DT_STRING)
        return lower_invalid(l, "to", NULL, "%lld is not a type of numbers", (long long)code);
    return ODLC_OK;
}

odlc_status lower_bit_cast(struct lower *l)
{
    tensor_id x;
    enum dtype to = DT_NONE;
    TRY(lower_need(l, 0, "input", &x));
    TRY(bit_cast_target(l, &to));
    return lower_bit_cast_to(l, x, "to", to);
}
