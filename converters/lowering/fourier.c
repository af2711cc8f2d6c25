/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/fourier.h"

#include <math.h>

/* cos(2π i / n) and sin(2π i / n); exact where they are whole. */
static void unit_root(int64_t i, int64_t n, double *cosine, double *sine)
{
    static const double whole[] = {1, 0, -1, 0, 1};
    if (4 * i % n == 0) {
        int64_t quarter = 4 * i / n;
        *cosine = whole[quarter];
        *sine = whole[(quarter + 3) % 4];
        return;
    }
    double angle = 2 * M_PI * (double)i / (double)n;
    *cosine = cos(angle);
    *sine = sin(angle);
}

/* What element i counts for: once, and in the inverse of one half also for the other half. */
static double weight_of(const struct transform *t, int64_t i)
{
    double weight = t->inverse ? 1 / (double)t->length : 1;
    if (t->mirrored && i > 0 && 2 * i != t->length)
        weight *= 2;
    return t->window ? weight * t->window[i] : weight;
}

odlc_status transform_matrix(struct lower *l, const struct transform *t, const float **out)
{
    float *matrix;
    uint64_t columns = (uint64_t)(t->out * t->out_parts), rows = (uint64_t)(t->in * t->in_parts);
    if (t->in > INT32_MAX || t->out > INT32_MAX)
        return lower_unsupported(l, NULL, NULL, "a transform of %lld elements is not supported", (long long)t->length);
    TRY(lower_table(l, rows * columns, sizeof(float), &matrix));
    for (int64_t i = 0; i < t->in; i++) {
        double weight = weight_of(t, i);
        float *real = matrix + (uint64_t)(i * t->in_parts) * columns, *imaginary = real + columns;
        for (int64_t k = 0; k < t->out; k++) {
            double cosine, sine;
            unit_root(i * k % t->length, t->length, &cosine, &sine);
            if (!t->inverse)
                sine = -sine;
            float *to = real + k * t->out_parts;
            to[0] = (float)(weight * cosine);
            if (t->out_parts == 2)
                to[1] = (float)(weight * sine);
            if (t->in_parts == 1)
                continue;
            to = imaginary + k * t->out_parts;
            to[0] = (float)(weight * -sine);
            if (t->out_parts == 2)
                to[1] = (float)(weight * cosine);
        }
    }
    *out = matrix;
    return ODLC_OK;
}
