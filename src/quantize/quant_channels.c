/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize/quant_channels.h"

#include <math.h>

struct quant_channels *quant_channels_new(struct arena *arena, uint64_t count)
{
    struct quant_channels *c = arena_new(arena, struct quant_channels);
    *c = (struct quant_channels){.count = count, .of = arena_array(arena, struct quant_channel, count)};
    return c;
}

static void add(struct quant_channel *c, double value)
{
    if (value < c->low)
        c->low = value;
    if (value > c->high)
        c->high = value;
    c->sum += value;
    c->squares += value * value;
    c->used += value != 0;
}

bool quant_channels_add(struct quant_channels *c, const float *values, uint64_t size, size_t *bad)
{
    const uint64_t rows = size / c->count;
    for (uint64_t i = 0; i < size; i++) {
        if (!isfinite(values[i])) {
            *bad = i;
            return false;
        }
        add(&c->of[i % c->count], (double)values[i]);
    }
    c->rows += (double)rows;
    return true;
}

double quant_channel_variance(const struct quant_channels *c, uint64_t channel, bool about_mean)
{
    const struct quant_channel *of = &c->of[channel];
    const double mean = c->rows > 0 ? of->sum / c->rows : 0;
    const double squares = c->rows > 0 ? of->squares / c->rows : 0;
    return about_mean ? fmax(0, squares - mean * mean) : squares;
}

double quant_channel_used(const struct quant_channels *c, uint64_t channel)
{
    return c->rows > 0 ? c->of[channel].used / c->rows : 0;
}
