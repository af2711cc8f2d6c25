/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_calibrators.h"

#include <math.h>

#include "encoding/encoding_range.h"

enum { ENTROPY_BITS = 8 };

static double most_of(struct quant_range range)
{
    return fmax(-range.min, range.max);
}

static struct quant_range around_zero(double most)
{
    return (struct quant_range){-most, most};
}

struct encoding quant_grid_encoding(enum quant_grid grid, uint32_t bits, struct quant_range range)
{
    const double most = most_of(range);
    switch (grid) {
    case GRID_MIDDLE:
        return encoding_about_the_middle(bits, most);
    case GRID_AROUND:
        return encoding_around_zero(bits, -most, most);
    default:
        return encoding_of_range(bits, range.min, range.max);
    }
}

/* ---- what an encoding loses ---- */

/* Values that lie evenly between two reals; where these are one, values that are it. */
struct bin {
    double low, high;
    double count;
};

struct bins {
    struct bin *data;
    size_t count;
};

static double bin_edge(const struct histogram *h, size_t i)
{
    return ldexp((double)(h->first + (int64_t)i), h->exponent);
}

/* Those that are not empty, with nothing beyond the range seen. */
static struct bins filled_bins(const struct calibration *c, struct arena *arena)
{
    const struct histogram *h = c->histogram;
    const size_t extent = histogram_extent(h, c->seen.max);
    struct bins bins = {.data = arena_array(arena, struct bin, extent)};
    for (size_t i = 0; i < extent; i++)
        if (h->counts[i])
            bins.data[bins.count++] = (struct bin){fmax(bin_edge(h, i), c->seen.min),
                                                   fmin(bin_edge(h, i + 1), c->seen.max), (double)h->counts[i]};
    return bins;
}

/* Reals that integers stand for: the multiples of scale from low · scale to high · scale. */
struct grid {
    double scale, low, high;
    double weight; /* of squared errors beyond the ends */
};

/* An antiderivative of the squared error. */
static double error_integral(const struct grid *g, double x)
{
    const double n = fmin(fmax(rint(x / g->scale), g->low), g->high), rest = x - n * g->scale;
    const bool beyond = (n == g->high && rest > 0) || (n == g->low && rest < 0);
    return n * g->scale * g->scale * g->scale / 12 + (beyond ? g->weight : 1) * rest * rest * rest / 3;
}

static double error_at(const struct grid *g, double x)
{
    const double n = fmin(fmax(rint(x / g->scale), g->low), g->high), rest = x - n * g->scale;
    const bool beyond = (n == g->high && rest > 0) || (n == g->low && rest < 0);
    return (beyond ? g->weight : 1) * rest * rest;
}

static double error_of(const struct calibration *c, const struct bins *bins, struct quant_range range, double weight)
{
    const struct encoding e = quant_grid_encoding(c->grid, c->bits, range);
    const struct grid g = {e.scale, rint(e.min / e.scale), rint(e.max / e.scale), weight};
    double sum = 0;
    for (size_t i = 0; i < bins->count; i++) {
        const struct bin *b = &bins->data[i];
        sum += b->high > b->low
                   ? b->count * (error_integral(&g, b->high) - error_integral(&g, b->low)) / (b->high - b->low)
                   : b->count * error_at(&g, b->low);
    }
    return sum;
}

/* The range with the least error of those tried; of equal ones the first. */
struct search {
    const struct calibration *c;
    struct bins bins;
    double weight;
    struct quant_range best;
    double error;
};

static bool try_range(struct search *s, struct quant_range range)
{
    const double error = error_of(s->c, &s->bins, range, s->weight);
    if (error >= s->error)
        return false;
    s->error = error;
    s->best = range;
    return true;
}

static struct search search_begin(const struct calibration *c, double weight, struct arena *arena)
{
    struct search s = {.c = c, .bins = filled_bins(c, arena), .weight = weight, .error = INFINITY};
    (void)try_range(&s, c->grid == GRID_RANGE ? c->seen : around_zero(most_of(c->seen)));
    return s;
}

/* ---- the calibrators ---- */

static struct quant_range calibrate_min_max(const struct calibration *c, struct arena *scratch)
{
    (void)scratch;
    return c->seen;
}

/* Ends are 128ths of those seen: first each 8th of them, and then all around the best pair. */
static struct quant_range calibrate_mse(const struct calibration *c, struct arena *scratch)
{
    enum { PARTS = 128, COARSE = 8 };
    struct search s = search_begin(c, 1, scratch);
    if (c->grid != GRID_RANGE) {
        for (int i = PARTS - 1; i > 0; i--)
            (void)try_range(&s, around_zero(most_of(c->seen) * i / PARTS));
        return s.best;
    }
    int low = PARTS, high = PARTS;
    for (int step = COARSE; step > 0; step = step == COARSE ? 1 : 0) {
        const int around = step == COARSE ? PARTS : COARSE - 1, from_low = low, from_high = high;
        for (int i = from_low + around; i >= from_low - around; i -= step) {
            if (i < 1 || i > PARTS || (c->seen.min == 0 && i != from_low))
                continue;
            for (int k = from_high + around; k >= from_high - around; k -= step) {
                if (k < 1 || k > PARTS || (c->seen.max == 0 && k != from_high))
                    continue;
                if (try_range(&s, (struct quant_range){c->seen.min * i / PARTS, c->seen.max * k / PARTS})) {
                    low = i;
                    high = k;
                }
            }
        }
    }
    return s.best;
}

/* The grid of scales and offsets of AIMET's enhanced scheme, errors beyond the ends weighing threefold. */
static struct quant_range calibrate_sqnr(const struct calibration *c, struct arena *scratch)
{
    enum { SCALES = 17, OFFSETS = 20, SYMMETRIC_SCALES = 100 };
    const double steps = ldexp(1, (int)c->bits) - 1;
    struct search s = search_begin(c, 3, scratch);
    if (c->grid != GRID_RANGE) {
        for (int k = 1; k < SYMMETRIC_SCALES; k++)
            (void)try_range(&s, around_zero(most_of(c->seen) * k / SYMMETRIC_SCALES));
        return s.best;
    }
    for (int k = 1; k <= SCALES; k++) {
        const double scale = (c->seen.max - c->seen.min) / steps * k / (SCALES - 1);
        for (int i = 0; i <= OFFSETS; i++) {
            const double offset = trunc(-steps + steps * i / OFFSETS);
            (void)try_range(&s, (struct quant_range){fmax(c->seen.min, scale * offset),
                                                     fmin(c->seen.max, scale * (offset + steps))});
        }
    }
    return s.best;
}

/* At each end so many values may be cut off, as long as their bins lie beyond the next value's bin. */
static struct quant_range calibrate_percentile(const struct calibration *c, struct arena *scratch)
{
    (void)scratch;
    const struct histogram *h = c->histogram;
    const double most = floor((double)histogram_total(h) * (100 - c->percentile) / 100);
    const size_t zero = (size_t)-h->first, extent = histogram_extent(h, c->seen.max);
    double cut = 0;
    size_t low = 0, high = extent;
    while (low < zero && cut + (double)h->counts[low] <= most)
        cut += (double)h->counts[low++];
    cut = 0;
    while (high > zero && cut + (double)h->counts[high - 1] <= most)
        cut += (double)h->counts[--high];
    const struct quant_range range = {fmax(bin_edge(h, low), c->seen.min), fmin(bin_edge(h, high), c->seen.max)};
    return c->grid == GRID_RANGE ? range : around_zero(most_of(range));
}

/* The divergence of the window's values, those beyond them at its ends, from what is left of them when they have so
 * many levels. */
static double divergence(const double *counts, size_t begin, size_t end, double below, double above, size_t levels)
{
    const size_t width = end - begin;
    double inside = 0, sum = 0;
    for (size_t i = begin; i < end; i++)
        inside += counts[i];
    if (inside == 0)
        return INFINITY;
    for (size_t i = begin; i < end;) {
        const size_t level = (i - begin) * levels / width;
        double all = 0, filled = 0;
        size_t next = i;
        for (; next < end && (next - begin) * levels / width == level; next++) {
            all += counts[next];
            filled += counts[next] > 0;
        }
        for (; i < next; i++) {
            const double p =
                (counts[i] + (i == begin ? below : 0) + (i == end - 1 ? above : 0)) / (inside + below + above);
            const double q = counts[i] > 0 ? all / filled / inside : 0;
            sum += p > 0 ? p * log(p / fmax(q, 1e-9)) : 0;
        }
    }
    return sum;
}

static double sum_of(const double *counts, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += counts[i];
    return sum;
}

/* The window [*begin, *end) with the least divergence. It shrinks a step at a time at the end where that cuts off fewer
 * values, and never beyond bin `zero`. */
static void shrink(const double *counts, size_t zero, size_t levels, size_t *begin, size_t *end)
{
    size_t low = *begin, high = *end;
    const size_t step = high - low < 128 ? 1 : (high - low) / 128;
    double below = 0, above = 0, least = INFINITY;
    while (high - low >= levels) {
        const double found = divergence(counts, low, high, below, above, levels);
        if (found < least) {
            least = found;
            *begin = low;
            *end = high;
        }
        const double lost_low = zero - low >= step ? sum_of(counts, low, low + step) : INFINITY;
        const double lost_high = high - zero >= step ? sum_of(counts, high - step, high) : INFINITY;
        if (isinf(lost_low) && isinf(lost_high))
            return;
        if (lost_low < lost_high) {
            below += lost_low;
            low += step;
        } else {
            above += lost_high;
            high -= step;
        }
    }
}

static struct quant_range calibrate_entropy(const struct calibration *c, struct arena *scratch)
{
    if (c->bits != ENTROPY_BITS)
        return c->seen;
    const struct histogram *h = c->histogram;
    const size_t extent = histogram_extent(h, c->seen.max), zero = (size_t)-h->first, levels = 1 << ENTROPY_BITS;
    double *counts = arena_array(scratch, double, HISTOGRAM_BINS + 1);
    size_t begin = 0, end = extent;
    if (c->grid == GRID_RANGE) {
        for (size_t i = 0; i < extent; i++)
            counts[i] = (double)h->counts[i];
        shrink(counts, zero, levels, &begin, &end);
        return (struct quant_range){fmax(bin_edge(h, begin), c->seen.min), fmin(bin_edge(h, end), c->seen.max)};
    }
    for (size_t i = 0; i < extent; i++)
        counts[i < zero ? zero - 1 - i : i - zero] += (double)h->counts[i];
    end = zero > extent - zero ? zero : extent - zero;
    shrink(counts, 0, levels / 2, &begin, &end);
    return around_zero(fmin(ldexp((double)end, h->exponent), most_of(c->seen)));
}

/* The range grows at one end until zero is a whole number of steps from both, so nothing is cut off. */
static struct quant_range calibrate_adjusted(const struct calibration *c, struct arena *scratch)
{
    (void)scratch;
    const double steps = ldexp(1, (int)c->bits) - 1, low = -c->seen.min, high = c->seen.max;
    if (c->grid != GRID_RANGE || low == 0 || high == 0)
        return c->seen;
    const double below = fmin(fmax(floor(steps * (low / (low + high))), 1), steps - 1);
    const double above = fmin(below + 1, steps - 1);
    const double one = fmax(low / below, high / (steps - below)), other = fmax(low / above, high / (steps - above));
    const double offset = one <= other ? below : above, scale = fmin(one, other);
    return (struct quant_range){-offset * scale, (steps - offset) * scale};
}

/* ---- the table ---- */

static const struct row {
    struct quant_range (*find)(const struct calibration *c, struct arena *scratch);
    bool takes_histogram;
} rows[] = {
#define CALIBRATOR(id, name, function, takes_histogram) {function, takes_histogram},
#include "quantize/quant_calibrators.def"
};

bool calibrator_takes_histogram(enum quantize_calibrator calibrator, uint32_t bits)
{
    return rows[calibrator].takes_histogram && (calibrator != CALIBRATOR_ENTROPY || bits == ENTROPY_BITS);
}

struct quant_range calibrate(enum quantize_calibrator calibrator, const struct calibration *c, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct quant_range range = rows[calibrator].find(c, scratch);
    arena_rewind(scratch, mark);
    return range;
}
