/* SPDX-License-Identifier: Apache-2.0 */
#include "text/text_table.h"

#include <string.h>

#include "text/hidden.h"

/* Wider lines stand out of their column: with the longest name all rows would grow, and what is printed with the square
 * of the file. */
enum { WIDEST = 1024 };

struct table table_create(size_t n_columns, const char *const *headers)
{
    struct table table = {.n_columns = n_columns};
    for (size_t c = 0; c < n_columns; c++) {
        table.headers[c] = headers[c];
        table.widths[c] = strlen(headers[c]);
    }
    return table;
}

const char *printable(struct arena *arena, const char *string)
{
    size_t length = strlen(string);
    char escape[HIDDEN_ESCAPE];
    if (!hidden_anywhere(string, length))
        return string;
    text clean = {0};
    for (size_t i = 0, n; i < length; i += n) {
        n = hidden_escape(string + i, length - i, escape);
        text_add_bytes(arena, &clean, *escape ? escape : string + i, *escape ? strlen(escape) : n);
    }
    return clean.data;
}

size_t display_width(const char *line)
{
    size_t width = 0;
    for (; *line; line++)
        width += ((unsigned char)*line & 0xC0) != 0x80;
    return width;
}

void table_add_line(struct arena *arena, struct table *table, struct cell *cell, const char *line)
{
    struct table_row *row = &table->rows.data[table->rows.count - 1];
    size_t column = (size_t)(cell - row->cells), width;
    line = printable(arena, line);
    width = min_u64(display_width(line), WIDEST);
    if (width > table->widths[column])
        table->widths[column] = width;
    vec_push(arena, &cell->lines, line);
}

struct table_row *table_add_row(struct arena *arena, struct table *table)
{
    vec_push(arena, &table->rows, (struct table_row){0});
    return &table->rows.data[table->rows.count - 1];
}

size_t table_width(const struct table *table)
{
    size_t width = 1;
    for (size_t c = 0; c < table->n_columns; c++)
        width += table->widths[c] + 3;
    return width;
}

/* ---- fitting ---- */

#define NARROWEST 8

/* Bytes of the piece of line that fits: up to the last blank in it, or as many characters as there is room for. */
static size_t piece_length(const char *line, size_t width)
{
    size_t bytes = 0, blank = 0;
    for (size_t characters = 0; line[bytes] && characters < width; characters++) {
        if (line[bytes] == ' ')
            blank = bytes + 1;
        bytes++;
        while (((unsigned char)line[bytes] & 0xC0) == 0x80)
            bytes++;
    }
    return line[bytes] && blank ? blank : bytes;
}

static void wrap_cell(struct arena *arena, struct cell *cell, size_t width)
{
    struct cell wrapped = {0};
    for (size_t i = 0; i < cell->lines.count; i++) {
        const char *rest = cell->lines.data[i];
        do {
            size_t length = piece_length(rest, width);
            vec_push(arena, &wrapped.lines, arena_strndup(arena, rest, length));
            rest += length;
        } while (*rest);
    }
    *cell = wrapped;
}

static void wrap_row(struct arena *arena, const struct table *table, struct table_row *row)
{
    for (size_t c = 0; c < table->n_columns; c++)
        wrap_cell(arena, &row->cells[c], table->widths[c]);
}

/* The widest column gives way first. */
static size_t widest_column(const struct table *table, const size_t *narrowest)
{
    size_t widest = table->n_columns;
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->widths[c] > narrowest[c] && (widest == table->n_columns || table->widths[c] > table->widths[widest]))
            widest = c;
    return widest;
}

void table_fit(struct arena *arena, struct table *table, size_t width)
{
    size_t narrowest[TABLE_MAX_COLUMNS], total = table_width(table);
    if (!width || total <= width)
        return;
    for (size_t c = 0; c < table->n_columns; c++) {
        narrowest[c] = display_width(table->headers[c]);
        narrowest[c] = narrowest[c] > NARROWEST || table->widths[c] < NARROWEST ? narrowest[c] : NARROWEST;
    }
    for (; total > width; total--) {
        size_t widest = widest_column(table, narrowest);
        if (widest == table->n_columns)
            break;
        table->widths[widest]--;
    }
    table->narrowed = true;
    for (size_t r = 0; r < table->rows.count; r++)
        wrap_row(arena, table, &table->rows.data[r]);
}

void print_rule(FILE *stream, char c, size_t width)
{
    while (width--)
        fputc(c, stream);
    fputc('\n', stream);
}

static void print_field(FILE *stream, const char *line, size_t width)
{
    fprintf(stream, " %s%*s |", line, (int)(width - min_u64(display_width(line), width)), "");
}

static void print_row(FILE *stream, const struct table *table, const struct table_row *row)
{
    size_t height = 1;
    for (size_t c = 0; c < table->n_columns; c++)
        if (row->cells[c].lines.count > height)
            height = row->cells[c].lines.count;
    for (size_t i = 0; i < height; i++) {
        fputc('|', stream);
        for (size_t c = 0; c < table->n_columns; c++) {
            const struct cell *cell = &row->cells[c];
            print_field(stream, i < cell->lines.count ? cell->lines.data[i] : "", table->widths[c]);
        }
        fputc('\n', stream);
    }
}

static void print_headers(FILE *stream, const struct table *table)
{
    print_rule(stream, '-', table_width(table));
    fputs(table->bold_headers ? "\x1b[1m|" : "|", stream);
    for (size_t c = 0; c < table->n_columns; c++)
        print_field(stream, table->headers[c], table->widths[c]);
    fputs(table->bold_headers ? "\x1b[0m\n" : "\n", stream);
    print_rule(stream, '-', table_width(table));
}

void table_print(FILE *stream, const struct table *table)
{
    print_headers(stream, table);
    for (size_t i = 0; i < table->rows.count; i++)
        print_row(stream, table, &table->rows.data[i]);
    print_rule(stream, '-', table_width(table));
}

void table_print_fitted(FILE *stream, struct arena *arena, struct table *table, const struct text_form *form)
{
    table_fit(arena, table, form->width);
    table->bold_headers = form->colours;
    table_print(stream, table);
}

void table_measure_rows(struct arena *arena, struct table *table, size_t count, table_row_fn *make, const void *user)
{
    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(arena);
        table->rows = (struct table){0}.rows;
        make(user, arena, table, i);
        arena_rewind(arena, mark);
    }
    table->rows = (struct table){0}.rows;
}

void table_print_rows(FILE *stream, struct arena *arena, const struct table *table, size_t count, table_row_fn *make,
                      const void *user)
{
    print_headers(stream, table);
    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct table made = *table; /* whose widths grow again */
        make(user, arena, &made, i);
        for (size_t r = 0; r < made.rows.count; r++) {
            if (table->narrowed)
                wrap_row(arena, table, &made.rows.data[r]);
            print_row(stream, table, &made.rows.data[r]);
        }
        arena_rewind(arena, mark);
    }
    print_rule(stream, '-', table_width(table));
}

/* Quotes a field that holds a separator, quote or line break, doubling its quotes. */
static void add_csv_cell(struct arena *arena, text *csv, const struct cell *cell)
{
    bool quote = cell->lines.count > 1;
    for (size_t i = 0; i < cell->lines.count; i++)
        quote |= strpbrk(cell->lines.data[i], ",\"") != NULL;
    if (quote)
        text_add(arena, csv, "\"");
    for (size_t i = 0; i < cell->lines.count; i++) {
        if (i)
            text_add(arena, csv, "\n");
        for (const char *p = cell->lines.data[i]; *p; p++)
            text_add_bytes(arena, csv, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    }
    if (quote)
        text_add(arena, csv, "\"");
}

void table_add_csv_headers(struct arena *arena, const struct table *table, text *csv)
{
    for (size_t c = 0; c < table->n_columns; c++)
        text_add(arena, csv, "%s%s", c ? "," : "", table->headers[c]);
    text_add(arena, csv, "\r\n");
}

void table_add_csv(struct arena *arena, const struct table *table, text *csv)
{
    for (size_t i = 0; i < table->rows.count; i++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            if (c)
                text_add(arena, csv, ",");
            add_csv_cell(arena, csv, &table->rows.data[i].cells[c]);
        }
        text_add(arena, csv, "\r\n");
    }
}
