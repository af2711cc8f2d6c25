/* SPDX-License-Identifier: Apache-2.0 */
/* The values of variables as TensorFlow saves them: a tensor bundle, also called a checkpoint of the second version.
 * PREFIX.index is a table (table.h) of the tensors' names and of where each is in the files PREFIX.data-SSSSS-of-NNNNN,
 * the shards. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_H
#define CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_H

#include "converters/frontend/model_folder.h"
#include "ir/view.h"

struct bundle;

/* Opens PREFIX.index and checks it; shards are opened when a tensor is asked for. The prefix begins with the folder's
 * path, and all files are opened through the folder. The bundle and all that it gives live as long as the arena, which
 * must not outlive the folder; errors of all functions go to diags. */
odlc_status bundle_open(struct arena *arena, struct diags *diags, struct model_folder *folder, const char *prefix,
                        struct bundle **out) MUST_USE;

/* The tensor of a key; *found is false, and nothing is reported, when there is none. The first time its bytes are read
 * through and compared with their CRC; afterwards the same view is given. A view is of the mapped shard, except those
 * of strings and of variables in several slices, which are put together in memory. An error when the shard is missing,
 * the tensor is damaged, or its type or rank is not supported. */
odlc_status bundle_find(struct bundle *b, const char *key, bool *found, struct view *out) MUST_USE;

/* The one string of a tensor, which may hold any bytes, such as a message. *out is not to be destroyed: its data is a
 * part of the shard, its path the shard's, and it has no descriptor of its own. */
odlc_status bundle_find_bytes(struct bundle *b, const char *key, bool *found, struct file *out) MUST_USE;

/* The keys, sorted, NUL-terminated. */
const char *const *bundle_keys(const struct bundle *b, size_t *count);

/* Paths of the files that were opened so far: the index, then shards. Valid until another tensor is asked for. */
const char *const *bundle_files(const struct bundle *b, size_t *count);

#endif
