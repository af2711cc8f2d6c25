/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/error_out.h"

#include <math.h>

const char *error_decibels(struct arena *arena, const struct quant_error *e)
{
    const double sqnr = quant_error_sqnr(e);
    if (!e->count)
        return "";
    return isinf(sqnr) ? sqnr > 0 ? "exact" : "-inf" : arena_printf(arena, "%.1f", sqnr);
}

void error_json(struct json_out *j, const char *key, const struct quant_error *e)
{
    if (!e->count)
        return;
    json_object_inline(j, key);
    json_double(j, "sqnr", quant_error_sqnr(e));
    json_double(j, "cosine", quant_error_cosine(e));
    json_double(j, "max_error", e->most);
    json_double(j, "signal", e->signal);
    json_double(j, "noise", e->noise);
    if (e->odd)
        json_uint(j, "not_finite", e->odd);
    json_end_object(j);
}
