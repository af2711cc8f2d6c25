/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_half.h"

#include "backend/cpu/cpu_threads.h"
#include "ir/view.h"

/* Fewer elements are not worth another thread. */
enum { LEAST_ELEMENTS = 1 << 14 };

struct halves {
    const void *from;
    void *to;
};

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

/* clang 14 knows no "f16c" as a feature to ask for. */
static int has_conversion(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* Gives the number of elements that were converted: whole vectors. */
__attribute__((target("avx2,f16c"))) static int64_t widen_vectors(const uint16_t *from, float *to, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
    return i;
}

__attribute__((target("avx2,f16c"))) static int64_t narrow_vectors(const float *from, uint16_t *to, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
#else
static int has_conversion(void)
{
    return 0;
}

static int64_t widen_vectors(const uint16_t *from, float *to, int64_t count)
{
    (void)from, (void)to, (void)count;
    return 0;
}

static int64_t narrow_vectors(const float *from, uint16_t *to, int64_t count)
{
    (void)from, (void)to, (void)count;
    return 0;
}
#endif

static void widen_part(void *user, int64_t first, int64_t last)
{
    const struct halves *h = user;
    const uint16_t *from = (const uint16_t *)h->from + first;
    float *to = (float *)h->to + first;
    const int64_t done = has_conversion() ? widen_vectors(from, to, last - first) : 0;
    convert_elements(to + done, DT_FLOAT32, from + done, DT_FLOAT16, (size_t)(last - first - done));
}

static void narrow_part(void *user, int64_t first, int64_t last)
{
    const struct halves *h = user;
    const float *from = (const float *)h->from + first;
    uint16_t *to = (uint16_t *)h->to + first;
    const int64_t done = has_conversion() ? narrow_vectors(from, to, last - first) : 0;
    convert_elements(to + done, DT_FLOAT16, from + done, DT_FLOAT32, (size_t)(last - first - done));
}

void half_widen(const uint16_t *from, float *to, size_t count)
{
    threads_share((int64_t)count, LEAST_ELEMENTS, widen_part, &(struct halves){from, to});
}

void half_narrow(const float *from, uint16_t *to, size_t count)
{
    threads_share((int64_t)count, LEAST_ELEMENTS, narrow_part, &(struct halves){from, to});
}
