/* SPDX-License-Identifier: Apache-2.0 */
/* What a zip's entries are unpacked and checked by. */
#ifndef DLC_UNPACK_H
#define DLC_UNPACK_H

#include "base/arena.h"

/* Inflates raw deflate data into `out`. False: the data are damaged, or are not `size` bytes. */
bool inflate_all(struct arena *arena, const uint8_t *packed, uint64_t packed_size, uint8_t *out, uint64_t size);

/* The CRC-32 of zips of bytes that follow others, whose CRC is the first argument; 0 for the first bytes. */
uint32_t crc_of_more(uint32_t crc, const void *bytes, uint64_t size);

#endif
