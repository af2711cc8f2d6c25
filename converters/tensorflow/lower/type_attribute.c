/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/type_attribute.h"

#include "converters/tensorflow/schema/tf_types.h"

odlc_status lower_tf_dtype(const struct lower *l, const char *name, enum dtype absent, enum dtype *out)
{
    int64_t code;
    TRY(lower_attr_int(l, name, 0, &code));
    bool given = lower_has_attr(l, name);
    if (!given && absent == DT_NONE)
        return lower_invalid(l, name, NULL, "attribute %s is missing", name);
    *out = given ? tf_dtype(code) : absent;
    if (*out == DT_NONE)
        return lower_unsupported(l, name, NULL, "the type %s is not supported", tf_dtype_name(code));
    return ODLC_OK;
}
