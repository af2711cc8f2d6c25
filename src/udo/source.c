#include "udo/source.h"

#include <string.h>

odlc_status source_init(struct source *s, struct arena *arena, struct diags *diags, const char *path, const char *text,
                        size_t size)
{
    *s = (struct source){.arena = arena, .diags = diags, .path = path, .text = text ? text : "", .size = size};
    if (size > SOURCE_MAX_BYTES)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "udo-too-large", "larger than %zu MiB",
                          SOURCE_MAX_BYTES >> 20);
    return ODLC_OK;
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

void source_note(struct source *s, size_t offset, const char *code, const char *message)
{
    if (s->errors > SOURCE_MAX_REPORTS)
        return;
    struct odlc_diag place = place_at(s, offset, NULL, NULL);
    diag_note(s->diags, &place, code, "%s", message);
}
