/* SPDX-License-Identifier: Apache-2.0 */
#include "report/viewer/statistics.h"

#include <math.h>

#define PIECE 4096

struct sums {
    double first; /* sums are of differences from the first number: squares of large means would swallow the spread */
    double sum, squares;
};

static void add_range(struct statistics *s, struct sums *sums, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double v = values[i];
        if (!isfinite(v))
            continue;
        if (!s->finite++)
            sums->first = s->min = s->max = v;
        s->min = fmin(s->min, v);
        s->max = fmax(s->max, v);
        s->zeros += v == 0;
        sums->sum += v - sums->first;
        sums->squares += (v - sums->first) * (v - sums->first);
    }
}

static void add_bins(struct statistics *s, const double *values, size_t count)
{
    /* Halved, because the whole range of large numbers overflows. */
    double half = s->max / 2 - s->min / 2;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        double at = half > 0 ? (values[i] / 2 - s->min / 2) / half * HISTOGRAM_BINS : 0;
        s->bins[at < HISTOGRAM_BINS ? (size_t)at : HISTOGRAM_BINS - 1]++;
    }
}

struct statistics statistics_of(const struct odlc_tensor *tensor)
{
    double values[PIECE];
    struct statistics s = {0};
    struct sums sums = {0};
    for (uint64_t i = 0; i < tensor->count; i += PIECE) {
        size_t count = (size_t)min_u64(PIECE, tensor->count - i);
        odlc_tensor_reals(tensor, i, count, values);
        add_range(&s, &sums, values, count);
    }
    if (!s.finite)
        return s;
    double mean = sums.sum / (double)s.finite;
    s.mean = sums.first + mean;
    s.std = sqrt(fmax(sums.squares / (double)s.finite - mean * mean, 0));
    for (uint64_t i = 0; i < tensor->count; i += PIECE) {
        size_t count = (size_t)min_u64(PIECE, tensor->count - i);
        odlc_tensor_reals(tensor, i, count, values);
        add_bins(&s, values, count);
    }
    return s;
}
