/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and characters of texts as the "C" locale has them, whatever locale the process has chosen: a library must
 * not read or write "0,5" because its host speaks German. */
#ifndef BASE_C_LOCALE_H
#define BASE_C_LOCALE_H

#include <stdarg.h>

#include "base/base.h"

/* strtod and vsnprintf. */
double c_strtod(const char *text, char **end);
int c_vsnprintf(char *buffer, size_t size, const char *format, va_list args) PRINTF_LIKE(3, 0);

static inline bool c_isspace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool c_isdigit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool c_isupper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool c_isalpha(char c)
{
    return c_isupper(c) || (c >= 'a' && c <= 'z');
}

static inline char c_tolower(char c)
{
    return c_isupper(c) ? (char)(c - 'A' + 'a') : c;
}

#endif
