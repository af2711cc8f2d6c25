/* SPDX-License-Identifier: Apache-2.0 */
/* ScaleAndTranslate: images that a kernel samples at places of their own, as tf.image.resize does with its better
 * methods. Each axis is a product with a table of weights. */
#include <float.h>
#include <math.h>

#include "converters/lowering/resample_matmul.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

enum kernel { LANCZOS, GAUSSIAN, BOX, TRIANGLE, KEYS_CUBIC, MITCHELL_CUBIC };

/* What a sample takes of the elements at most so far away. */
struct sampling {
    enum kernel kernel;
    double radius;
    bool antialias;
};

static double lanczos(double radius, double x)
{
    if (x > radius)
        return 0;
    return x <= 1e-3 ? 1 : radius * sin(M_PI * x) * sin(M_PI * x / radius) / (M_PI * M_PI * x * x);
}

static double keys_cubic(double x)
{
    if (x >= 2)
        return 0;
    return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}

static double mitchell_cubic(double x)
{
    if (x >= 2)
        return 0;
    return x >= 1 ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9 : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
}

/* The weight of an element at a distance. */
static double kernel_at(const struct sampling *how, double x)
{
    switch (how->kernel) {
    case LANCZOS:
        return lanczos(how->radius, x);
    case GAUSSIAN:
        return x >= how->radius ? 0 : exp(-2 * x * x); /* of the deviation 1/2 */
    case BOX:
        return x == 0.5 ? 0.5 : x < 0.5;
    case TRIANGLE:
        return x < 1 ? 1 - x : 0;
    case KEYS_CUBIC:
        return keys_cubic(x);
    default:
        return mitchell_cubic(x);
    }
}

static odlc_status read_sampling(const struct lower *l, struct sampling *how)
{
    static const struct choice choices[] = {{"lanczos1", 0}, {"lanczos3", 1}, {"lanczos5", 2},  {"gaussian", 3},
                                            {"box", 4},      {"triangle", 5}, {"keyscubic", 6}, {"mitchellcubic", 7}};
    static const struct sampling kinds[] = {{LANCZOS, 1, true},    {LANCZOS, 3, true},       {LANCZOS, 5, true},
                                            {GAUSSIAN, 1.5, true}, {BOX, 1, true},           {TRIANGLE, 1, true},
                                            {KEYS_CUBIC, 2, true}, {MITCHELL_CUBIC, 2, true}};
    int kind;
    TRY(lower_choose(l, "kernel_type", "lanczos3", choices, COUNT_OF(choices), &kind));
    *how = kinds[kind];
    return lower_attr_bool(l, "antialias", true, &how->antialias);
}

struct axis {
    int64_t in, out;
    float scale, translation;
};

static int64_t within(int64_t i, int64_t count)
{
    return max_i64(min_i64(i, count - 1), 0);
}

/* Places are computed in floats, as TensorFlow does: they decide which elements are near. */
static odlc_status sample_axis(const struct lower *l, const struct sampling *how, const struct axis *a,
                               struct resample_taps *taps)
{
    const float step = (float)(1.0 / (double)a->scale), offset = -step * a->translation;
    const float stretch = how->antialias ? fmaxf(step, 1) : 1, shrink = 1 / stretch;
    const float reach = (float)how->radius * stretch;
    if (!isfinite(offset) || !isfinite(reach))
        return lower_invalid(l, "scale", NULL, "scale %g and translation %g are not possible", (double)a->scale,
                             (double)a->translation);
    TRY(lower_start_taps(l, (int64_t)fminf(2 * ceilf(reach) + 1, (float)a->in), a->out, taps));
    for (int64_t o = 0; o < a->out; o++) {
        const float at = ((float)o + 0.5f) * step + offset;
        int64_t *index = taps->index + taps->width * o;
        double *weight = taps->weight + taps->width * o, sum = 0;
        if (at < 0 || at > (float)a->in) /* outside of the image: 0 */
            continue;
        const int64_t first = within((int64_t)ceilf(fmaxf(at - reach - 0.5f, 0)), a->in);
        const int64_t last = within((int64_t)floorf(fminf(at + reach - 0.5f, (float)a->in)), a->in);
        for (int64_t i = first; i <= last && i - first < taps->width; i++) {
            const float distance = fabsf(((float)i + 0.5f - at) * shrink);
            index[i - first] = i;
            weight[i - first] = kernel_at(how, (double)distance);
            sum += weight[i - first];
        }
        for (int64_t i = 0; i < taps->width; i++)
            weight[i] = fabs(sum) >= 1000 * (double)FLT_MIN ? weight[i] / sum : 0;
    }
    return ODLC_OK;
}

/* Height and width. */
static odlc_status read_scaled_axes(const struct lower *l, const struct shape *shape, struct axis axes[2])
{
    static const char *const names[] = {"scale", "translation"};
    const int64_t *size;
    const double *numbers[2];
    uint32_t count;
    TRY(lower_const_ints(l, 1, "size", &size, &count));
    if (count != 2)
        return lower_invalid(l, NULL, NULL, "size has %u elements instead of 2", count);
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_const_floats(l, i + 2, names[i], &numbers[i], &count));
        if (count != 2)
            return lower_invalid(l, NULL, NULL, "%s has %u elements instead of 2", names[i], count);
    }
    for (uint32_t i = 0; i < 2; i++) {
        axes[i] = (struct axis){shape->dims[i + 1], size[i], (float)numbers[0][i], (float)numbers[1][i]};
        if (axes[i].in < 1 || axes[i].in > INT32_MAX || size[i] < 1 || size[i] > INT32_MAX)
            return lower_invalid(l, NULL, NULL, "%lld elements cannot be resized to %lld", (long long)axes[i].in,
                                 (long long)size[i]);
        if (!(axes[i].scale > 0))
            return lower_invalid(l, "scale", NULL, "the scale %g is not positive", (double)axes[i].scale);
    }
    return ODLC_OK;
}

odlc_status tf_scale_and_translate(struct lower *l)
{
    struct sampling how;
    struct resample_taps taps[2];
    struct axis axes[2];
    tensor_id x;
    TRY(lower_need(l, 0, "images", &x));
    const struct shape shape = build_type(l->b, x)->shape;
    if (shape.rank != 4)
        return lower_invalid(l, NULL, NULL, "the input %s does not have 4 axes", shape_text(l->diags->arena, &shape));
    TRY(read_sampling(l, &how));
    TRY(read_scaled_axes(l, &shape, axes));
    TRY(build_cast(l->b, x, DT_FLOAT32, step_name(l, "float"), &x));
    for (uint32_t i = 0; i < 2; i++)
        TRY(sample_axis(l, &how, &axes[i], &taps[i]));
    return lower_resample_image(l, x, taps, (const int64_t[]){axes[0].out, axes[1].out});
}
