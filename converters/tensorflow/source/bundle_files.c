/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/bundle_files.h"

static const struct wire_schema entry_schema = {.what = "an entry of a checkpoint", .form = "TensorFlow's form"};

odlc_status bundle_open_file(struct bundle *b, const char *path, const char *hint, const struct file **out)
{
    struct file *file;
    TRY(model_folder_map(b->folder, b->arena, b->diags, path, hint, &file));
    vec_push(b->arena, &b->paths, file->path);
    *out = file;
    return ODLC_OK;
}

odlc_status bundle_open_value(struct bundle *b, const struct table_entry *from, const char *key,
                              const ProtobufCMessageDescriptor *message, struct file *out)
{
    struct diags found; /* with offsets in the value, which tell nobody anything: the key does */
    *out = (struct file){.path = b->index->path, .fd = -1, .data = from->value, .size = from->value_size};
    diags_init(&found, b->arena);
    odlc_status status = wire_check(&found, out, &entry_schema, message);
    if (status == ODLC_OK)
        return ODLC_OK;
    return diag_error(b->diags, status, AT(.file = b->index->path, .hint = BUNDLE_DAMAGED), "checkpoint-entry",
                      "the entry '%s' is broken: %s", key, found.list.data[0].message);
}
