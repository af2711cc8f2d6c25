/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed hash: whoever does not know the key cannot make keys of a table collide on purpose. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/base.h"

/* SipHash-1-3 of size bytes. */
uint64_t hash_bytes(const uint64_t key[2], const void *bytes, size_t size);

#endif
