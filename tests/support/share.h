/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of many cases try a part of them, and all with ODLC_LONG=1, as share_of of checks.py does for scripts. */
#ifndef OPENDLC_TESTS_SHARE_H
#define OPENDLC_TESTS_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool tries_all(void)
{
    const char *text = getenv("ODLC_LONG");
    return text && strcmp(text, "1") == 0;
}

/* Says what is left to ODLC_LONG=1; scripts/count-tests.py adds the lines up. */
static inline void leave_out(uint64_t count, uint64_t total, const char *what)
{
    if (!tries_all())
        printf("left out: %llu of %llu %s\n", (unsigned long long)count, (unsigned long long)total, what);
}

/* How many of all cases are tried. */
static inline uint64_t share_of(uint64_t usual, uint64_t all, const char *what)
{
    leave_out(all - usual, all, what);
    return tries_all() ? all : usual;
}

#endif
