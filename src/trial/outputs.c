/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/outputs.h"

#include <math.h>
#include <string.h>

/* ---- their bytes ---- */

static uint64_t size_of(const struct buffer *b)
{
    return b->dtype == DT_NONE ? 0 : shape_count(&b->shape) * dtype_size(b->dtype);
}

uint64_t outputs_size(const struct outputs *o)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < o->count; i++)
        size += size_of(&o->list[i]);
    return size;
}

const char *outputs_place(struct arena *arena, const struct outputs *o, uint64_t byte)
{
    for (uint32_t i = 0; i < o->count; i++) {
        const uint64_t size = size_of(&o->list[i]);
        if (byte < size)
            return arena_printf(arena, "element %llu of output %u",
                                (unsigned long long)(byte / dtype_size(o->list[i].dtype)), i);
        byte -= size;
    }
    return "an output";
}

/* ---- executions against each other ---- */

bool outputs_same(struct contained *c, struct arena *arena, const struct outputs *o, const uint8_t *first,
                  const uint8_t *second, const char *what)
{
    const uint64_t size = outputs_size(o);
    for (uint64_t i = 0; i < size; i++)
        if (first[i] != second[i]) {
            contained_found(c, "kernel-not-repeatable", "results must depend on nothing but operands and params",
                            "gives another result %s: %s (%s)", what, outputs_place(arena, o, i), o->label);
            return false;
        }
    return true;
}

/* What is left of both fills was not written; what else differs was read before. */
void outputs_compare_fills(struct contained *c, struct arena *arena, const struct outputs *o, const uint8_t *first,
                           const uint8_t *a, const uint8_t *b)
{
    const uint64_t size = outputs_size(o);
    uint64_t read = size, unwritten = size;
    for (uint64_t i = size; i-- > 0;) {
        if (a[i] == FILL_A && b[i] == FILL_B)
            unwritten = i;
        else if (a[i] != first[i] || b[i] != first[i])
            read = i;
    }
    if (read < size)
        contained_found(c, "kernel-output-read", "write an element before it is read",
                        "depends on what an output held before: %s (%s)", outputs_place(arena, o, read), o->label);
    else if (unwritten < size)
        contained_found(c, "kernel-output-unwritten", "write every element, also those that are 0",
                        "does not write %s (%s)", outputs_place(arena, o, unwritten), o->label);
}

/* ---- against what is expected ---- */

void outputs_compare(struct contained *c, struct arena *arena, const struct outputs *o, uint32_t output,
                     const struct buffer *expected, const struct buffer *found, struct tolerance tolerance,
                     const char *with)
{
    const double *a = buffer_widen(expected, DT_FLOAT64, arena).data, *b = buffer_widen(found, DT_FLOAT64, arena).data;
    double worst = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; i < shape_count(&expected->shape); i++) {
        const double unit = tolerance.is_absolute ? 1 : fmax(1, fabs(a[i]));
        const bool is_same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        const double distance = is_same ? 0 : fabs(a[i] - b[i]) / unit;
        if (!(distance <= worst)) {
            worst = isnan(distance) ? INFINITY : distance;
            at = i;
        }
    }
    c->compared = true;
    c->largest_difference = fmax(c->largest_difference, worst);
    if (worst > tolerance.most)
        contained_found(
            c, "kernel-differs", NULL,
            "differs from %s in element %llu of output %u: %.9g instead of %.9g, where %g is tolerated (%s)", with,
            (unsigned long long)at, output, b[at], a[at], tolerance.most, o->label);
}

/* ---- odd numbers ---- */

static bool is_nan(float value)
{
    return isnan(value);
}

static bool is_not_finite(float value)
{
    return !isfinite(value);
}

static bool is_denormal(float value)
{
    return fpclassify(value) == FP_SUBNORMAL;
}

void outputs_try_odd_numbers(struct contained *c, const char *label,
                             const float *(*results)(void *user, float value, uint64_t *count), void *user)
{
    const struct {
        float value;
        bool (*is)(float);
        char *answer;
    } numbers[] = {{NAN, is_nan, c->nan}, {INFINITY, is_not_finite, c->infinity}, {1e-40f, is_denormal, c->denormal}};
    if (*c->nan)
        return;
    contained_stage(c, "NaN, infinity and denormals as input, %s", label);
    for (size_t k = 0; k < COUNT_OF(numbers); k++) {
        uint64_t count = 0;
        const float *out = results(user, numbers[k].value, &count);
        bool any = false;
        for (uint64_t i = 0; out && i < count; i++)
            any |= numbers[k].is(out[i]);
        strncpy(numbers[k].answer, !out ? "not tried" : any ? "kept" : "not in the outputs", sizeof c->nan - 1);
    }
}
