/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct json_out json_out_to(FILE *stream, bool compact)
{
    return (struct json_out){.stream = stream, .compact = compact};
}

static bool on_one_line(const struct json_out *j)
{
    return j->compact || j->inlined[j->depth];
}

static void break_line(const struct json_out *j)
{
    fprintf(j->stream, "\n%*s", (int)(2 * j->depth), "");
}

/* The length of the UTF-8 sequence at s, or 0 when the bytes are not one. */
static size_t utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead, low, high; /* of the second byte */
    } forms[] = {{0xFF, 0xE0, 0xA0, 0xBF}, {0xFF, 0xED, 0x80, 0x9F}, {0xFF, 0xF0, 0x90, 0xBF},
                 {0xFF, 0xF4, 0x80, 0x8F}, {0xF0, 0xE0, 0x80, 0xBF}, {0xFC, 0xF0, 0x80, 0xBF}};
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF)
        return (s[1] & 0xC0) == 0x80 ? 2 : 0;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if ((s[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (s[1] < forms[i].low || s[1] > forms[i].high || (s[2] & 0xC0) != 0x80)
            return 0;
        if (s[0] < 0xF0)
            return 3;
        return (s[3] & 0xC0) == 0x80 ? 4 : 0;
    }
    return 0;
}

static void write_string(FILE *stream, const char *value)
{
    const unsigned char *s = (const unsigned char *)value;
    fputc('"', stream);
    while (*s) {
        size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            fprintf(stream, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", stream);
        else if (*s == '\t')
            fputs("\\t", stream);
        else if (*s < 0x20 || *s == 0x7F)
            fprintf(stream, "\\u%04x", *s);
        else if (length == 0)
            fputs("\\ufffd", stream);
        else
            fwrite(s, 1, length, stream);
        s += length ? length : 1;
    }
    fputc('"', stream);
}

/* What comes before a value: comma, line break, key. */
static void begin_value(struct json_out *j, const char *key)
{
    if (j->has_items[j->depth])
        fputs(on_one_line(j) && !j->compact ? ", " : ",", j->stream);
    if (j->depth && !on_one_line(j))
        break_line(j);
    j->has_items[j->depth] = true;
    if (key) {
        write_string(j->stream, key);
        fputs(j->compact ? ":" : ": ", j->stream);
    }
}

static void open_container(struct json_out *j, const char *key, char bracket, bool on_line)
{
    begin_value(j, key);
    fputc(bracket, j->stream);
    assert(j->depth + 1 < JSON_OUT_MAX_DEPTH);
    bool inlined = on_line || j->inlined[j->depth];
    j->depth++;
    j->has_items[j->depth] = false;
    j->inlined[j->depth] = inlined;
}

static void close_container(struct json_out *j, char bracket)
{
    bool breaks = j->has_items[j->depth] && !on_one_line(j);
    j->depth--;
    if (breaks)
        break_line(j);
    fputc(bracket, j->stream);
    if (j->depth == 0)
        fputc('\n', j->stream);
}

void json_object(struct json_out *j, const char *key)
{
    open_container(j, key, '{', false);
}

void json_array(struct json_out *j, const char *key)
{
    open_container(j, key, '[', false);
}

void json_object_inline(struct json_out *j, const char *key)
{
    open_container(j, key, '{', true);
}

void json_array_inline(struct json_out *j, const char *key)
{
    open_container(j, key, '[', true);
}

void json_end_object(struct json_out *j)
{
    close_container(j, '}');
}

void json_end_array(struct json_out *j)
{
    close_container(j, ']');
}

void json_string(struct json_out *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        write_string(j->stream, value);
    else
        fputs("null", j->stream);
}

void json_int(struct json_out *j, const char *key, int64_t value)
{
    begin_value(j, key);
    fprintf(j->stream, "%" PRId64, value);
}

void json_uint(struct json_out *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    fprintf(j->stream, "%" PRIu64, value);
}

void json_written(struct json_out *j, const char *key, const char *json, size_t length)
{
    begin_value(j, key);
    fwrite(json, 1, length, j->stream);
}

void json_double(struct json_out *j, const char *key, double value)
{
    if (!isfinite(value)) {
        json_string(j, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    char number[40];
    int digits = 15;
    do
        snprintf(number, sizeof number, "%.*g", digits, value);
    while (strtod(number, NULL) != value && digits++ < 17);
    begin_value(j, key);
    fputs(number, j->stream);
}

void json_bool(struct json_out *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->stream);
}

void json_raw(struct json_out *j, const char *key, const char *json)
{
    begin_value(j, key);
    fputs(json, j->stream);
}
