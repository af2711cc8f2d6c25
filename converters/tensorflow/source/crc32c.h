/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 with Castagnoli's polynomial, which guards checkpoints. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_CRC32C_H
#define CONVERTERS_TENSORFLOW_SOURCE_CRC32C_H

#include "base/base.h"

/* The CRC of what `crc` stands for, followed by bytes. That of nothing is 0. */
uint32_t crc32c_add(uint32_t crc, const void *bytes, uint64_t size);
/* How a CRC is stored among the bytes that it guards: a CRC of bytes that hold CRCs would be weak. */
uint32_t crc32c_mask(uint32_t crc);

#endif
