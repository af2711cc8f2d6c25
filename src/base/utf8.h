/* SPDX-License-Identifier: Apache-2.0 */
/* Characters as the bytes of UTF-8. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/base.h"

/* Writes a character (at most U+10FFFF) and returns the number of its bytes. */
unsigned utf8_encode(uint32_t character, char out[4]);

#endif
