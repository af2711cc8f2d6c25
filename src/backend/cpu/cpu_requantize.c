/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_requantize.h"

#include <math.h>

#include "backend/cpu/cpu_threads.h"
#include "backend/cpu/cpu_vector.h"
#include "ir/view.h"

enum {
    BYTES = 256,             /* integers that a result can be */
    BLOCK = 256,             /* channels at once */
    WHOLE = 64,              /* of which rows together should be a multiple */
    MOST_REPEATED = 1024,    /* channels of rows together */
    LEAST_ELEMENTS = 1 << 14 /* fewer are not worth another thread */
};

/* How many rows of so many channels are rounded at once. */
static uint64_t rows_together(uint64_t channels)
{
    uint64_t rows = 1;
    while (rows * channels % WHOLE != 0 && 2 * rows * channels <= MOST_REPEATED)
        rows *= 2;
    return channels * rows < BLOCK ? BLOCK / channels : rows;
}

struct requantize requantize_make(const struct fixed_product *product, enum dtype dtype, int64_t groups,
                                  struct arena *arena)
{
    const uint64_t count = product->channels, rows = rows_together(count);
    float *factor = arena_array(arena, float, count *rows), *term = arena_array(arena, float, count *rows);
    float *sure = arena_array(arena, float, count *rows);
    double *scale = arena_array(arena, double, count *rows), *bias = arena_array(arena, double, count *rows);
    const double y = product->result->encodings[0].scale, offset = product->result->encodings[0].offset;
    for (uint64_t i = 0; i < count * rows; i++) {
        const uint64_t c = i % count;
        scale[i] = fixed_product_weight(product, c)->scale;
        bias[i] = product->bias ? product->bias[c] : 0;
        factor[i] = (float)(product->x_scale * scale[i] / y);
        term[i] = (float)(bias[i] / y - offset);
        sure[i] = (float)(0.5 - (BYTES + fabs(bias[i] / y - offset)) * 0x1.04p-22);
    }
    struct requantize r = {.product = *product,
                           .size = dtype_size(dtype),
                           .groups = groups,
                           .channels = (int64_t)count / groups,
                           .pitch = (int64_t)count / groups,
                           .rows = (int64_t)rows,
                           .factor = factor,
                           .term = term,
                           .sure = sure,
                           .scale = scale,
                           .bias = bias};
    integer_range(dtype, &r.low, &r.high);
    return r;
}

/* Up to BLOCK channels of a row, from channel `first` on. */
struct part {
    const struct requantize *r;
    int64_t first, count;
    const int32_t *sums;
    void *to;  /* the first one's element of the result */
    bool adds; /* the constant and the factor of `last` to the sums */
    int32_t last;
};

/* ---- vectors ---- */

#if defined(__x86_64__) && defined(__GNUC__)
/* One vector of sums as integers, before they are saturated, and which of them are unsure. */
VECTORS_INLINE __m512i round_vector(const struct part *p, int64_t i, __mmask16 all, bool constant, bool factors,
                                    __mmask16 *unsure)
{
    const struct requantize *r = p->r;
    const int64_t channel = p->first + i;
    __m512i sum = _mm512_maskz_loadu_epi32(all, p->sums + i);
    if (constant)
        sum = _mm512_add_epi32(sum, _mm512_maskz_loadu_epi32(all, r->constant + channel));
    if (factors) {
        const __m512i factor = _mm512_maskz_loadu_epi32(all, r->last_factor + channel);
        sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(_mm512_set1_epi32(p->last), factor));
    }
    const __m512 quotient = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_maskz_loadu_ps(all, r->factor + channel),
                                            _mm512_maskz_loadu_ps(all, r->term + channel));
    const __m512i whole = vector_round(quotient, _mm512_maskz_loadu_ps(all, r->sure + channel), unsure);
    *unsure &= all;
    return whole;
}

/* In float32, from element i to the first unsure ones. */
VECTORS_INLINE struct unsure round_on(const struct part *p, int64_t i, bool constant, bool factors)
{
    const struct requantize *r = p->r;
    const bool is_signed = r->low < 0;
    const __m512i low = _mm512_set1_epi32((int32_t)r->low), high = _mm512_set1_epi32((int32_t)r->high);
    uint8_t *to = p->to;
    for (; i + QUAD <= p->count; i += QUAD) {
        __m512i v[4];
        __mmask16 unsure[4];
        for (int k = 0; k < 4; k++)
            v[k] = round_vector(p, i + k * LANES, UINT16_MAX, constant, factors, &unsure[k]);
        vector_store(v, is_signed, to + i);
        const uint64_t lanes = vector_lanes(unsure);
        if (lanes)
            return (struct unsure){i, lanes};
    }
    for (; i < p->count; i += LANES) {
        const int64_t left = p->count - i;
        const __mmask16 all = (__mmask16)(left < LANES ? (1U << left) - 1 : UINT16_MAX);
        __mmask16 unsure;
        const __m512i whole = round_vector(p, i, all, constant, factors, &unsure);
        _mm512_mask_cvtepi32_storeu_epi8(to + i, all, _mm512_max_epi32(_mm512_min_epi32(whole, high), low));
        if (unsure)
            return (struct unsure){i, unsure};
    }
    return (struct unsure){i, 0};
}

#define ROUND_ON(name, constant, factors)                              \
    VECTORS static struct unsure name(const struct part *p, int64_t i) \
    {                                                                  \
        return round_on(p, i, constant, factors);                      \
    }
ROUND_ON(round_sums, false, false)
ROUND_ON(round_with_constant, true, false)
ROUND_ON(round_with_factors, false, true)
ROUND_ON(round_with_both, true, true)

/* By the formula. */
static void round_lanes(const struct part *p, struct unsure unsure)
{
    const struct requantize *r = p->r;
    const double x = r->product.x_scale, y = r->product.result->encodings[0].scale;
    const double offset = r->product.result->encodings[0].offset;
    for (; unsure.lanes; unsure.lanes >>= 1, unsure.i++) {
        const int64_t i = unsure.i, channel = p->first + i;
        if (!(unsure.lanes & 1))
            continue;
        uint32_t sum = (uint32_t)p->sums[i];
        if (p->adds && r->constant)
            sum += (uint32_t)r->constant[channel];
        if (p->adds && r->last_factor)
            sum += (uint32_t)r->last_factor[channel] * (uint32_t)p->last;
        const double integer = rint(((double)(int32_t)sum * x * r->scale[channel] + r->bias[channel]) / y) - offset;
        ((uint8_t *)p->to)[i] = (uint8_t)(int32_t)fmin(fmax(integer, (double)r->low), (double)r->high);
    }
}

static void round_vectors(const struct part *p)
{
    static struct unsure (*const round[])(const struct part *p, int64_t i) = {round_sums, round_with_constant,
                                                                              round_with_factors, round_with_both};
    const struct requantize *r = p->r;
    const int kind = p->adds ? (r->constant != NULL) + 2 * (r->last_factor != NULL) : 0;
    struct unsure unsure = {.i = 0};
    while (unsure.i < p->count) {
        unsure = round[kind](p, unsure.i);
        if (unsure.lanes)
            round_lanes(p, unsure);
        unsure.i += unsure.i + QUAD <= p->count ? QUAD : LANES;
    }
}
#else
static int has_vectors(void)
{
    return 0;
}

static void round_vectors(const struct part *p)
{
    (void)p;
}
#endif

/* ---- loops for other processors ---- */

static CLONED void add_up(const struct requantize *r, const int32_t *restrict sums, int32_t last, int64_t first,
                          int64_t count, int32_t *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = sums[i];
    if (r->constant)
        for (int64_t i = 0; i < count; i++)
            to[i] += r->constant[first + i];
    if (r->last_factor)
        for (int64_t i = 0; i < count; i++)
            to[i] += r->last_factor[first + i] * last;
}

/* In float32: integers that are rounded and saturated. Gives how many quotients lie so near to the middle between two
 * integers that the formula's double may be on the other side of it. */
static CLONED int32_t round_quickly(const struct part *p, float low, float high, int32_t *restrict integers)
{
    const float *restrict factor = p->r->factor + p->first, *restrict term = p->r->term + p->first;
    const float *restrict sure = p->r->sure + p->first;
    const int32_t *restrict sums = p->sums;
    const int64_t count = p->count;
    int32_t unsure = 0;
    for (int64_t i = 0; i < count; i++) {
        const float quotient = (float)sums[i] * factor[i] + term[i], whole = rintf(quotient);
        float integer = whole < high ? whole : high;
        integer = integer > low ? integer : low;
        unsure += fabsf(quotient - whole) >= sure[i];
        integers[i] = (int32_t)integer;
    }
    return unsure;
}

/* By the formula. */
static CLONED void round_exactly(const struct part *p, double low, double high, int32_t *restrict integers)
{
    const double *restrict scale = p->r->scale + p->first, *restrict bias = p->r->bias + p->first;
    const double x = p->r->product.x_scale, y = p->r->product.result->encodings[0].scale;
    const double offset = p->r->product.result->encodings[0].offset;
    const int64_t count = p->count;
    for (int64_t i = 0; i < count; i++) {
        double integer = rint(((double)p->sums[i] * x * scale[i] + bias[i]) / y) - offset;
        integer = integer < high ? integer : high;
        integer = integer > low ? integer : low;
        integers[i] = (int32_t)integer;
    }
}

static CLONED void store_bytes(const int32_t *restrict integers, int64_t count, uint8_t *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint8_t)integers[i];
}

static CLONED void store_words(const int32_t *restrict integers, int64_t count, uint16_t *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint16_t)integers[i];
}

static void requantize_part(const struct part *p)
{
    const struct requantize *r = p->r;
    int32_t integers[BLOCK];
    if (r->size > 1 || round_quickly(p, (float)r->low, (float)r->high, integers) > 0)
        round_exactly(p, (double)r->low, (double)r->high, integers);
    if (r->size == 1)
        store_bytes(integers, p->count, p->to);
    else
        store_words(integers, p->count, p->to);
}

struct rows {
    const struct requantize *r;
    const int32_t *sums;
    void *result;
};

/* `count` elements from channel `first` on, which are element `index` of the result. */
static void requantize_run(const struct rows *all, const int32_t *sums, int64_t first, int64_t count, int64_t index)
{
    struct part p = {.r = all->r, .first = first, .count = count, .sums = sums};
    if (all->r->size == 1 && has_vectors()) {
        p.to = (char *)all->result + index;
        round_vectors(&p);
        return;
    }
    for (int64_t i = 0; i < count; i += p.count) {
        p.first = first + i;
        p.count = min_i64(BLOCK, count - i);
        p.sums = sums + i;
        p.to = (char *)all->result + (index + i) * (int64_t)all->r->size;
        requantize_part(&p);
    }
}

/* Sums of one group's channels to which something is added. */
static void requantize_added(const struct rows *all, int64_t row, int64_t group)
{
    const struct requantize *r = all->r;
    const int32_t *sums = all->sums + (row * r->groups + group) * r->pitch;
    const int32_t last = r->last_factor ? sums[r->channels] : 0;
    int32_t added[BLOCK];
    if (r->size == 1 && has_vectors()) {
        const int64_t index = (row * r->groups + group) * r->channels;
        const struct part p = {.r = r,
                               .first = group * r->channels,
                               .count = r->channels,
                               .sums = sums,
                               .to = (char *)all->result + index,
                               .adds = true,
                               .last = last};
        round_vectors(&p);
        return;
    }
    for (int64_t c = 0; c < r->channels; c += BLOCK) {
        const int64_t count = min_i64(BLOCK, r->channels - c), first = group * r->channels + c;
        add_up(r, sums + c, last, first, count, added);
        requantize_run(all, added, first, count, (row * r->groups + group) * r->channels + c);
    }
}

static void requantize_rows(void *user, int64_t first, int64_t last)
{
    const struct rows *all = user;
    const struct requantize *r = all->r;
    const int64_t length = r->groups * r->channels;
    if (!r->constant && !r->last_factor) {
        for (int64_t row = first; row < last; row += r->rows)
            requantize_run(all, all->sums + row * length, 0, min_i64(r->rows, last - row) * length, row * length);
        return;
    }
    for (int64_t row = first; row < last; row++)
        for (int64_t group = 0; group < r->groups; group++)
            requantize_added(all, row, group);
}

void requantize(const struct requantize *r, const int32_t *sums, void *result, int64_t rows)
{
    struct rows all = {r, sums, result};
    threads_share(rows, LEAST_ELEMENTS / (r->groups * r->channels) + 1, requantize_rows, &all);
}
