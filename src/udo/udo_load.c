/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of either form, told apart by what is in them. */
#include "base/file.h"
#include "base/file_kind.h"
#include "udo/udo.h"
#include "udo/xml.h"

odlc_status udo_parse(struct udo_set *set, const char *path, const char *text, size_t size)
{
    if (xml_recognise(text, size))
        return udo_parse_xml(set, path, text, size);
    const char *other = file_kind_hint(set->arena, (const uint8_t *)text, size, "a JSON file", NULL);
    if (other)
        return diag_error(set->diags, ODLC_ERR_INVALID, AT(.file = path, .hint = other), "udo-no-config",
                          "not a config of user-defined ops: neither JSON nor XML");
    return udo_parse_json(set, path, text, size);
}

odlc_status udo_load(struct udo_set *set, const char *path)
{
    struct file *file;
    TRY(file_map(set->arena, set->diags, path, &file));
    return udo_parse(set, path, (const char *)file->data, file->size);
}
