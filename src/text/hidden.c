/* SPDX-License-Identifier: Apache-2.0 */
#include "text/hidden.h"

#include <stdint.h>
#include <stdio.h>

struct span {
    uint32_t first, last;
};

/* Controls, marks of direction, characters without width, ends of lines. */
static const struct span hidden[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160},
    {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF},
};

static bool is_hidden(uint32_t code)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

/* The character and its length; 0 where the bytes are no UTF-8 (also longer forms than needed, and surrogates). */
static size_t decode(const unsigned char *p, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80 ? 1 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : 4;
    if (length > left || (length == 4 && (p[0] & 0xF8) != 0xF0) || (p[0] >= 0x80 && p[0] < 0xC2))
        return 0;
    *code = length == 1 ? p[0] : p[0] & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3F);
    }
    bool valid = *code >= least[length] && *code <= 0x10FFFF && !(*code >= 0xD800 && *code <= 0xDFFF);
    return valid ? length : 0;
}

size_t hidden_escape(const char *text, size_t left, char escape[HIDDEN_ESCAPE])
{
    uint32_t code = 0;
    const unsigned char *p = (const unsigned char *)text;
    size_t length = decode(p, left, &code);
    escape[0] = '\0';
    if (length == 0)
        snprintf(escape, HIDDEN_ESCAPE, "\\x%02x", p[0]);
    else if (is_hidden(code))
        snprintf(escape, HIDDEN_ESCAPE,
                 length == 1     ? "\\x%02x"
                 : code > 0xFFFF ? "\\U%08x"
                                 : "\\u%04x",
                 (unsigned)code);
    return length ? length : 1;
}

static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7F;
}

bool hidden_anywhere(const char *text, size_t length)
{
    char escape[HIDDEN_ESCAPE];
    for (size_t i = 0; i < length;) {
        if (is_plain(text[i])) { /* as most are */
            i++;
            continue;
        }
        i += hidden_escape(text + i, length - i, escape);
        if (*escape)
            return true;
    }
    return false;
}
