/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_histogram.h"

#include <math.h>
#include <string.h>

enum { LEAST_EXPONENT = -149, FEW = 1 << 10, PIECE = 1 << 16, TABLES = 4 };

void histogram_clear(struct histogram *h)
{
    *h = (struct histogram){.exponent = LEAST_EXPONENT};
}

static int64_t bin_of(double value, int exponent)
{
    return (int64_t)floor(ldexp(value, -exponent));
}

/* The least exponent with which the bins have the range. */
static int exponent_for(double min, double max)
{
    const double most = fmax(-min, max);
    int e = LEAST_EXPONENT;
    if (most > 0 && ilogb(most) - 11 > e)
        e = ilogb(most) - 11;
    while (bin_of(max, e) - bin_of(min, e) >= HISTOGRAM_BINS)
        e++;
    return e;
}

/* Floor of half, `times` times. */
static int64_t halved(int64_t bin, int times)
{
    return times >= 63 ? -(bin < 0) : bin >> times;
}

/* The counts of `other` are added to those of h, whose bins are as wide or wider, and have them. */
static void pour(struct histogram *h, const struct histogram *other)
{
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        if (other->counts[i])
            h->counts[halved(other->first + (int64_t)i, h->exponent - other->exponent) - h->first] += other->counts[i];
    h->zeros += other->zeros;
}

static void fit(struct histogram *h, double min, double max)
{
    const int exponent = exponent_for(min, max);
    const int64_t first = bin_of(min, exponent);
    if (exponent == h->exponent && first == h->first)
        return;
    const struct histogram before = *h;
    *h = (struct histogram){.exponent = exponent, .first = first};
    pour(h, &before);
}

static size_t place_of(const struct histogram *h, double value, double per_bin)
{
    const double place = value * per_bin;
    const int64_t whole = (int64_t)place;
    return (size_t)(whole - (place < (double)whole) - h->first);
}

static void count_few(struct histogram *h, const float *values, size_t count)
{
    const double per_bin = ldexp(1, -h->exponent);
    for (size_t i = 0; i < count; i++)
        if (values[i] == 0)
            h->zeros++;
        else
            h->counts[place_of(h, values[i], per_bin)]++;
}

/* Neighbours of a value are often in its bin: several tables keep each addition from waiting for the one before. */
static void count_piece(struct histogram *h, const float *values, size_t count)
{
    uint32_t tables[TABLES][HISTOGRAM_BINS];
    const double per_bin = ldexp(1, -h->exponent);
    uint32_t zeros = 0;
    memset(tables, 0, sizeof tables);
    for (size_t i = 0; i < count; i++) {
        tables[i % TABLES][place_of(h, values[i], per_bin)]++;
        zeros += values[i] == 0;
    }
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        for (size_t k = 0; k < TABLES; k++)
            h->counts[i] += tables[k][i];
    h->counts[-h->first] -= zeros;
    h->zeros += zeros;
}

void histogram_add(struct histogram *h, const float *values, size_t count, double min, double max)
{
    fit(h, min, max);
    if (count < FEW) {
        count_few(h, values, count);
        return;
    }
    for (size_t done = 0; done < count; done += PIECE)
        count_piece(h, values + done, count - done < PIECE ? count - done : PIECE);
}

void histogram_join(struct histogram *h, const struct histogram *other, double min, double max)
{
    fit(h, min, max);
    pour(h, other);
}

size_t histogram_extent(const struct histogram *h, double max)
{
    return (size_t)(bin_of(max, h->exponent) - h->first) + 1;
}

uint64_t histogram_total(const struct histogram *h)
{
    uint64_t total = h->zeros;
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        total += h->counts[i];
    return total;
}
