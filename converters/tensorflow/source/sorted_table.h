/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted table of keys and values in the form of LevelDB: blocks of entries whose keys leave out what they share with
 * the key before, each block guarded by a CRC and perhaps compressed, and a block that says where the others are. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_SORTED_TABLE_H
#define CONVERTERS_TENSORFLOW_SOURCE_SORTED_TABLE_H

#include "base/file.h"

struct table_entry {
    const char *key; /* any bytes, and a NUL behind them */
    size_t key_size;
    const uint8_t *value; /* in the mapped file, or in memory when its block was compressed */
    size_t value_size;
};

struct table {
    struct table_entry *entries; /* sorted by the bytes of their keys, each key once */
    size_t count;
};

/* Reads and checks the whole table. Entries live as long as the arena, which must not outlive the file. Anything that
 * is damaged is an error (ODLC_ERR_INVALID) with the offset in the file; memory is of the order of the file's size. */
odlc_status table_read(struct arena *arena, struct diags *diags, const struct file *file, struct table *out) MUST_USE;

/* NULL when there is none. */
const struct table_entry *table_find(const struct table *table, const void *key, size_t size);

#endif
