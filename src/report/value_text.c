/* SPDX-License-Identifier: Apache-2.0 */
#include "report/value_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of a tensor parameter beyond these are not printed: enough for any axes, strides or paddings. */
#define MAX_VALUES 64
#define FIRST_VALUES 8
#define MAX_STRING 120

const char *encoding_text(struct arena *arena, const struct odlc_encoding *encoding)
{
    return arena_printf(arena, "bitwidth %" PRIu32 ", min %.12f, max %.12f, scale %.12f, offset %.12f",
                        encoding->bitwidth, encoding->min, encoding->max, encoding->scale, (double)encoding->offset);
}

static void add_range(struct arena *arena, text *line, const char *what, double low, double high)
{
    text_add(arena, line, ", %s %.9g", what, low);
    if (high != low)
        text_add(arena, line, " to %.9g", high);
}

const char *encodings_text(struct arena *arena, const struct odlc_tensor *tensor)
{
    text line = {0};
    if (!tensor->n_encodings)
        return "";
    struct odlc_encoding low = tensor->encodings[0], high = low;
    for (uint32_t i = 1; i < tensor->n_encodings; i++) {
        const struct odlc_encoding *e = &tensor->encodings[i];
        low = (struct odlc_encoding){e->bitwidth < low.bitwidth ? e->bitwidth : low.bitwidth, fmin(low.min, e->min),
                                     fmin(low.max, e->max), fmin(low.scale, e->scale),
                                     e->offset < low.offset ? e->offset : low.offset};
        high = (struct odlc_encoding){e->bitwidth > high.bitwidth ? e->bitwidth : high.bitwidth, fmax(high.min, e->min),
                                      fmax(high.max, e->max), fmax(high.scale, e->scale),
                                      e->offset > high.offset ? e->offset : high.offset};
    }
    if (tensor->encoding_axis < 0)
        text_add(arena, &line, "%s", encoding_text(arena, &low));
    else {
        text_add(arena, &line, "%" PRIu32 " along axis %" PRId32, tensor->n_encodings, tensor->encoding_axis);
        add_range(arena, &line, "bitwidth", low.bitwidth, high.bitwidth);
        add_range(arena, &line, "scale", low.scale, high.scale);
        add_range(arena, &line, "offset", low.offset, high.offset);
        add_range(arena, &line, "min", low.min, high.min);
        add_range(arena, &line, "max", low.max, high.max);
    }
    text_add(arena, &line, "%s", tensor->overridden ? ", overridden" : "");
    return line.data;
}

const char *dims_text(struct arena *arena, const struct odlc_tensor *tensor, const char *between)
{
    text dims = {0};
    if (!tensor->rank)
        return "scalar";
    for (uint32_t i = 0; i < tensor->rank; i++)
        text_add(arena, &dims, "%s%" PRId64, i ? between : "", tensor->dims[i]);
    return dims.data;
}

/* The shortest decimal that reads back as the same number: of float32 where that is the type. */
void float_text_add(struct arena *arena, text *line, double value, bool is_double)
{
    char number[40];
    int digits = 6;
    do {
        snprintf(number, sizeof number, "%.*g", digits, value);
        double back = strtod(number, NULL);
        if (is_double ? back == value : (float)back == (float)value)
            break;
    } while (digits++ < 17);
    text_add(arena, line, "%s", number);
}

static void add_string(struct arena *arena, text *line, const char *s)
{
    size_t length = strlen(s);
    if (length <= MAX_STRING)
        text_add(arena, line, "%s", s);
    else
        text_add(arena, line, "%.*s... (%zu bytes)", MAX_STRING, s, length);
}

void element_text_add(struct arena *arena, text *line, const struct odlc_tensor *t, uint64_t index)
{
    switch (t->element) {
    case ODLC_CLASS_BOOL:
        text_add(arena, line, "%s", odlc_tensor_int(t, index) ? "True" : "False");
        break;
    case ODLC_CLASS_FLOAT:
        float_text_add(arena, line, odlc_tensor_double(t, index), strcmp(t->dtype, "Float_64") == 0);
        break;
    case ODLC_CLASS_STRING:
        add_string(arena, line, odlc_tensor_string(t, index));
        break;
    case ODLC_CLASS_UINT:
        text_add(arena, line, "%" PRIu64, (uint64_t)odlc_tensor_int(t, index));
        break;
    default:
        text_add(arena, line, "%" PRId64, odlc_tensor_int(t, index));
        break;
    }
}

/* Nested lists, as [[2, 2], [2, 2]]: brackets open where an index of an outer axis begins and close where it ends. */
static void add_all_elements(struct arena *arena, text *line, const struct odlc_tensor *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        uint64_t inner = 1;
        uint32_t opening = 0, closing = 0;
        for (uint32_t axis = t->rank; axis-- > 0;) {
            inner *= (uint64_t)t->dims[axis];
            opening += i % inner == 0;
            closing += (i + 1) % inner == 0;
        }
        text_add(arena, line, "%s%.*s", i ? ", " : "", (int)opening, "[[[[[[[[");
        element_text_add(arena, line, t, i);
        text_add(arena, line, "%.*s", (int)closing, "]]]]]]]]");
    }
    if (!t->count)
        text_add(arena, line, "[]");
}

static void add_elements(struct arena *arena, text *line, const struct odlc_tensor *t)
{
    if (!odlc_tensor_readable(t)) {
        text_add(arena, line, "no data");
    } else if (t->count <= MAX_VALUES) {
        add_all_elements(arena, line, t);
    } else {
        text_add(arena, line, "[");
        for (uint64_t i = 0; i < FIRST_VALUES; i++) {
            element_text_add(arena, line, t, i);
            text_add(arena, line, ", ");
        }
        text_add(arena, line, "...] (%" PRIu64 " values)", t->count);
    }
}

void attribute_text_add(struct arena *arena, text *line, const struct odlc_attribute *a, bool with_type)
{
    switch (a->kind) {
    case ODLC_VALUE_BOOL:
        text_add(arena, line, "%s", a->i ? "True" : "False");
        break;
    case ODLC_VALUE_INT:
        text_add(arena, line, "%" PRId64, a->i);
        break;
    case ODLC_VALUE_UINT:
        text_add(arena, line, "%" PRIu64, (uint64_t)a->i);
        break;
    case ODLC_VALUE_FLOAT:
        float_text_add(arena, line, a->f, a->dtype && strcmp(a->dtype, "Float_64") == 0);
        break;
    case ODLC_VALUE_STRING:
        add_string(arena, line, a->s);
        break;
    case ODLC_VALUE_TENSOR:
        add_elements(arena, line, a->tensor);
        if (with_type)
            text_add(arena, line, " (%s [%s])", a->tensor->dtype,
                     a->tensor->rank ? dims_text(arena, a->tensor, ",") : "");
        break;
    case ODLC_VALUE_NESTED:
        break;
    }
    if (with_type && a->dtype && a->kind != ODLC_VALUE_TENSOR && !a->supplemental)
        text_add(arena, line, " (%s)", a->dtype);
}
