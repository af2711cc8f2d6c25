#include "tools/viewer/statistics.h"

#include <math.h>

#define PIECE 4096

/* How many elements follow each other with the same encoding. */
static uint64_t run_of_channel(const struct odlc_tensor *t)
{
    uint64_t run = 1;
    for (uint32_t axis = (uint32_t)t->encoding_axis + 1; axis < t->rank; axis++)
        run *= (uint64_t)t->dims[axis];
    return run;
}

static bool has_channels(const struct odlc_tensor *t)
{
    return t->encoding_axis >= 0 && (uint32_t)t->encoding_axis < t->rank && t->n_encodings > 1;
}

static void make_real(const struct odlc_tensor *t, uint64_t first, size_t count, double *values)
{
    uint64_t run = has_channels(t) ? run_of_channel(t) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct odlc_encoding *e = &t->encodings[run ? (first + i) / run % t->n_encodings : 0];
        values[i] = (values[i] + e->offset) * e->scale;
    }
}

static void read_piece(const struct odlc_tensor *t, uint64_t first, size_t count, double *values)
{
    odlc_tensor_doubles(t, first, count, values);
    if (t->element == ODLC_CLASS_FIXED && t->n_encodings)
        make_real(t, first, count, values);
}

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
        read_piece(tensor, i, count, values);
        add_range(&s, &sums, values, count);
    }
    if (!s.finite)
        return s;
    double mean = sums.sum / (double)s.finite;
    s.mean = sums.first + mean;
    s.std = sqrt(fmax(sums.squares / (double)s.finite - mean * mean, 0));
    for (uint64_t i = 0; i < tensor->count; i += PIECE) {
        size_t count = (size_t)min_u64(PIECE, tensor->count - i);
        read_piece(tensor, i, count, values);
        add_bins(&s, values, count);
    }
    return s;
}
