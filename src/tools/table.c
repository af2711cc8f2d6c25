#include "tools/table.h"

#include <string.h>

struct table table_create(size_t n_columns, const char *const *headers)
{
    struct table table = {.n_columns = n_columns};
    for (size_t c = 0; c < n_columns; c++) {
        table.headers[c] = headers[c];
        table.widths[c] = strlen(headers[c]);
    }
    return table;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

const char *printable(struct arena *arena, const char *string)
{
    const char *p = string;
    while (*p && !is_control(*p))
        p++;
    if (!*p)
        return string;
    text clean = {0};
    for (p = string; *p; p++) {
        if (is_control(*p))
            text_add(arena, &clean, "\\x%02x", (unsigned char)*p);
        else
            text_add_bytes(arena, &clean, p, 1);
    }
    return clean.data;
}

/* In characters, not bytes, of UTF-8. */
static size_t display_width(const char *line)
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
    width = display_width(line);
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

void print_rule(FILE *stream, char c, size_t width)
{
    while (width--)
        fputc(c, stream);
    fputc('\n', stream);
}

static void print_field(FILE *stream, const char *line, size_t width)
{
    fprintf(stream, " %s%*s |", line, (int)(width - display_width(line)), "");
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

void table_print(FILE *stream, const struct table *table)
{
    size_t width = table_width(table);
    print_rule(stream, '-', width);
    fputc('|', stream);
    for (size_t c = 0; c < table->n_columns; c++)
        print_field(stream, table->headers[c], table->widths[c]);
    fputc('\n', stream);
    print_rule(stream, '-', width);
    for (size_t i = 0; i < table->rows.count; i++)
        print_row(stream, table, &table->rows.data[i]);
    print_rule(stream, '-', width);
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

void table_add_csv(struct arena *arena, const struct table *table, text *csv)
{
    for (size_t c = 0; c < table->n_columns; c++)
        text_add(arena, csv, "%s%s", c ? "," : "", table->headers[c]);
    text_add(arena, csv, "\r\n");
    for (size_t i = 0; i < table->rows.count; i++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            if (c)
                text_add(arena, csv, ",");
            add_csv_cell(arena, csv, &table->rows.data[i].cells[c]);
        }
        text_add(arena, csv, "\r\n");
    }
}
