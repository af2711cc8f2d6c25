/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of a bundle: what the index says of a tensor, and the bytes that it leads to. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_ENTRY_H
#define CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_ENTRY_H

#include "converters/tensorflow/source/bundle_files.h"
#include "ir/view.h"

/* Fields of BundleEntryProto. */
enum {
    BUNDLE_DTYPE = 1,
    BUNDLE_SHAPE = 2,
    BUNDLE_SHARD = 3,
    BUNDLE_OFFSET = 4,
    BUNDLE_SIZE = 5,
    BUNDLE_CRC = 6,
    BUNDLE_SLICE = 7
};

/* A BundleEntryProto. */
struct bundle_entry {
    const char *key;     /* as the user knows it */
    struct file message; /* the entry's bytes in the index, to be read with wire.h */
    enum dtype dtype;
    struct shape shape;
    int64_t shard, offset, size;
    uint32_t crc;
    size_t n_slices;
};

/* Reads what a table entry says and checks it as far as the index goes. key is for diagnostics. */
odlc_status bundle_read_entry(struct bundle *b, const struct table_entry *from, const char *key,
                              struct bundle_entry *out) MUST_USE;
/* The shard in which the bytes of an entry are, which are checked to be there. */
odlc_status bundle_locate(struct bundle *b, const struct bundle_entry *e, const struct file **shard) MUST_USE;
/* The view of an entry without slices; its bytes have the right CRC. */
odlc_status bundle_load(struct bundle *b, const struct bundle_entry *e, struct view *out) MUST_USE;
/* The one string of an entry. */
odlc_status bundle_load_bytes(struct bundle *b, const struct bundle_entry *e, struct file *out) MUST_USE;

#endif
