/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a bundle, and what all parts of its reader share. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_FILES_H
#define CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_FILES_H

#include "base/map.h"
#include "converters/frontend/model_folder.h"
#include "converters/frontend/wire.h"
#include "converters/tensorflow/source/sorted_table.h"

#define BUNDLE_DAMAGED "the checkpoint is damaged or its files are not of one save: copy or save it again"

struct bundle {
    struct arena *arena;
    struct diags *diags;
    struct model_folder *folder;
    const char *prefix;
    const struct file *index;
    struct table table;
    uint32_t n_shards;
    struct map shard_index; /* path of a shard → shards */
    VEC(const struct file *) shards;
    uint64_t shard_bytes, loaded_bytes; /* of the shards, and of all tensors that were read from them */
    VEC(const char *) paths;            /* of the index and the shards */
    VEC(const char *) keys;
    const struct view **views; /* of each entry of the table; NULL: not asked for so far */
};

/* Maps a file of the bundle and lists it. */
odlc_status bundle_open_file(struct bundle *b, const char *path, const char *hint, const struct file **out) MUST_USE;
/* The bytes of a table's value, checked to be such a message, as a file that wire.h reads. */
odlc_status bundle_open_value(struct bundle *b, const struct table_entry *from, const char *key,
                              const ProtobufCMessageDescriptor *message, struct file *out) MUST_USE;

#endif
