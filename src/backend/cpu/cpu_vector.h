/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of AVX-512 that become bytes: quotients in float32 are rounded to integers, and those so near to the middle
 * between two integers that the formula's quotient may be on the other side of it are told, for the formula itself. */
#ifndef BACKEND_CPU_CPU_VECTOR_H
#define BACKEND_CPU_CPU_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define VECTORS __attribute__((target("avx512bw")))
#define VECTORS_INLINE __attribute__((target("avx512bw"), always_inline)) static inline

enum { LANES = 16, QUAD = 4 * LANES };

/* Elements from i on of which some are unsure. */
struct unsure {
    int64_t i;
    uint64_t lanes; /* 0: none is */
};

static inline bool has_vectors(void)
{
    return __builtin_cpu_supports("avx512bw");
}

/* The integers next to quotients; those that are not surely theirs, or are no int32, are unsure. */
VECTORS_INLINE __m512i vector_round(__m512 quotient, __m512 sure, __mmask16 *unsure)
{
    const __m512i whole = _mm512_cvtps_epi32(quotient);
    const __m512 rest = _mm512_abs_ps(_mm512_sub_ps(quotient, _mm512_cvtepi32_ps(whole)));
    *unsure = _mm512_cmp_ps_mask(rest, sure, _CMP_NLT_UQ);
    return whole;
}

/* Saturates the integers of a QUAD. */
VECTORS_INLINE void vector_store(const __m512i v[4], bool is_signed, uint8_t *to)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i lower = _mm512_packs_epi32(v[0], v[1]), upper = _mm512_packs_epi32(v[2], v[3]);
    const __m512i bytes = is_signed ? _mm512_packs_epi16(lower, upper) : _mm512_packus_epi16(lower, upper);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, bytes));
}

VECTORS_INLINE uint64_t vector_lanes(const __mmask16 unsure[4])
{
    return unsure[0] | (uint64_t)unsure[1] << 16 | (uint64_t)unsure[2] << 32 | (uint64_t)unsure[3] << 48;
}
#endif

#endif
