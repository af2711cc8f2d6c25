#include "backend/cpu/cpu_requantize.h"

#include <math.h>

#include "backend/cpu/cpu_threads.h"
#include "ir/view.h"

enum {
    BLOCK = 256,             /* channels at once */
    LEAST_ELEMENTS = 1 << 14 /* fewer are not worth another thread */
};

struct requantize requantize_make(const struct fixed_product *product, enum dtype dtype, int64_t groups,
                                  struct arena *arena)
{
    const uint64_t count = product->channels, rows = count < BLOCK ? BLOCK / count : 1;
    float *factor = arena_array(arena, float, count *rows), *term = arena_array(arena, float, count *rows);
    float *sure = arena_array(arena, float, count *rows);
    double *scale = arena_array(arena, double, count *rows), *bias = arena_array(arena, double, count *rows);
    const double y = product->result->encodings[0].scale,
                 most = 256 + fabs((double)product->result->encodings[0].offset);
    for (uint64_t i = 0; i < count * rows; i++) {
        const uint64_t c = i % count;
        scale[i] = fixed_product_weight(product, c)->scale;
        bias[i] = product->bias ? product->bias[c] : 0;
        factor[i] = (float)(product->x_scale * scale[i] / y);
        term[i] = (float)(bias[i] / y);
        sure[i] = (float)(0.5 - (most + 2 * fabs(bias[i] / y)) * 0x1p-21);
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
    void *to; /* the first one's element of the result */
};

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
    const float offset = (float)p->r->product.result->encodings[0].offset;
    const int32_t *restrict sums = p->sums;
    const int64_t count = p->count;
    int32_t unsure = 0;
    for (int64_t i = 0; i < count; i++) {
        const float quotient = (float)sums[i] * factor[i] + term[i], whole = rintf(quotient);
        float integer = whole - offset;
        integer = integer < high ? integer : high;
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
    struct part p = {.r = all->r};
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
    int32_t added[BLOCK];
    for (int64_t c = 0; c < r->channels; c += BLOCK) {
        const int64_t count = min_i64(BLOCK, r->channels - c), first = group * r->channels + c;
        add_up(r, sums + c, r->last_factor ? sums[r->channels] : 0, first, count, added);
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
