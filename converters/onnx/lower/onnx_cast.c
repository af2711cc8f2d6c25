/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Cast and CastLike. */
#include <string.h>

#include "converters/lowering/casts.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* Before opset 6 a type is named as the specification of tensors names its element types. */
static odlc_status read_type(const struct lower *l, enum dtype *out)
{
    static const char *const names[] = {"FLOAT",  "UINT8",  "INT8",   "UINT16",    "INT16",
                                        "INT32",  "INT64",  "STRING", "BOOL",      "FLOAT16",
                                        "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"}; /* of codes 1, 2, … */
    const char *name;
    if (l->version >= 6)
        return lower_attr_dtype(l, "to", DT_NONE, out);
    TRY(lower_attr_string(l, "to", "", &name));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return lower_dtype(l, "to", (int64_t)i + 1, out);
    return lower_invalid(l, "to", NULL, "\"%s\" is not a type", name);
}

odlc_status lower_cast(struct lower *l)
{
    tensor_id x;
    enum dtype to;
    int64_t saturates;
    TRY(lower_need(l, 0, "input", &x));
    TRY(read_type(l, &to));
    TRY(lower_attr_int(l, "saturate", 1, &saturates));
    return lower_cast_to(l, x, "to", to, saturates);
}

odlc_status lower_cast_like(struct lower *l)
{
    tensor_id x, like;
    int64_t saturates;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_need(l, 1, "target_type", &like));
    TRY(lower_attr_int(l, "saturate", 1, &saturates));
    return lower_cast_to(l, x, "to", build_type(l->b, like)->dtype, saturates);
}
