/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of either form, told apart by what is in them. */
#include "base/file.h"
#include "udo/udo.h"
#include "udo/xml.h"

odlc_status udo_parse(struct udo_set *set, const char *path, const char *text, size_t size)
{
    return xml_recognise(text, size) ? udo_parse_xml(set, path, text, size) : udo_parse_json(set, path, text, size);
}

odlc_status udo_load(struct udo_set *set, const char *path)
{
    struct file *file;
    TRY(file_map(set->arena, set->diags, path, &file));
    return udo_parse(set, path, (const char *)file->data, file->size);
}
