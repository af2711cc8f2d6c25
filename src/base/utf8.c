/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

unsigned utf8_encode(uint32_t character, char out[4])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    unsigned length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (unsigned i = length - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(0xf0 << (4 - length) | character);
    return length;
}
