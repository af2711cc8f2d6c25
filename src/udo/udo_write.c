/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/udo_write.h"

/* A text that is refused would be found by the next tool only. */
static odlc_status read_back(struct udo_writer *w)
{
    struct diags diags;
    struct udo_set set;
    diags_init(&diags, w->arena);
    udo_set_init(&set, w->arena, &diags, op_registry_new(w->arena));
    odlc_status status = udo_parse(&set, "the written text", w->out.data, w->out.count);
    if (status == ODLC_OK && set.defs.count == w->set->defs.count)
        return ODLC_OK;
    for (size_t i = 0; i < diags.list.count; i++)
        if (diags.list.data[i].severity == ODLC_ERROR)
            return diag_error(w->diags, ODLC_ERR_UNSUPPORTED, AT(.hint = diags.list.data[i].excerpt),
                              "udo-cannot-write", "the written text could not be read again: %s",
                              diags.list.data[i].message);
    return diag_error(w->diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "udo-cannot-write",
                      "the written text does not hold all %zu definitions", w->set->defs.count);
}

odlc_status udo_write(struct udo_set *set, enum udo_form form, text *out)
{
    struct udo_writer w = {.arena = set->arena, .diags = set->diags, .set = set};
    if (!set->defs.count)
        return diag_error(set->diags, ODLC_ERR_INVALID, AT(.file = NULL), "udo-no-operands",
                          "there is no definition to write");
    if (form == UDO_JSON)
        udo_write_json(&w);
    else
        udo_write_xml(&w);
    if (w.errors)
        return ODLC_ERR_UNSUPPORTED;
    TRY(read_back(&w));
    *out = w.out;
    return ODLC_OK;
}
