/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and attributes of two layers. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/diff.h"
#include "report/value_text.h"

static bool same_dims(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    return first->rank == second->rank &&
           (!first->rank || memcmp(first->dims, second->dims, first->rank * sizeof *first->dims) == 0);
}

/* As same_dims, but axes of one element do not count: they do not change the order of elements. */
static bool same_order(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    uint32_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < first->rank && first->dims[i] == 1)
            i++;
        while (k < second->rank && second->dims[k] == 1)
            k++;
        if (i == first->rank || k == second->rank)
            return i == first->rank && k == second->rank;
        if (first->dims[i] != second->dims[k])
            return false;
    }
}

static const char *shape_words(struct arena *arena, const struct odlc_tensor *t)
{
    return t->rank ? arena_printf(arena, "[%s]", dims_text(arena, t, ",")) : "scalar";
}

static const char *type_words(struct arena *arena, const struct odlc_tensor *t)
{
    return arena_printf(arena, "%s %s", t->dtype, shape_words(arena, t));
}

static const char *real_text(struct arena *arena, double value)
{
    text line = {0};
    float_text_add(arena, &line, value, true);
    return line.data;
}

/* "8 bit, scale 0.5, offset -128, min -64, max 63.5", of one encoding when there are several. */
static const char *encoding_words(struct arena *arena, const struct odlc_tensor *t, uint32_t index)
{
    if (!t->n_encodings)
        return NULL;
    const struct odlc_encoding *e = &t->encodings[index];
    const char *words =
        arena_printf(arena, "%" PRIu32 " bit, scale %s, offset %" PRId32 ", min %s, max %s", e->bitwidth,
                     real_text(arena, e->scale), e->offset, real_text(arena, e->min), real_text(arena, e->max));
    if (t->overridden)
        words = arena_printf(arena, "%s, overridden", words);
    if (t->encoding_axis < 0)
        return words;
    return arena_printf(arena, "%" PRIu32 " along axis %" PRId32 "; [%" PRIu32 "]: %s", t->n_encodings,
                        t->encoding_axis, index, words);
}

/* The index of the first encoding that differs. */
static uint32_t first_other_encoding(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    struct odlc_tensor a = *first, b = *second;
    uint32_t n = a.n_encodings < b.n_encodings ? a.n_encodings : b.n_encodings;
    a.n_encodings = b.n_encodings = 1;
    a.encoding_axis = b.encoding_axis = -1;
    for (uint32_t i = 0; i < n; i++, a.encodings++, b.encodings++)
        if (!diff_same_encodings(&a, &b))
            return i;
    return 0;
}

static void compare_encodings(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    bool same = diff_same_encodings(first, second) && first->overridden == second->overridden;
    if ((!first->n_encodings && !second->n_encodings) || !diff_count(d, ODLC_DIFF_ENCODINGS, same))
        return;
    uint32_t index = first_other_encoding(first, second);
    diff_record(d, ODLC_DIFF_ENCODINGS, first->name, same, encoding_words(d->arena, first, index),
                encoding_words(d->arena, second, index));
}

static void record_elements(struct diff *d, enum odlc_diff_category category, const char *subject, const char *first,
                            const char *second, const struct odlc_diff_statistics *found)
{
    struct odlc_diff_statistics *statistics = arena_new(d->arena, struct odlc_diff_statistics);
    *statistics = *found;
    diff_record(d, category, subject, false, first, second)->statistics = statistics;
}

/* True when elements stand against elements; otherwise it is a difference of its own. */
static bool comparable(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    return odlc_tensor_readable(first) && odlc_tensor_readable(second) && same_order(first, second) &&
           (first->element == ODLC_CLASS_STRING) == (second->element == ODLC_CLASS_STRING);
}

static const char *data_words(struct arena *arena, const struct odlc_tensor *t)
{
    return odlc_tensor_readable(t) ? type_words(arena, t) : NULL;
}

static void compare_weights(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    struct odlc_diff_statistics found;
    if (!odlc_tensor_readable(first) && !odlc_tensor_readable(second))
        return;
    bool paired = comparable(first, second), same = paired && diff_elements(d, first, second, &found);
    if (!diff_count(d, ODLC_DIFF_WEIGHTS, same))
        return;
    const char *a = data_words(d->arena, first), *b = data_words(d->arena, second);
    if (same || !paired) {
        diff_record(d, ODLC_DIFF_WEIGHTS, first->name, same, a, b);
    } else if (found.numbers) {
        record_elements(d, ODLC_DIFF_WEIGHTS, first->name, real_text(d->arena, found.worst_values[0]),
                        real_text(d->arena, found.worst_values[1]), &found);
    } else {
        record_elements(d, ODLC_DIFF_WEIGHTS, first->name, a, b, &found);
    }
}

static const char *kind_words(struct diff *d, const struct odlc_tensor *t)
{
    return arena_printf(d->arena, "%s, %s, axis format %" PRIu32, t->dtype, t->kind, t->axis_format);
}

void diff_tensors(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    const bool *selected = d->options->selected;
    bool same = same_dims(first, second);
    if (selected[ODLC_DIFF_DIMENSIONS] && diff_count(d, ODLC_DIFF_DIMENSIONS, same))
        diff_record(d, ODLC_DIFF_DIMENSIONS, first->name, same, shape_words(d->arena, first),
                    shape_words(d->arena, second));
    if (selected[ODLC_DIFF_TYPES] && !d->versions_differ) {
        same = first->dtype_code == second->dtype_code && strcmp(first->dtype, second->dtype) == 0 &&
               strcmp(first->kind, second->kind) == 0 && first->axis_format == second->axis_format;
        if (diff_count(d, ODLC_DIFF_TYPES, same))
            diff_record(d, ODLC_DIFF_TYPES, first->name, same, kind_words(d, first), kind_words(d, second));
    }
    if (selected[ODLC_DIFF_ENCODINGS])
        compare_encodings(d, first, second);
    if (selected[ODLC_DIFF_WEIGHTS])
        compare_weights(d, first, second);
}

/* ---- attributes ---- */

static bool same_text(const char *first, const char *second)
{
    return first && second ? strcmp(first, second) == 0 : first == second;
}

static bool same_scalar(const struct odlc_attribute *first, const struct odlc_attribute *second)
{
    if (first->kind != second->kind || !same_text(first->dtype, second->dtype))
        return false;
    if (first->kind == ODLC_VALUE_FLOAT)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): NaNs are equal, zeros of two signs are not */
        return memcmp(&first->f, &second->f, sizeof first->f) == 0;
    if (first->kind == ODLC_VALUE_STRING)
        return same_text(first->s, second->s);
    return first->i == second->i;
}

static const char *attribute_words(struct diff *d, const struct odlc_attribute *a, bool with_type)
{
    text line = {0};
    if (a->kind == ODLC_VALUE_NESTED)
        return "a list of named values";
    attribute_text_add(d->arena, &line, a, false);
    if (with_type && a->kind == ODLC_VALUE_TENSOR)
        text_add(d->arena, &line, " (%s)", type_words(d->arena, a->tensor));
    else if (with_type && a->dtype)
        text_add(d->arena, &line, " (%s)", a->dtype);
    return line.data;
}

static bool same_tensor_type(const struct odlc_tensor *first, const struct odlc_tensor *second)
{
    return first->dtype_code == second->dtype_code && strcmp(first->dtype, second->dtype) == 0 &&
           same_dims(first, second);
}

static void compare_tensor_attributes(struct diff *d, const char *name, const struct odlc_attribute *first,
                                      const struct odlc_attribute *second)
{
    const struct odlc_tensor *a = first->tensor, *b = second->tensor;
    struct odlc_diff_statistics found;
    bool readable = comparable(a, b), typed = same_tensor_type(a, b) && diff_same_encodings(a, b);
    bool values =
        readable ? diff_elements(d, a, b, &found) : typed && odlc_tensor_readable(a) == odlc_tensor_readable(b);
    if (!diff_count(d, ODLC_DIFF_PARAMETERS, typed && values))
        return;
    const char *words[] = {attribute_words(d, first, !typed), attribute_words(d, second, !typed)};
    if (readable && !values)
        record_elements(d, ODLC_DIFF_PARAMETERS, name, words[0], words[1], &found);
    else
        diff_record(d, ODLC_DIFF_PARAMETERS, name, typed && values, words[0], words[1]);
}

static void compare_lists(struct diff *d, const struct odlc_attribute *first, size_t n_first,
                          const struct odlc_attribute *second, size_t n_second, const char *prefix);

static void compare_attributes(struct diff *d, const char *prefix, const struct odlc_attribute *first,
                               const struct odlc_attribute *second)
{
    const char *name = arena_printf(d->arena, "%s%s", prefix, first->name);
    if (first->kind == ODLC_VALUE_NESTED && second->kind == ODLC_VALUE_NESTED) {
        compare_lists(d, first->nested, first->n_nested, second->nested, second->n_nested,
                      arena_printf(d->arena, "%s.", name));
        return;
    }
    if (first->kind == ODLC_VALUE_TENSOR && second->kind == ODLC_VALUE_TENSOR) {
        compare_tensor_attributes(d, name, first, second);
        return;
    }
    bool same = same_scalar(first, second);
    if (!diff_count(d, ODLC_DIFF_PARAMETERS, same))
        return;
    bool typed = first->kind != second->kind || !same_text(first->dtype, second->dtype);
    diff_record(d, ODLC_DIFF_PARAMETERS, name, same, attribute_words(d, first, typed),
                attribute_words(d, second, typed));
}

static void record_lonely(struct diff *d, const char *prefix, const struct odlc_attribute *a, size_t side)
{
    const char *words = attribute_words(d, a, true);
    if (diff_count(d, ODLC_DIFF_PARAMETERS, false))
        diff_record(d, ODLC_DIFF_PARAMETERS, arena_printf(d->arena, "%s%s", prefix, a->name), false,
                    side ? NULL : words, side ? words : NULL);
}

/* The package is compared with the layer's type. */
static const char **attribute_names(struct diff *d, const struct odlc_attribute *list, size_t count)
{
    const char **names = arena_array(d->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, "packageName") != 0 && strcmp(list[i].name, "package_name") != 0)
            names[i] = list[i].name;
    return names;
}

static void compare_lists(struct diff *d, const struct odlc_attribute *first, size_t n_first,
                          const struct odlc_attribute *second, size_t n_second, const char *prefix)
{
    const struct odlc_attribute *const lists[] = {first, second};
    const char *const *const names[] = {attribute_names(d, first, n_first), attribute_names(d, second, n_second)};
    struct diff_pairs pairs = diff_pairs_create(d->arena, n_first, n_second);
    diff_pair_by_key(d->arena, &pairs, names);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < pairs.n[side]; i++) {
            size_t other = pairs.other[side][i];
            if (other == DIFF_NONE && names[side][i])
                record_lonely(d, prefix, &lists[side][i], side);
            else if (other != DIFF_NONE && side == 0)
                compare_attributes(d, prefix, &first[i], &second[other]);
        }
    }
}

void diff_attributes(struct diff *d, const struct odlc_op *first, const struct odlc_op *second)
{
    if (d->options->selected[ODLC_DIFF_PARAMETERS] && !d->versions_differ)
        compare_lists(d, first->attributes, first->n_attributes, second->attributes, second->n_attributes, "");
}
