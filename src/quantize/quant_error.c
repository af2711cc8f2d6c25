/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_error.h"

#include <math.h>

void quant_error_add(struct quant_error *e, const float *x, const float *y, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const double a = x[i], b = y[i], apart = a - b;
        if (!isfinite(a) || !isfinite(b)) {
            e->odd++;
            continue;
        }
        e->count++;
        e->signal += a * a;
        e->noise += apart * apart;
        e->dot += a * b;
        e->power += b * b;
        e->most = fmax(e->most, fabs(apart));
    }
}

double quant_error_sqnr(const struct quant_error *e)
{
    if (e->noise == 0)
        return INFINITY;
    return e->signal > 0 ? 10 * log10(e->signal / e->noise) : -INFINITY;
}

double quant_error_cosine(const struct quant_error *e)
{
    if (e->signal == 0 || e->power == 0)
        return e->signal == e->power ? 1 : 0;
    return e->dot / (sqrt(e->signal) * sqrt(e->power));
}

/* ---- beside an encoding ---- */

void quant_spread_start(struct quant_spread *s, const struct encoding *encoding, bool is_signed)
{
    const double integers = ldexp(1, (int)encoding->bitwidth);
    *s = (struct quant_spread){.encoding = encoding, .lowest = encoding->offset - (is_signed ? integers / 2 : 0)};
    s->highest = s->lowest + integers - 1;
    const double width = (s->highest - s->lowest) * encoding->scale / (QUANT_BINS - 2 * QUANT_BINS_BESIDE);
    s->low = s->lowest * encoding->scale - QUANT_BINS_BESIDE * width;
    s->high = s->highest * encoding->scale + QUANT_BINS_BESIDE * width;
}

double quant_spread_level(const struct quant_spread *s, double real)
{
    return fmin(fmax(nearbyint(real / s->encoding->scale), s->lowest), s->highest) - s->lowest;
}

static void add_value(struct quant_spread *s, float value)
{
    const double steps = nearbyint(value / s->encoding->scale);
    const float after = (float)(fmin(fmax(steps, s->lowest), s->highest) * s->encoding->scale);
    const double bin = floor((value - s->low) / (s->high - s->low) * QUANT_BINS);
    s->min = s->count ? fmin(s->min, value) : value;
    s->max = s->count ? fmax(s->max, value) : value;
    s->count++;
    s->below += steps < s->lowest;
    s->above += steps > s->highest;
    s->bins[(size_t)fmin(fmax(bin, 0), QUANT_BINS - 1)]++;
    quant_error_add(&s->rounding, &value, &after, 1);
}

void quant_spread_add(struct quant_spread *s, const float *x, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(x[i]))
            add_value(s, x[i]);
}
