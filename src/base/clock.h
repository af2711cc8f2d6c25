/* SPDX-License-Identifier: Apache-2.0 */
/* Time that only goes on. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment of the past (CLOCK_MONOTONIC). */
static inline uint64_t clock_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline double clock_seconds(void)
{
    return (double)clock_nanoseconds() * 1e-9;
}

#endif
