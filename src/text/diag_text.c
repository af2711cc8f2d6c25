/* SPDX-License-Identifier: Apache-2.0 */
#include "text/diag_text.h"

#include <inttypes.h>
#include <string.h>

#include "text/hidden.h"

/* A generated config may be one line of a megabyte: only this much of it is shown around the caret. */
#define EXCERPT_WIDTH 100

static const char *const severity_names[] = {"note", "warning", "error"};

const struct diag_style *diag_style_of(odlc_severity severity, bool colours)
{
    static const struct diag_style plain = {"", "", "", ""};
    static const struct diag_style coloured[] = {{"\x1b[1m", "\x1b[1;36m", "\x1b[1;32m", "\x1b[0m"},
                                                 {"\x1b[1m", "\x1b[1;35m", "\x1b[1;32m", "\x1b[0m"},
                                                 {"\x1b[1m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[0m"}};
    return colours ? &coloured[severity] : &plain;
}

static void put_text(FILE *stream, const char *string, size_t length)
{
    char escape[HIDDEN_ESCAPE];
    for (size_t i = 0, n; i < length; i += n) {
        n = hidden_escape(string + i, length - i, escape);
        if (*escape && string[i] != '\t')
            fputs(escape, stream);
        else
            fwrite(string + i, 1, n, stream);
    }
}

static void put_string(FILE *stream, const char *string)
{
    put_text(stream, string, strlen(string));
}

static void print_place(FILE *stream, const char *nowhere, const struct odlc_diag *d)
{
    put_string(stream, d->file ? d->file : nowhere);
    if (d->file && d->line) {
        fprintf(stream, ":%" PRIu32, d->line);
        if (d->column)
            fprintf(stream, ":%" PRIu32, d->column);
    }
    fputs(": ", stream);
}

/* "node 'conv1', attribute 'pads': " */
static void print_subject(FILE *stream, const struct odlc_diag *d)
{
    const char *between = "";
    if (d->node) {
        fputs("node '", stream);
        put_string(stream, d->node);
        fputs("'", stream);
        between = ", ";
    }
    if (d->attribute) {
        fprintf(stream, "%s'", between);
        put_string(stream, d->attribute);
        fputs("'", stream);
        between = ", ";
    }
    if (d->has_offset) {
        fprintf(stream, "%sbyte %" PRIu64, between, d->offset);
        between = ", ";
    }
    if (*between)
        fputs(": ", stream);
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Blanks, and the tabs of the text, as wide as the text is when it is shown. */
static void print_margin(FILE *stream, const char *excerpt, size_t length)
{
    char escape[HIDDEN_ESCAPE];
    for (size_t i = 0, n; i < length; i += n) {
        n = hidden_escape(excerpt + i, length - i, escape);
        if (excerpt[i] == '\t')
            fputc('\t', stream);
        else
            fprintf(stream, "%*s", *escape ? (int)strlen(escape) : 1, "");
    }
}

/* The line and, below it, a caret under the column (which counts bytes). */
static void print_excerpt(FILE *stream, const struct odlc_diag *d, const struct diag_style *style)
{
    size_t length = strlen(d->excerpt), from = 0, caret = d->column ? d->column - 1 : 0;
    if (caret > length)
        caret = length;
    if (caret > EXCERPT_WIDTH / 2)
        from = caret - EXCERPT_WIDTH / 2;
    while (from > 0 && from < caret && continues_character(d->excerpt[from]))
        from++;
    size_t to = length - from > EXCERPT_WIDTH ? from + EXCERPT_WIDTH : length;
    while (to < length && continues_character(d->excerpt[to]))
        to++;
    fputs("    ", stream);
    put_text(stream, d->excerpt + from, to - from);
    fputc('\n', stream);
    if (!d->column)
        return;
    fputs("    ", stream);
    print_margin(stream, d->excerpt + from, caret - from);
    fprintf(stream, "%s^%s\n", style->caret, style->reset);
}

void diag_print_text(FILE *stream, const char *nowhere, const struct odlc_diag *d, const struct diag_style *style)
{
    fputs(style->bold, stream);
    print_place(stream, nowhere, d);
    fprintf(stream, "%s%s: %s", style->severity, severity_names[d->severity], style->reset);
    print_subject(stream, d);
    put_string(stream, d->message);
    if (d->pointer && *d->pointer) {
        fputs(" (at ", stream);
        put_string(stream, d->pointer);
        fputc(')', stream);
    }
    fputc('\n', stream);
    if (d->excerpt)
        print_excerpt(stream, d, style);
    if (d->hint) {
        fputs("  hint: ", stream);
        put_string(stream, d->hint);
        fputc('\n', stream);
    }
}

void json_diag(struct json_out *j, const struct odlc_diag *d)
{
    json_object(j, NULL);
    json_string(j, "severity", severity_names[d->severity]);
    json_string(j, "code", d->code);
    json_string(j, "message", d->message);
    const struct {
        const char *key, *value;
    } texts[] = {
        {"file", d->file}, {"pointer", d->pointer}, {"node", d->node}, {"attribute", d->attribute}, {"hint", d->hint}};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i].value)
            json_string(j, texts[i].key, texts[i].value);
    if (d->line)
        json_uint(j, "line", d->line);
    if (d->column)
        json_uint(j, "column", d->column);
    if (d->has_offset)
        json_uint(j, "offset", d->offset);
    json_end_object(j);
}
