/* SPDX-License-Identifier: Apache-2.0 */
/* Differences as text and as CSV. */
#include <inttypes.h>
#include <string.h>

#include "report/diff_text.h"

#define WRAP 48 /* columns of a value in the text; CSV has it on one line */
#define N_TEXT_COLUMNS 6

static const char *const headers[] = {"Graph", "Layer", "Compared", "What", "In 1", "In 2", "Difference"};

/* The longest beginning of `line` that fits a cell: it ends with a word where that costs less than half of the cell,
 * and never inside a character of UTF-8. */
static size_t piece_length(const char *line)
{
    size_t length = strlen(line), word = WRAP;
    if (length <= WRAP)
        return length;
    while (word > WRAP / 2 && line[word - 1] != ' ')
        word--;
    if (word > WRAP / 2)
        return word;
    length = WRAP;
    while (length > 1 && ((unsigned char)line[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* Long texts (command lines, lists of names) are shown from the first word that differs to the last one. */
static void trim_common(struct arena *arena, const char *values[2])
{
    size_t length[] = {strlen(values[0]), strlen(values[1])}, start = 0, i = 0, end = 0;
    size_t shorter = length[0] < length[1] ? length[0] : length[1];
    if (length[0] <= WRAP && length[1] <= WRAP)
        return;
    for (; i < shorter && values[0][i] == values[1][i]; i++)
        if (values[0][i] == ' ')
            start = i + 1;
    for (i = 1; i <= shorter - start && values[0][length[0] - i] == values[1][length[1] - i]; i++)
        if (values[0][length[0] - i] == ' ')
            end = i;
    for (size_t k = 0; k < 2; k++)
        values[k] = arena_printf(arena, "%s%.*s%s", start ? "... " : "", (int)(length[k] - start - end),
                                 values[k] + start, end ? " ..." : "");
}

static void add_wrapped(struct arena *arena, struct table *table, struct cell *cell, const char *line, bool wrap)
{
    line = printable(arena, line);
    do {
        size_t length = wrap ? piece_length(line) : strlen(line);
        table_add_line(arena, table, cell, arena_strndup(arena, line, length));
        line += length;
    } while (*line);
}

static void add_statistics(struct arena *arena, struct table *table, struct cell *cell,
                           const struct odlc_diff_statistics *s)
{
    table_add_line(arena, table, cell,
                   arena_printf(arena, "%" PRIu64 " of %" PRIu64 " differ", s->differing, s->elements));
    if (s->has_stored)
        table_add_line(arena, table, cell, arena_printf(arena, "%" PRIu64 " as stored", s->stored));
    if (!s->numbers)
        return;
    if (s->special)
        table_add_line(arena, table, cell, arena_printf(arena, "%" PRIu64 " of them not finite", s->special));
    table_add_line(arena, table, cell, arena_printf(arena, "max absolute %.6g", s->max_absolute));
    table_add_line(arena, table, cell, arena_printf(arena, "max relative %.6g", s->max_relative));
    table_add_line(arena, table, cell, arena_printf(arena, "cosine %.9g", s->cosine));
    table_add_line(arena, table, cell, arena_printf(arena, "largest at element %" PRIu64, s->worst));
}

static const char *verdict(const struct odlc_difference *r)
{
    if (r->same)
        return "same";
    if (!r->values[0])
        return "only in 2";
    return r->values[1] ? "differs" : "only in 1";
}

/* The columns begin with headers[first]. In the text, which has no column for the graph, a layer is named once. */
static void add_record(struct arena *arena, const struct diff *d, struct table *table, const struct odlc_difference *r,
                       size_t first)
{
    bool in_text = first > 0;
    const struct odlc_difference *before = r > d->list.data ? r - 1 : NULL;
    const char *values[] = {r->values[0] ? r->values[0] : "(absent)", r->values[1] ? r->values[1] : "(absent)"};
    if (in_text)
        trim_common(arena, values);
    bool again = in_text && before && before->layer == r->layer && before->graph == r->graph;
    const char *const words[] = {
        r->graph, again ? "" : r->layer, odlc_diff_category_name(r->category), r->subject, values[0], values[1]};
    struct cell *cells = table_add_row(arena, table)->cells;
    for (size_t i = first; i < COUNT_OF(words); i++)
        add_wrapped(arena, table, &cells[i - first], words[i] ? words[i] : "", in_text);
    struct cell *last = &cells[COUNT_OF(words) - first];
    if (r->statistics)
        add_statistics(arena, table, last, r->statistics);
    else
        table_add_line(arena, table, last, verdict(r));
}

void diff_csv(struct arena *arena, const struct diff *d, text *csv)
{
    struct table table = table_create(COUNT_OF(headers), headers);
    for (size_t i = 0; i < d->list.count; i++)
        add_record(arena, d, &table, &d->list.data[i], 0);
    table_add_csv_headers(arena, &table, csv);
    table_add_csv(arena, &table, csv);
}

/* Records from `from` on that belong to one graph, as a table; returns where the next one's begin. */
static size_t print_section(FILE *stream, struct arena *arena, const struct diff *d, size_t from,
                            const struct text_form *form)
{
    const char *graph = d->list.data[from].graph;
    struct table table = table_create(N_TEXT_COLUMNS, headers + 1);
    size_t i = from;
    for (; i < d->list.count && d->list.data[i].graph == graph; i++)
        add_record(arena, d, &table, &d->list.data[i], 1);
    if (graph)
        fprintf(stream, "\nGraph: %s\n", printable(arena, graph));
    else
        fprintf(stream, "\nContainer:\n");
    table_print_fitted(stream, arena, &table, form);
    return i;
}

static void print_counts(FILE *stream, const struct diff *d)
{
    uint64_t compared = 0;
    fputc('\n', stream);
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++) {
        compared += d->compared[i];
        if (d->options->selected[i])
            fprintf(stream, "%-12s%" PRIu64 " compared, %" PRIu64 " different\n", odlc_diff_category_name(i),
                    d->compared[i], d->differing[i]);
    }
    if (!compared)
        fprintf(stream, "There is nothing to compare.\n");
    else
        fprintf(stream, "The containers %s in what was compared.\n", diff_found(d) ? "differ" : "are the same");
}

void diff_print_text(FILE *stream, struct arena *arena, const struct diff *d, const struct text_form *form)
{
    fprintf(stream, "DLC diff of: 1: %s\n", printable(arena, odlc_container_summary(d->containers[0])->path));
    fprintf(stream, "             2: %s\n", printable(arena, odlc_container_summary(d->containers[1])->path));
    for (size_t i = 0; i < d->notes.count; i++)
        fprintf(stream, "Note: %s\n", d->notes.data[i]);
    for (size_t i = 0; i < d->list.count;)
        i = print_section(stream, arena, d, i, form);
    print_counts(stream, d);
}
