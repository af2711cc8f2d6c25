/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with exponentials for loops over float32 that the compiler vectorizes: relative errors of a few units in
 * the last place. Where results become integers, those of cpu_series.h decide. NaN stays NaN. */
#ifndef BACKEND_CPU_CPU_QUICK_H
#define BACKEND_CPU_CPU_QUICK_H

#include <stdint.h>
#include <string.h>

/* e^x of the nearest x in [-87, 88]. x = k · ln 2 + r with |r| ≤ ln 2 / 2, and e^r by its series. */
static inline float quick_exp(float x)
{
    const float shift = 0x1.8p23F; /* whose sum with a small number is an integer, in the low bits */
    const float least = x < -87 ? -87 : x, a = least > 88 ? 88 : least;
    const float shifted = a * 0x1.715476p0F + shift, k = shifted - shift;
    const float r = (a - k * 0x1.62ep-1F) - k * 0x1.0bfbe8p-15F;
    float sum = 1.0F / 5040, scale;
    uint32_t bits;
    sum = sum * r + 1.0F / 720;
    sum = sum * r + 1.0F / 120;
    sum = sum * r + 1.0F / 24;
    sum = sum * r + 1.0F / 6;
    sum = sum * r + 0.5F;
    sum = sum * r + 1;
    sum = sum * r + 1;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

static inline float quick_sigmoid(float x)
{
    return 1 / (1 + quick_exp(-x));
}

/* Near 0, where the difference would lose digits, its series. */
static inline float quick_tanh(float x)
{
    const float square = x * x, far = 1 - 2 / (1 + quick_exp(2 * x));
    float near = -1382.0F / 155925;
    near = near * square + 62.0F / 2835;
    near = near * square - 17.0F / 315;
    near = near * square + 2.0F / 15;
    near = near * square - 1.0F / 3;
    near = near * square * x + x;
    return square < 0.09F ? near : far;
}

#endif
