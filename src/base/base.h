/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all files: status forwarding, checked arithmetic, small macros. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opendlc/status.h"

#define MUST_USE ODLC_MUST_USE
#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args), nonnull(fmt)))
#else
#define PRINTF_LIKE(fmt, args)
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A loop that is compiled for several kinds of processors, of which the program takes the best at its start. Elements
 * are added and multiplied in the same order on all of them, so the results are the same bits. Names of such functions
 * are unique in the program: clang 14 gives them to symbols that all files see. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONED
#endif

/* Forwards a failure to the caller; the first cause is kept because nothing touches it on the way. */
#define TRY(expr)                         \
    do {                                  \
        odlc_status try_status_ = (expr); \
        if (try_status_ != ODLC_OK)       \
            return try_status_;           \
    } while (0)

/* *out = a op b; true when the result does not fit (the meaning of C23's <stdckdint.h>). */
#define ckd_add(out, a, b) __builtin_add_overflow(a, b, out)
#define ckd_sub(out, a, b) __builtin_sub_overflow(a, b, out)
#define ckd_mul(out, a, b) __builtin_mul_overflow(a, b, out)

/* Saturating arithmetic for sizes from untrusted files: a result that does not fit is the largest number. */
static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return ckd_add(&sum, a, b) ? UINT64_MAX : sum;
}

static inline uint64_t sat_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return ckd_mul(&product, a, b) ? UINT64_MAX : product;
}

static inline uint64_t align_up(uint64_t n, uint64_t alignment)
{
    return (n + alignment - 1) / alignment * alignment;
}

/* a / b, rounded up; b is positive, a + b fits. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
