/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <string.h>

#include "base/c_locale.h"

const char *odlc_status_name(odlc_status status)
{
    switch (status) {
    case ODLC_OK:
        return "success";
    case ODLC_ERR_USAGE:
        return "wrong usage";
    case ODLC_ERR_IO:
        return "input or output failed";
    case ODLC_ERR_INVALID:
        return "invalid input";
    case ODLC_ERR_UNSUPPORTED:
        return "not supported";
    case ODLC_ERR_LIMIT:
        return "over a limit";
    case ODLC_ERR_NOMEM:
        return "out of memory";
    case ODLC_ERR_INTERNAL:
        return "internal error";
    case ODLC_ERR_STOPPED:
        return "stopped";
    }
    return "unknown status";
}

void diags_init(struct diags *diags, struct arena *arena)
{
    *diags = (struct diags){.arena = arena};
}

void diags_take_buffer(struct diags *diags, const struct odlc_bytes *bytes)
{
    struct odlc_bytes *all = arena_array(diags->arena, struct odlc_bytes, diags->n_buffers + 1);
    for (size_t i = 0; i < diags->n_buffers; i++)
        all[i] = diags->buffers[i];
    all[diags->n_buffers] = (struct odlc_bytes){arena_strdup(diags->arena, bytes->name), bytes->data, bytes->size};
    diags->buffers = all;
    diags->n_buffers++;
}

static const char *copy_or_null(struct arena *arena, const char *string)
{
    return string ? arena_strdup(arena, string) : NULL;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The text with options by the names that the program knows them by. */
static const char *respell(const struct diags *diags, const char *string)
{
    struct arena *a = diags->arena;
    text out = {0};
    const char *kept = string, *at = string;
    while (diags->option_name && at && (at = strstr(at, "--")) != NULL) {
        size_t length = 2;
        while (is_word(at[length]))
            length++;
        const bool begins = at == string || strchr(" ('\"", at[-1]);
        const char *name = begins ? diags->option_name(arena_strndup(a, at + 2, length - 2)) : NULL;
        if (name) {
            text_add(a, &out, "%.*s`%s`", (int)(at - kept), kept, name);
            kept = at + length;
        }
        at += length;
    }
    if (kept == string)
        return string;
    text_add(a, &out, "%s", kept);
    return out.data;
}

static void add(struct diags *diags, odlc_severity severity, const struct odlc_diag *place, const char *code,
                const char *format, va_list args)
{
    struct arena *a = diags->arena;
    struct odlc_diag d = *place;
    d.severity = severity;
    d.code = copy_or_null(a, code);
    d.file = copy_or_null(a, !place->file && place->node ? diags->model : place->file);
    d.pointer = copy_or_null(a, place->pointer);
    d.node = copy_or_null(a, place->node);
    d.attribute = copy_or_null(a, place->attribute);
    d.hint = place->hint ? respell(diags, arena_strdup(a, place->hint)) : NULL;
    d.excerpt = copy_or_null(a, place->excerpt);
    d.message = respell(diags, arena_vprintf(a, format, args));
    vec_push(a, &diags->list, d);
    diags->errors += severity == ODLC_ERROR;
    diags->warnings += severity == ODLC_WARNING;
}

odlc_status diag_error(struct diags *diags, odlc_status status, const struct odlc_diag *place, const char *code,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, ODLC_ERROR, place, code, format, args);
    va_end(args);
    return status;
}

void diag_warn(struct diags *diags, const struct odlc_diag *place, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, ODLC_WARNING, place, code, format, args);
    va_end(args);
}

void diag_note(struct diags *diags, const struct odlc_diag *place, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, ODLC_NOTE, place, code, format, args);
    va_end(args);
}

static void fold(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        to[i] = c_tolower(from[i]);
}

/* Optimal string alignment distance (a swap of neighbours counts one), cut off at words of 63 bytes. A letter in the
 * other case is the same letter. */
static size_t edit_distance(const char *first, const char *second)
{
    enum { LONGEST = 63 };
    size_t n = strlen(first), m = strlen(second);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    char a[LONGEST], b[LONGEST];
    fold(a, first, n);
    fold(b, second, m);
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(word), best = length / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]), apart = other > length ? other - length : length - other;
        if (apart >= best)
            continue;
        size_t distance = edit_distance(word, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

void text_place(struct arena *arena, const char *text, size_t size, size_t offset, struct odlc_diag *place)
{
    enum { EXCERPT = 400 };
    if (offset > size)
        offset = size;
    size_t start = 0;
    uint32_t line = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    size_t end = start;
    while (end < size && text[end] != '\n' && text[end] != '\r')
        end++;
    place->line = line;
    place->column = (uint32_t)(offset - start + 1);
    place->excerpt = end - start > EXCERPT ? NULL : arena_strndup(arena, text + start, end - start);
}
