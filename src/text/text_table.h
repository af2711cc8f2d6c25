/* SPDX-License-Identifier: Apache-2.0 */
/* Tables whose cells have several lines. */
#ifndef TEXT_TEXT_TABLE_H
#define TEXT_TEXT_TABLE_H

#include <stdio.h>

#include "base/vec.h"

#define TABLE_MAX_COLUMNS 9

struct cell {
    VEC(const char *) lines;
};

struct table_row {
    struct cell cells[TABLE_MAX_COLUMNS];
};

struct table {
    size_t n_columns;
    const char *headers[TABLE_MAX_COLUMNS];
    VEC(struct table_row) rows;
    size_t widths[TABLE_MAX_COLUMNS]; /* of the widest line, in characters */
    bool bold_headers;                /* for terminals */
    bool narrowed;                    /* lines are wrapped to the widths */
};

/* What a text is printed for. */
struct text_form {
    size_t width; /* characters of a line that tables are fitted to; 0: as wide as they are */
    bool colours; /* of a terminal */
};

/* Adds row `index` of something longer to the table, or no row; with memory of the arena. */
typedef void table_row_fn(const void *user, struct arena *arena, struct table *table, size_t index);

struct table table_create(size_t n_columns, const char *const *headers);
/* Adds a line to a cell: what must not reach a terminal is escaped. The table's widths follow, to 1,024 characters: a
 * wider line stands out of its column. */
void table_add_line(struct arena *arena, struct table *table, struct cell *cell, const char *line);
/* Adds an empty row; the pointer is valid until the next row. */
struct table_row *table_add_row(struct arena *arena, struct table *table);

/* The length of a line of the printed table. */
size_t table_width(const struct table *table);
void print_rule(FILE *stream, char c, size_t width);
/* Wraps cells until the printed table is at most `width` characters wide, or no narrower one is possible: columns keep
 * the width of their headers, and at least a few characters. Breaks stand behind blanks where there are some, and
 * nothing is left out: the pieces of a line together are the line. 0: as wide as it is. */
void table_fit(struct arena *arena, struct table *table, size_t width);
/* With bars between columns, and rules of '-' around headers and at the end. */
void table_print(FILE *stream, const struct table *table);
/* The same, fitted to a form, whose colours make headers bold. Changes the table. */
void table_print_fitted(FILE *stream, struct arena *arena, struct table *table, const struct text_form *form);
/* As CSV (RFC 4180): one record a row; lines of a cell are separated by LF. */
void table_add_csv_headers(struct arena *arena, const struct table *table, text *csv);
void table_add_csv(struct arena *arena, const struct table *table, text *csv);

/* Long tables are not kept: their rows are made twice, first to measure them, so that the table has the widths that it
 * would have with all of them, then to be printed. The arena is rewound after each. */
void table_measure_rows(struct arena *arena, struct table *table, size_t count, table_row_fn *make, const void *user);
void table_print_rows(FILE *stream, struct arena *arena, const struct table *table, size_t count, table_row_fn *make,
                      const void *user);

/* In characters, not bytes, of UTF-8. */
size_t display_width(const char *line);
/* string with escapes for what must not reach a terminal (text/hidden.h); the string itself when it has none of it. */
const char *printable(struct arena *arena, const char *string);

#endif
