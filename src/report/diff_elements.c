/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of two tensors. Equal ones are compared as bytes at the speed of memory; only of tensors that differ the
 * numbers are looked at. Pages are given back while they are read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"

enum { WINDOW = 1 << 20, BLOCK = 2048, LANES = 4 };
static const uint64_t KEPT = 8 << 20; /* bytes of each file that may stay resident */

static const uint64_t TOLD = 4 << 20; /* bytes after which the comparison says how far it is */

void diff_tell(struct diff *d, uint64_t read)
{
    const struct progress *progress = d->options->progress;
    d->read = read;
    if (progress && !d->stopped && !progress->report(progress->user, read, d->total))
        d->stopped = true;
}

static void advance(struct diff *d, uint64_t read)
{
    read = min_u64(read, d->read_at_end);
    if (d->read / TOLD != read / TOLD)
        diff_tell(d, read);
    d->read = read;
}

static void read_bytes(struct diff *d, uint64_t size)
{
    advance(d, d->read + size);
    d->unreleased += size;
    if (d->unreleased < KEPT)
        return;
    odlc_container_release(d->containers[0]);
    odlc_container_release(d->containers[1]);
    d->unreleased = 0;
}

void diff_make_rooms(struct diff *d)
{
    for (size_t side = 0; side < COUNT_OF(d->rooms); side++) {
        const struct odlc_summary *s = odlc_container_summary(d->containers[side]);
        d->rooms[side] = s->entries[0].stored ? NULL : arena_alloc(d->arena, WINDOW);
    }
}

bool diff_same_bytes(struct diff *d, const struct stored *first, const struct stored *second)
{
    const uint64_t size = first->size;
    for (uint64_t at = 0; at < size; at += WINDOW) {
        size_t n = (size_t)(size - at < WINDOW ? size - at : WINDOW);
        bool same = memcmp(stored_bytes(first, at, n, d->rooms[0]), stored_bytes(second, at, n, d->rooms[1]), n) == 0;
        read_bytes(d, n);
        if (!same || d->stopped)
            return false;
    }
    return true;
}

/* Damaged files have NaNs, which differ from themselves. */
static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool diff_same_encodings(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    if (first->n_encodings != second->n_encodings || first->encoding_axis != second->encoding_axis)
        return false;
    for (uint32_t i = 0; i < first->n_encodings; i++) {
        const struct odlc_encoding *a = &first->encodings[i], *b = &second->encodings[i];
        if (a->bitwidth != b->bitwidth || a->offset != b->offset || !same_number(a->scale, b->scale) ||
            !same_number(a->min, b->min) || !same_number(a->max, b->max))
            return false;
    }
    return true;
}

/* ---- numbers ---- */

struct sums {
    double dot, squares[2], max_absolute, max_relative;
};

/* Sums run in lanes, so that they can be computed side by side; their order is always the same. */
static struct sums sum_block(const double *a, const double *b, size_t n)
{
    double dot[LANES] = {0}, aa[LANES] = {0}, bb[LANES] = {0}, absolute[LANES] = {0}, relative[LANES] = {0};
    for (size_t i = 0; i < n; i += LANES) { /* the block is padded with zeros */
        for (size_t k = 0; k < LANES; k++) {
            double x = a[i + k], y = b[i + k], gap = fabs(x - y);
            double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y), ratio = gap / (larger > 0 ? larger : 1);
            dot[k] += x * y;
            aa[k] += x * x;
            bb[k] += y * y;
            absolute[k] = gap > absolute[k] ? gap : absolute[k];
            relative[k] = ratio > relative[k] ? ratio : relative[k];
        }
    }
    struct sums s = {0};
    for (size_t k = 0; k < LANES; k++) {
        s.dot += dot[k];
        s.squares[0] += aa[k];
        s.squares[1] += bb[k];
        s.max_absolute = fmax(s.max_absolute, absolute[k]);
        s.max_relative = fmax(s.max_relative, relative[k]);
    }
    return s;
}

/* Elements that are not finite on one side are left out of the sums: as zeros on both. */
static uint64_t remove_special(double *a, double *b, size_t n)
{
    uint64_t differing = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(a[i]) && isfinite(b[i]))
            continue;
        differing += a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]));
        a[i] = b[i] = 0;
    }
    return differing;
}

struct tally {
    struct odlc_diff_statistics *statistics;
    double dot, squares[2];
};

static void add_block(struct tally *t, double *a, double *b, uint64_t first, size_t n)
{
    struct odlc_diff_statistics *s = t->statistics;
    for (size_t i = n; i % LANES; i++)
        a[i] = b[i] = 0;
    struct sums block = sum_block(a, b, n);
    if (!isfinite(block.squares[0] + block.squares[1])) {
        s->special += remove_special(a, b, n);
        block = sum_block(a, b, n);
    }
    t->dot += block.dot;
    t->squares[0] += block.squares[0];
    t->squares[1] += block.squares[1];
    s->max_relative = fmax(s->max_relative, block.max_relative);
    if (block.max_absolute <= s->max_absolute)
        return;
    size_t i = 0;
    while (fabs(a[i] - b[i]) != block.max_absolute)
        i++;
    s->max_absolute = block.max_absolute;
    s->worst = first + i;
    s->worst_values[0] = a[i];
    s->worst_values[1] = b[i];
}

/* ---- counting ---- */

#define COUNT_AS(type)                                        \
    for (size_t i = 0; i < n; i++) {                          \
        type x, y;                                            \
        memcpy(&x, (const char *)a + i * sizeof x, sizeof x); \
        memcpy(&y, (const char *)b + i * sizeof y, sizeof y); \
        count += x != y;                                      \
    }                                                         \
    break

static uint64_t count_bytes(const void *a, const void *b, size_t n, size_t size)
{
    uint64_t count = 0;
    switch (size) {
    case 1:
        COUNT_AS(uint8_t);
    case 2:
        COUNT_AS(uint16_t);
    case 4:
        COUNT_AS(uint32_t);
    default:
        COUNT_AS(uint64_t);
    }
    return count;
}

static uint64_t count_reals(const double *a, const double *b, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (a[i] != b[i]) & !((a[i] != a[i]) & (b[i] != b[i]));
    return count;
}

/* Of elements [at, at + n), how many are stored differently. */
static uint64_t count_stored(const struct stored bytes[2], uint64_t at, size_t n, size_t size, uint64_t rooms[2][BLOCK])
{
    const void *p = stored_bytes(&bytes[0], at * size, n * size, rooms[0]);
    const void *q = stored_bytes(&bytes[1], at * size, n * size, rooms[1]);
    return memcmp(p, q, n * size) != 0 ? count_bytes(p, q, n, size) : 0;
}

/* Bytes an element. */
static size_t element_size(const struct odlc_tensor *t)
{
    return t->count ? (size_t)(t->data_size / t->count) : 0;
}

static bool same_type(const struct odlc_tensor *a, const struct odlc_tensor *b)
{
    return a->dtype_code == b->dtype_code && a->element == b->element && a->data_size == b->data_size;
}

static void measure(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second,
                    struct odlc_diff_statistics *s)
{
    double a[BLOCK], b[BLOCK];
    uint64_t rooms[2][BLOCK];
    const struct stored bytes[] = {stored_elements(first), stored_elements(second)};
    size_t size = element_size(first);
    bool typed = same_type(first, second), by_bytes = typed && diff_same_encodings(first, second);
    struct tally tally = {.statistics = s};
    s->numbers = true;
    s->has_stored = typed && first->element == ODLC_CLASS_FIXED;
    for (uint64_t at = 0; at < first->count && !d->stopped; at += BLOCK) {
        size_t n = (size_t)(first->count - at < BLOCK ? first->count - at : BLOCK);
        uint64_t stored = typed ? count_stored(bytes, at, n, size, rooms) : 0;
        odlc_tensor_reals(first, at, n, a);
        odlc_tensor_reals(second, at, n, b);
        s->stored += stored;
        s->differing += by_bytes ? stored : count_reals(a, b, n);
        add_block(&tally, a, b, at, n);
        read_bytes(d, n * (size > element_size(second) ? size : element_size(second)));
    }
    s->cosine = tally.dot / (sqrt(tally.squares[0]) * sqrt(tally.squares[1]));
    if (s->cosine > 1) /* rounding of the sums */
        s->cosine = 1;
}

static void compare_strings(const struct odlc_tensor *first, const struct odlc_tensor *second,
                            struct odlc_diff_statistics *s)
{
    for (uint64_t i = 0; i < first->count; i++)
        s->differing += strcmp(odlc_tensor_string(first, i), odlc_tensor_string(second, i)) != 0;
}

bool diff_elements(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second,
                   struct odlc_diff_statistics *statistics)
{
    bool numbers = first->element != ODLC_CLASS_STRING;
    *statistics = (struct odlc_diff_statistics){.elements = first->count};
    d->read_at_end = d->read + first->data_size;
    if (numbers && same_type(first, second) && diff_same_encodings(first, second)) {
        const struct stored bytes[] = {stored_elements(first), stored_elements(second)};
        if (diff_same_bytes(d, &bytes[0], &bytes[1])) {
            advance(d, d->read_at_end);
            return true;
        }
    }
    if (numbers)
        measure(d, first, second, statistics);
    else
        compare_strings(first, second, statistics);
    advance(d, d->read_at_end);
    return statistics->differing == 0 && statistics->stored == 0;
}
