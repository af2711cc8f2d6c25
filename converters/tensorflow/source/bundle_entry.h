/* What the parts of the bundle reader share. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_ENTRY_H
#define CONVERTERS_TENSORFLOW_SOURCE_BUNDLE_ENTRY_H

#include "base/map.h"
#include "converters/tensorflow/source/bundle.h"
#include "converters/tensorflow/source/sorted_table.h"
#include "converters/frontend/wire.h"

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

/* Maps a file of the bundle and lists it. */
odlc_status bundle_open_file(struct bundle *b, const char *path, const char *hint, const struct file **out) MUST_USE;
/* The bytes of a table's value, checked to be such a message, as a file that wire.h reads. */
odlc_status bundle_open_value(struct bundle *b, const struct table_entry *from, const char *key,
                              const ProtobufCMessageDescriptor *message, struct file *out) MUST_USE;

/* Reads what a table entry says and checks it as far as the index goes. key is for diagnostics. */
odlc_status bundle_read_entry(struct bundle *b, const struct table_entry *from, const char *key,
                              struct bundle_entry *out) MUST_USE;
/* The shard in which the bytes of an entry are, which are checked to be there. */
odlc_status bundle_locate(struct bundle *b, const struct bundle_entry *e, const struct file **shard) MUST_USE;
/* The view of an entry without slices; its bytes have the right CRC. */
odlc_status bundle_load(struct bundle *b, const struct bundle_entry *e, struct view *out) MUST_USE;
/* The one string of an entry. */
odlc_status bundle_load_bytes(struct bundle *b, const struct bundle_entry *e, struct file *out) MUST_USE;
/* The view of an entry with slices, which are entries of their own. */
odlc_status bundle_load_slices(struct bundle *b, const struct bundle_entry *e, struct view *out) MUST_USE;

#endif
