/* SPDX-License-Identifier: Apache-2.0 */
/* Squares of 4-byte elements in the wide registers of x86-64 processors. A square of 16 reads and writes whole cache
 * lines: lines of both sides are often a power of two apart, of which a cache keeps few, so that what is touched in
 * parts is fetched for each of them. */
#include "ir/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET_512 __attribute__((target("avx512f")))
#define TARGET_256 __attribute__((target("avx2")))

bool lanes_have_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

bool lanes_have_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

/* Pairs of 64 bits: the lower (upper) ones of each 128 bits of both. */
TARGET_512 static inline __m512 lower_pairs_512(__m512 a, __m512 b)
{
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

TARGET_512 static inline __m512 upper_pairs_512(__m512 a, __m512 b)
{
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

/* Each 4 × 4 square inside is transposed, then the squares are. */
TARGET_512 static inline void square_512(const struct lanes *l, int64_t k, int64_t lane)
{
    enum { ROWS = 16, EVEN = 0x88, ODD = 0xdd };
    const uint8_t *source = l->source + lane * l->step + k * 4;
    __m512 a[ROWS], b[ROWS];
    for (int i = 0; i < ROWS; i++)
        a[i] = _mm512_loadu_ps(source + i * l->step);
    for (int i = 0; i < ROWS; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < ROWS; i += 4) {
        a[i] = lower_pairs_512(b[i], b[i + 2]);
        a[i + 1] = upper_pairs_512(b[i], b[i + 2]);
        a[i + 2] = lower_pairs_512(b[i + 1], b[i + 3]);
        a[i + 3] = upper_pairs_512(b[i + 1], b[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        b[i] = _mm512_shuffle_f32x4(a[i], a[4 + i], EVEN);
        b[4 + i] = _mm512_shuffle_f32x4(a[i], a[4 + i], ODD);
        b[8 + i] = _mm512_shuffle_f32x4(a[8 + i], a[12 + i], EVEN);
        b[12 + i] = _mm512_shuffle_f32x4(a[8 + i], a[12 + i], ODD);
    }
    uint8_t *out = l->out + lane * 4;
    for (int i = 0; i < 8; i++) {
        _mm512_storeu_ps(out + l->places[k + i], _mm512_shuffle_f32x4(b[i], b[8 + i], EVEN));
        _mm512_storeu_ps(out + l->places[k + 8 + i], _mm512_shuffle_f32x4(b[i], b[8 + i], ODD));
    }
}

TARGET_256 static inline void square_256(const struct lanes *l, int64_t k, int64_t lane)
{
    enum { ROWS = 8, LOWER = 0x44, UPPER = 0xee, BOTH_LOWER = 0x20, BOTH_UPPER = 0x31 };
    const uint8_t *source = l->source + lane * l->step + k * 4;
    __m256 a[ROWS], b[ROWS];
    for (int i = 0; i < ROWS; i++)
        a[i] = _mm256_loadu_ps((const float *)(const void *)(source + i * l->step));
    for (int i = 0; i < ROWS; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < ROWS; i += 4) {
        a[i] = _mm256_shuffle_ps(b[i], b[i + 2], LOWER);
        a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], UPPER);
        a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], LOWER);
        a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], UPPER);
    }
    uint8_t *out = l->out + lane * 4;
    for (int i = 0; i < 4; i++) {
        float *first = (float *)(void *)(out + l->places[k + i]);
        float *second = (float *)(void *)(out + l->places[k + 4 + i]);
        _mm256_storeu_ps(first, _mm256_permute2f128_ps(a[i], a[4 + i], BOTH_LOWER));
        _mm256_storeu_ps(second, _mm256_permute2f128_ps(a[i], a[4 + i], BOTH_UPPER));
    }
}

/* What the squares leave: the ends of runs whose lanes they cover, then whole lanes. */
static void move_rest(const struct lanes *l, lanes_fn *rest, int64_t n, int64_t count)
{
    struct lanes ends = *l, lanes = *l;
    ends.source += n * 4;
    ends.places += n;
    ends.n -= n;
    ends.count = count;
    lanes.source += count * l->step;
    lanes.out += count * 4;
    lanes.count -= count;
    rest(&ends);
    rest(&lanes);
}

TARGET_512 void lanes_avx512_4(const struct lanes *l, lanes_fn *rest)
{
    enum { ROWS = 16 };
    int64_t n = l->n / ROWS * ROWS, count = l->count / ROWS * ROWS;
    for (int64_t lane = 0; lane < count; lane += ROWS)
        for (int64_t k = 0; k < n; k += ROWS)
            square_512(l, k, lane);
    move_rest(l, rest, n, count);
}

/* Squares that fill a cache line of both sides follow one another. */
TARGET_256 void lanes_avx2_4(const struct lanes *l, lanes_fn *rest)
{
    enum { ROWS = 8, LINE = 16 };
    int64_t n = l->n / LINE * LINE, count = l->count / LINE * LINE;
    for (int64_t lane = 0; lane < count; lane += LINE) {
        for (int64_t k = 0; k < n; k += ROWS) {
            square_256(l, k, lane);
            square_256(l, k, lane + ROWS);
        }
    }
    move_rest(l, rest, n, count);
}

#else

bool lanes_have_avx512(void)
{
    return false;
}

bool lanes_have_avx2(void)
{
    return false;
}

void lanes_avx512_4(const struct lanes *l, lanes_fn *rest)
{
    rest(l);
}

void lanes_avx2_4(const struct lanes *l, lanes_fn *rest)
{
    rest(l);
}

#endif
