/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, and the encodings of them. */
#include <float.h>
#include <math.h>

#include "quantize/quantizer.h"

static inline void widen_lane(float value, float *low, float *high, float *nothing)
{
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
    *nothing += value * 0; /* of what is not finite: NaN */
}

bool quant_widen(const float *values, size_t count, double *min, double *max, size_t *bad)
{
    enum { LANES = 16 }; /* each for itself, so that no step waits for the one before */
    float low[LANES], high[LANES], nothing[LANES] = {0};
    const size_t whole = count - count % LANES;
    for (size_t k = 0; k < LANES; k++) {
        low[k] = (float)*min;
        high[k] = (float)*max;
    }
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            widen_lane(values[i + k], &low[k], &high[k], &nothing[k]);
    for (size_t i = whole; i < count; i++)
        widen_lane(values[i], &low[0], &high[0], &nothing[0]);
    for (size_t k = 1; k < LANES; k++) {
        low[0] = fminf(low[0], low[k]);
        high[0] = fmaxf(high[0], high[k]);
        nothing[0] += nothing[k];
    }
    if (nothing[0] == 0) {
        *min = low[0];
        *max = high[0];
        return true;
    }
    for (*bad = 0; isfinite(values[*bad]);)
        ++*bad;
    return false;
}

/* The container's numbers are float32. A mask of the least float has its integers next to infinity, or, where they are
 * symmetric, beyond it: then the scale is the greatest whose reals are floats. */
static struct encoding rounded(struct encoding e)
{
    const double low = rint(e.min / e.scale), high = rint(e.max / e.scale), steps = fmax(-low, high);
    e.scale = (float)e.scale;
    if (isinf((float)(e.scale * steps))) {
        e.scale = (float)(FLT_MAX / steps);
        if (isinf((float)(e.scale * steps)))
            e.scale = nextafterf((float)e.scale, 0);
        e.min = low * e.scale;
        e.max = high * e.scale;
    }
    e.min = (float)e.min;
    e.max = (float)e.max;
    return e;
}

static bool is_parameter(const struct quant_item *item)
{
    return item->role == ROLE_WEIGHTS || item->role == ROLE_BIAS;
}

static enum quant_grid grid_of(const struct quantizer *q, const struct quant_item *item, double min)
{
    const enum quantize_schema schema = is_parameter(item) ? q->options->weights_schema : q->options->act_schema;
    if (item->axis != NO_AXIS)
        return GRID_AROUND;
    const bool is_symmetric = schema == SCHEMA_SYMMETRIC || (schema == SCHEMA_UNSIGNED_SYMMETRIC && min < 0);
    return is_symmetric && item->role != ROLE_BIAS ? GRID_MIDDLE : GRID_RANGE;
}

static enum quantize_calibrator calibrator_of(const struct quantizer *q, const struct quant_item *item)
{
    if (item->role == ROLE_BIAS || item->bits == 32)
        return CALIBRATOR_MIN_MAX;
    return is_parameter(item) ? q->options->weights_calibrator : q->options->act_calibrator;
}

bool quant_takes_histogram(const struct quantizer *q, const struct quant_item *item)
{
    return calibrator_takes_histogram(calibrator_of(q, item), item->bits);
}

struct encoding quant_encoding(const struct quantizer *q, const struct quant_item *item, struct quant_range seen,
                               const struct histogram *histogram)
{
    if (item->bits == 32) {
        struct encoding e = quant_grid_encoding(GRID_AROUND, 32, seen);
        e.symmetric = false; /* as the vendor's files say */
        return rounded(e);
    }
    const struct calibration c = {.histogram = histogram,
                                  .seen = seen,
                                  .grid = grid_of(q, item, seen.min),
                                  .bits = item->bits,
                                  .percentile = q->options->percentile};
    /* Where there are no values, there is only zero. */
    const enum quantize_calibrator calibrator = quant_takes_histogram(q, item) && (!histogram || seen.min == seen.max)
                                                    ? CALIBRATOR_MIN_MAX
                                                    : calibrator_of(q, item);
    struct quant_range range = calibrate(calibrator, &c, q->scratch);
    range.min -= quant_mask_margin(q, item);
    return rounded(quant_grid_encoding(c.grid, c.bits, range));
}

/* The type with so many signed, or unsigned, integers. */
static enum dtype type_of_bits(uint32_t bits, bool is_signed)
{
    switch (bits) {
    case 4:
        return is_signed ? DT_SFXP4 : DT_UFXP4;
    case 8:
        return is_signed ? DT_SFXP8 : DT_UFXP8;
    case 16:
        return is_signed ? DT_SFXP16 : DT_UFXP16;
    case 32:
        return is_signed ? DT_SFXP32 : DT_NONE;
    default:
        return DT_NONE;
    }
}

/* Integers that stand for negative reals without an offset are signed. */
enum dtype quant_type(const struct quant *quant)
{
    bool is_signed = true, is_unsigned = true;
    for (uint32_t i = 0; i < quant->count; i++) {
        const struct encoding *e = &quant->encodings[i];
        is_signed &= e->offset == 0 && e->min < 0;
        is_unsigned &= e->offset <= 0 && !(e->offset == 0 && e->min < 0);
    }
    return is_signed != is_unsigned ? type_of_bits(quant->encodings[0].bitwidth, is_signed) : DT_NONE;
}

static void settle(struct quantizer *q, struct quant_item *item)
{
    struct encoding *encoding = arena_new(q->arena, struct encoding);
    struct quant *quant = arena_new(q->arena, struct quant);
    *encoding = quant_encoding(q, item, (struct quant_range){item->min, item->max}, item->histogram);
    *quant = (struct quant){.count = 1, .encodings = encoding};
    item->quant = quant;
}

const struct quant *quant_encoded(struct quantizer *q, tensor_id id)
{
    struct quant_item *item = &q->items[id], *from = &q->items[item->as];
    if (item->role == ROLE_NONE)
        return NULL;
    if (!from->quant)
        settle(q, from);
    return from->quant;
}
