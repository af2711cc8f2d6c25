/* SPDX-License-Identifier: Apache-2.0 */
#include "text/source.h"

#include <string.h>

/* Text as Windows calls "Unicode": its mark, or every other byte of its beginning is zero. */
static bool is_utf16(const char *text, size_t size)
{
    bool mark = size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    return mark || (size >= 4 && !text[0] != !text[1] && !text[0] == !text[2] && !text[1] == !text[3]);
}

odlc_status source_init(struct source *s, struct arena *arena, struct diags *diags, const char *path, const char *text,
                        size_t size)
{
    *s = (struct source){.arena = arena, .diags = diags, .path = path, .text = text ? text : "", .size = size};
    if (size > SOURCE_MAX_BYTES)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "udo-too-large", "larger than %zu MiB",
                          SOURCE_MAX_BYTES >> 20);
    if (is_utf16(s->text, size))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = path, .line = 1, .column = 1, .hint = "save it as UTF-8"),
                          "udo-utf16", "the file is UTF-16 text");
    return ODLC_OK;
}

size_t source_text_start(const struct source *s)
{
    return source_has(s, 0, "\xef\xbb\xbf") ? 3 : 0;
}

bool source_has(const struct source *s, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at + length <= s->size && memcmp(s->text + at, word, length) == 0;
}

size_t source_skip_past(const struct source *s, size_t at, const char *word)
{
    const char *found = at < s->size ? memmem(s->text + at, s->size - at, word, strlen(word)) : NULL;
    return found ? (size_t)(found - s->text) + strlen(word) : s->size;
}

size_t source_utf8_length(const struct source *s, size_t at)
{
    const unsigned char *p = (const unsigned char *)s->text + at;
    size_t left = s->size - at;
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] > 0x9f;
    bool too_large = p[0] == 0xf4 && p[1] > 0x8f;
    return overlong || surrogate || too_large ? 0 : length;
}

void source_find_lines(struct source *s)
{
    vec_push(s->arena, &s->lines, 0);
    const char *end = s->text + s->size;
    for (const char *at = s->text; at < end; at++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return;
        vec_push(s->arena, &s->lines, (uint32_t)(at + 1 - s->text));
    }
}

void source_line_column(const struct source *s, size_t offset, uint32_t *line, uint32_t *column)
{
    size_t low = 0, high = s->lines.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->lines.data[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = (uint32_t)low + 1;
    *column = (uint32_t)(offset - s->lines.data[low]) + 1;
}

const char *source_line(const struct source *s, uint32_t line)
{
    enum { EXCERPT = 400 };
    size_t start = s->lines.data[line - 1], end = start;
    while (end < s->size && end - start <= EXCERPT && s->text[end] != '\n' && s->text[end] != '\r')
        end++;
    return end - start <= EXCERPT ? arena_strndup(s->arena, s->text + start, end - start) : NULL;
}

static struct odlc_diag place_at(const struct source *s, size_t offset, const char *pointer, const char *hint)
{
    struct odlc_diag place = {.file = s->path, .pointer = pointer, .hint = hint};
    source_line_column(s, offset, &place.line, &place.column);
    place.excerpt = source_line(s, place.line);
    return place;
}

odlc_status source_error(struct source *s, size_t offset, const char *pointer, const char *hint, const char *code,
                         const char *message)
{
    s->errors++;
    if (s->errors > SOURCE_MAX_REPORTS)
        return ODLC_ERR_INVALID;
    struct odlc_diag place = place_at(s, offset, pointer, hint);
    diag_error(s->diags, ODLC_ERR_INVALID, &place, code, "%s", message);
    if (s->errors == SOURCE_MAX_REPORTS)
        diag_note(s->diags, AT(.file = s->path), "udo-many-errors", "further errors of this file are not shown");
    return ODLC_ERR_INVALID;
}

void source_warn(struct source *s, size_t offset, const char *pointer, const char *hint, const char *code,
                 const char *message)
{
    if (++s->warnings > SOURCE_MAX_REPORTS)
        return;
    struct odlc_diag place = place_at(s, offset, pointer, hint);
    diag_warn(s->diags, &place, code, "%s", message);
}

bool source_shows_warnings(const struct source *s)
{
    return s->warnings < SOURCE_MAX_REPORTS;
}

void source_note(struct source *s, size_t offset, const char *code, const char *message)
{
    if (s->errors > SOURCE_MAX_REPORTS)
        return;
    struct odlc_diag place = place_at(s, offset, NULL, NULL);
    diag_note(s->diags, &place, code, "%s", message);
}
