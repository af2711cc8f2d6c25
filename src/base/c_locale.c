/* SPDX-License-Identifier: Apache-2.0 */
#include "base/c_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* The C libraries of Linux have this locale ready: nothing is allocated, and freeing it has no effect. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double c_strtod(const char *text, char **end)
{
    locale_t c = c_locale();
    double value = strtod_l(text, end, c);
    freelocale(c);
    return value;
}

int c_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
{
    locale_t c = c_locale(), hosts = uselocale(c);
    int length = vsnprintf(buffer, size, format, args);
    uselocale(hosts);
    freelocale(c);
    return length;
}
