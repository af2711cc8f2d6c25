/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/unknown_name.h"

odlc_status unknown_name(struct diags *diags, const char *path, const struct unknown_name *u)
{
    enum { NAMES_SHOWN = 20 };
    const char *nearest = nearest_word(u->name, u->known, u->n_known);
    text hint = {0};
    if (nearest)
        text_add(diags->arena, &hint, "did you mean %s? ", nearest);
    text_add(diags->arena, &hint, "the %s are: %s", u->listed_as, u->n_known ? "" : "none");
    for (size_t i = 0; i < u->n_known && i < NAMES_SHOWN; i++)
        text_add(diags->arena, &hint, "%s%s", i ? ", " : "", u->known[i]);
    if (u->n_known > NAMES_SHOWN)
        text_add(diags->arena, &hint, ", … (%zu in all)", u->n_known);
    odlc_status status = u->status == ODLC_OK ? ODLC_ERR_USAGE : u->status;
    return diag_error(diags, status, AT(.file = path, .hint = hint.data), u->code, "%s %s", u->message, u->name);
}
