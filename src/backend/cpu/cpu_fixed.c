/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_fixed.h"

#include <float.h>
#include <math.h>

#include "backend/cpu/cpu_threads.h"
#include "backend/cpu/cpu_vector.h"
#include "ir/view.h"

/* The types with their elements. */
#define FIXED_TYPES(row) row(UFXP8, uint8_t) row(SFXP8, int8_t) row(UFXP16, uint16_t) row(SFXP16, int16_t)

/* Fewer elements are not worth another thread. */
enum { LEAST_ELEMENTS = 1 << 14 };

struct fixed {
    const struct buffer *integers;
    float *reals; /* to, or from which */
    float scale;
    int32_t offset, low, high;
};

bool fixed_is_stored(enum dtype dtype)
{
#define IS(name, type) dtype == DT_##name ||
    return FIXED_TYPES(IS) false;
#undef IS
}

/* Scales that float32 has: a product with float32 is then rounded as the reference rounds the double's. */
bool fixed_is_taken(enum dtype dtype, const struct quant *quant)
{
    const struct encoding *e = quant && !quant->per_axis ? quant->encodings : NULL;
    return fixed_is_stored(dtype) && e && (double)(float)e->scale == e->scale && e->offset >= -UINT16_MAX &&
           e->offset <= UINT16_MAX;
}

static struct fixed fixed_of(const struct buffer *b, float *reals)
{
    int64_t low, high;
    const struct encoding *e = &b->quant->encodings[0];
    integer_range(b->dtype, &low, &high);
    return (struct fixed){b, reals, (float)e->scale, e->offset, (int32_t)low, (int32_t)high};
}

/* What is no number becomes the integer 0 before it is saturated, as where the reference converts it. */
#define LOOPS(dtype, type)                                                                                   \
    static CLONED void widen_##dtype(const struct fixed *f, int64_t first, int64_t last)                     \
    {                                                                                                        \
        const type *restrict q = f->integers->data;                                                          \
        float *restrict to = f->reals;                                                                       \
        const float scale = f->scale;                                                                        \
        const int32_t offset = f->offset;                                                                    \
        for (int64_t i = first; i < last; i++)                                                               \
            to[i] = (float)(q[i] + offset) * scale;                                                          \
    }                                                                                                        \
    static CLONED void narrow_##dtype(const struct fixed *f, int64_t first, int64_t last)                    \
    {                                                                                                        \
        const float *restrict from = f->reals;                                                               \
        type *restrict q = f->integers->data;                                                                \
        const float scale = f->scale, offset = (float)f->offset, low = (float)f->low, high = (float)f->high; \
        for (int64_t i = first; i < last; i++) {                                                             \
            float real = rintf(from[i] / scale) - offset;                                                    \
            real = real == real ? real : 0;                                                                  \
            real = real < low ? low : real;                                                                  \
            real = real > high ? high : real;                                                                \
            q[i] = (type)(int32_t)real;                                                                      \
        }                                                                                                    \
    }
FIXED_TYPES(LOOPS)

static void widen_part(void *user, int64_t first, int64_t last)
{
    const struct fixed *f = user;
    switch (f->integers->dtype) {
#define CASE(dtype, type)              \
    case DT_##dtype:                   \
        widen_##dtype(f, first, last); \
        break;
        FIXED_TYPES(CASE)
#undef CASE
    default:
        break;
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
/* QUADs from element i on, to the first unsure ones. What is no number is unsure. */
VECTORS static struct unsure narrow_vectors(const struct fixed *f, int64_t i, int64_t last, float quotient_sure)
{
    const __m512 factor = _mm512_set1_ps(1 / f->scale), term = _mm512_set1_ps(-(float)f->offset);
    const __m512 sure = _mm512_set1_ps(quotient_sure);
    for (; i + QUAD <= last; i += QUAD) {
        __m512i v[4];
        __mmask16 unsure[4];
        for (int k = 0; k < 4; k++) {
            const __m512 real = _mm512_loadu_ps(f->reals + i + k * LANES);
            v[k] = vector_round(_mm512_fmadd_ps(real, factor, term), sure, &unsure[k]);
        }
        vector_store(v, f->low < 0, (uint8_t *)f->integers->data + i);
        const uint64_t lanes = vector_lanes(unsure);
        if (lanes)
            return (struct unsure){i, lanes};
    }
    return (struct unsure){i, 0};
}

/* Bytes; gives where whole QUADs end. The quotient is rounded once by the definition, and three times here: each is at
 * most 2^-24 of what is 256 more than the offset at most, where the result is not saturated. */
static int64_t narrow_bytes(const struct fixed *f, int64_t first, int64_t last)
{
    const float sure = 0.5F - (256 + fabsf((float)f->offset)) * 0x1p-21F;
    struct unsure unsure = {.i = first};
    while (f->scale >= FLT_MIN && 1 / f->scale >= FLT_MIN && unsure.i + QUAD <= last) {
        unsure = narrow_vectors(f, unsure.i, last, sure);
        if (unsure.lanes) {
            (f->low < 0 ? narrow_SFXP8 : narrow_UFXP8)(f, unsure.i, unsure.i + QUAD);
            unsure.i += QUAD;
        }
    }
    return unsure.i;
}
#endif

static void narrow_part(void *user, int64_t first, int64_t last)
{
    const struct fixed *f = user;
#if defined(__x86_64__) && defined(__GNUC__)
    if (dtype_size(f->integers->dtype) == 1 && has_vectors())
        first = narrow_bytes(f, first, last);
#endif
    switch (f->integers->dtype) {
#define CASE(dtype, type)               \
    case DT_##dtype:                    \
        narrow_##dtype(f, first, last); \
        break;
        FIXED_TYPES(CASE)
#undef CASE
    default:
        break;
    }
}

void fixed_widen(const struct buffer *from, float *to)
{
    struct fixed f = fixed_of(from, to);
    threads_share((int64_t)shape_count(&from->shape), LEAST_ELEMENTS, widen_part, &f);
}

void fixed_narrow(const float *from, const struct buffer *to)
{
    struct fixed f = fixed_of(to, (float *)(uintptr_t)from);
    threads_share((int64_t)shape_count(&to->shape), LEAST_ELEMENTS, narrow_part, &f);
}
