/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/manual.h"

#include <ctype.h>
#include <string.h>

#define WIDTH 110

/* ---- text → roff ---- */

static void put_char(FILE *stream, char c, bool literal)
{
    if (c == '\\')
        fputs("\\e", stream);
    else if (c == '^')
        fputs("\\(ha", stream);
    else if (c == '-' && literal)
        fputs("\\-", stream);
    else
        fputc(c, stream);
}

/* Prints the word up to a blank or the end of the text, and gives its length. `style` is the mark of the font that the
 * word begins in, or 0, and becomes that of the next word. */
static size_t put_word(FILE *stream, const char *word, bool capital, char *style)
{
    size_t length = strcspn(word, " \n");
    bool option = *word == '-';
    if (*word == '.' || *word == '\'')
        fputs("\\&", stream); /* else a line that begins so would be a request */
    for (size_t i = 0; i < length; i++) {
        bool mark = word[i] == *style || (!*style && (word[i] == '`' || word[i] == '*'));
        if (mark) {
            fputs(*style ? "\\fR" : word[i] == '`' ? "\\fB" : "\\fI", stream);
            *style = *style ? '\0' : word[i];
        } else {
            put_char(stream, capital && i == 0 ? (char)toupper((unsigned char)word[i]) : word[i],
                     option || *style == '`');
        }
    }
    return length;
}

/* Prints filled text with a large first letter, and `end` behind it. */
static void put_text(FILE *stream, const char *words, const char *end)
{
    const char *const first = words;
    size_t column = 0;
    char style = '\0';
    while (*words) {
        if (*words == '\n') {
            fputs("\n.IP\n", stream);
            column = 0;
            words++;
            continue;
        }
        size_t length = strcspn(words, " \n");
        bool fits = column == 0 || column + 1 + length <= WIDTH;
        if (column)
            fputc(fits ? ' ' : '\n', stream);
        column = (fits && column ? column + 1 : 0) + put_word(stream, words, words == first, &style);
        words += length + strspn(words + length, " ");
    }
    fprintf(stream, "%s\n", end);
}

/* ---- rows ---- */

static bool in_word(const char *at)
{
    return isalnum((unsigned char)*at) || *at == '_' || (*at == '.' && isalnum((unsigned char)at[1]));
}

/* "[layout|datatype [NAME...]]": what is to be replaced is in capitals and becomes italic, other words are bold. */
static void put_values(FILE *stream, const char *values)
{
    while (*values) {
        size_t length = 0;
        while (in_word(values + length))
            length++;
        if (length) {
            fprintf(stream, "\\f%c%.*s\\fR", isupper((unsigned char)*values) ? 'I' : 'B', (int)length, values);
            values += length;
        } else {
            fputc(*values++, stream);
        }
    }
}

static void put_spelling(FILE *stream, const char *dashes, const char *name, bool first)
{
    fputs(first ? "\\fB" : ", \\fB", stream);
    for (; *dashes; dashes++)
        fputs("\\-", stream);
    fprintf(stream, "%s\\fR", name);
}

static void put_option(FILE *stream, const struct option *row)
{
    fputs(".TP\n", stream);
    for (size_t i = 0; i < COUNT_OF(row->shorts) && row->shorts[i]; i++)
        put_spelling(stream, "-", row->shorts[i], i == 0);
    put_spelling(stream, "--", row->name, !row->shorts[0]);
    for (size_t i = 0; i < COUNT_OF(row->aliases) && row->aliases[i]; i++)
        put_spelling(stream, "--", row->aliases[i], false);
    if (row->values) {
        fputc(' ', stream);
        put_values(stream, row->values);
    }
    fputc('\n', stream);
    put_text(stream, row->help, ".");
    if (row->more)
        put_text(stream, row->more, "");
}

void manual_print_options(FILE *stream, const struct command *command)
{
    for (size_t i = 0; i < command->n_rows; i++) {
        const char *section = command->rows[i].section;
        if (!option_opens_section(command, i))
            continue;
        if (section)
            fprintf(stream, ".SS %s\n", section);
        for (size_t k = i; k < command->n_rows; k = option_row_of(command, section, k + 1))
            put_option(stream, &command->rows[k]);
    }
}
