/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with exponentials for loops that the compiler vectorizes: in double, without branches and calls. Their
 * errors are far below float32's rounding, so float32 results are the reference's but where its value lies half way.
 * NaN stays NaN. */
#ifndef BACKEND_CPU_CPU_SERIES_H
#define BACKEND_CPU_CPU_SERIES_H

#include <stdint.h>
#include <string.h>

/* e^x of the nearest x in [-708, 709]. x = k · ln 2 + r with |r| ≤ ln 2 / 2, and e^r by its series. */
static inline double series_exp(double x)
{
    const double shift = 0x1.8p52; /* whose sum with a small number is an integer, in the low bits */
    const double least = x < -708 ? -708 : x, a = least > 709 ? 709 : least;
    const double shifted = a * 0x1.71547652b82fep0 + shift, k = shifted - shift;
    const double r = (a - k * 0x1.62e42fefa3p-1) - k * 0x1.3de6af278ece6p-42;
    double sum = 1.0 / 6227020800, scale;
    uint64_t bits;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* e^x - 1. Near 0, where the difference would lose digits, its series. */
static inline double series_expm1(double x)
{
    const double far = series_exp(x) - 1, near = x + x * x / 2 + x * x * x / 6;
    return x < 1e-4 && x > -1e-4 ? near : far;
}

static inline double series_sigmoid(double x)
{
    return 1 / (1 + series_exp(-x));
}

static inline double series_tanh(double x)
{
    const double e = series_expm1(2 * x);
    return e / (e + 2);
}

/* The complement of the error function of |x|, relative error 3e-11: t · e^(p(t) - x²) with t = 2 / (2 + |x|), p a
 * polynomial through Chebyshev's points of [0.15, 1]. Of more than 11 it is that of 11, 5e-55. */
static inline double series_erfc(double x)
{
    const double positive = x < 0 ? -x : x, z = positive > 11 ? 11 : positive;
    const double t = 2 / (2 + z), u = (2 * t - 1.15) / 0.85;
    double p = -1.1551896022865552e-06;
    p = p * u - 1.6292118516503261e-07;
    p = p * u + 1.0432527597004081e-05;
    p = p * u - 6.8092733073399364e-06;
    p = p * u - 5.0434059028248169e-05;
    p = p * u + 8.9272509675453218e-05;
    p = p * u + 0.00016081233085003539;
    p = p * u - 0.00065403665684460321;
    p = p * u - 0.00023397351229732528;
    p = p * u + 0.0041320633426846333;
    p = p * u - 0.0015328778717782043;
    p = p * u - 0.031170819405535354;
    p = p * u + 0.018217780370755374;
    p = p * u + 0.58103486841951624;
    p = p * u - 0.56999496063444599;
    return t * series_exp(p - z * z);
}

/* x · Φ(x) */
static inline double series_gelu(double x)
{
    const double tail = series_erfc(x * 0.70710678118654752);
    return 0.5 * x * (x < 0 ? tail : 2 - tail);
}

#endif
