/* SPDX-License-Identifier: Apache-2.0 */
#include "encoding/encoding_range.h"

#include <math.h>

struct encoding encoding_of_scale(uint32_t bits, double scale, int32_t offset)
{
    const double last = ldexp(1, (int)bits) - 1;
    return (struct encoding){
        .bitwidth = bits, .min = offset * scale, .max = (offset + last) * scale, .scale = scale, .offset = offset};
}

struct encoding encoding_of_range(uint32_t bits, double min, double max)
{
    const double low = fmin(min, 0), high = fmax(fmax(max, 0), low + ENCODING_LEAST_RANGE);
    const double scale = (high - low) / (ldexp(1, (int)bits) - 1);
    return encoding_of_scale(bits, scale, (int32_t)round(low / scale));
}

struct encoding encoding_around_zero(uint32_t bits, double min, double max)
{
    const double last = ldexp(1, (int)bits - 1) - 1;
    /* The least integer, which has no counterpart, may be what gave the range its least real. */
    const double scale = fmax(fmax(max / last, -min / (last + 1)), ENCODING_LEAST_RANGE / last);
    return (struct encoding){
        .bitwidth = bits, .min = -last * scale, .max = last * scale, .scale = scale, .symmetric = true};
}

struct encoding encoding_about_the_middle(uint32_t bits, double most)
{
    const int32_t last = (int32_t)(ldexp(1, (int)bits - 1) - 1);
    struct encoding e = encoding_of_scale(bits, fmax(most, ENCODING_LEAST_RANGE) / last, -last - 1);
    e.symmetric = true;
    return e;
}
