/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/input_list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

struct list_reader {
    struct arena *arena;
    struct diags *diags;
    const char *path;
    uint32_t line; /* being read, from 1 */
    struct input_list *out;
};

/* A word of a line, without the quotes and backslashes that protect blanks. */
struct word {
    const char *text;
    const char *path; /* behind the first := that is not quoted; NULL: there is none */
};

typedef VEC(struct word) words;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static odlc_status list_error(struct list_reader *r, const char *hint, const char *message, const char *word)
{
    return diag_error(r->diags, ODLC_ERR_USAGE, AT(.file = r->path, .line = r->line, .hint = hint), "input-list",
                      "%s '%s'", message, word);
}

/* A name in which := is nothing special. */
static const char *whole_word(struct arena *arena, const struct word *word)
{
    return word->path ? arena_printf(arena, "%s:=%s", word->text, word->path) : word->text;
}

static bool is_protected(char c)
{
    return is_blank(c) || c == '"' || c == '\'' || c == '\\';
}

/* Reads from line[*at] on, which is no blank; `text` has room for the line. Quotes count where a name or a path begins:
 * elsewhere they are part of it. */
static odlc_status read_word(struct list_reader *r, const char *line, size_t length, size_t *at, char *text,
                             struct word *out)
{
    char quote = '\0';
    size_t count = 0, begin = *at, i = begin, path = 0;
    bool starts = true;
    for (; i < length && (quote || !is_blank(line[i])); i++) {
        bool escapes = line[i] == '\\' && quote != '\'' && i + 1 < length && is_protected(line[i + 1]);
        if (quote && line[i] == quote) {
            quote = '\0';
        } else if (!quote && starts && (line[i] == '"' || line[i] == '\'')) {
            quote = line[i];
        } else if (!quote && !path && line[i] == ':' && i + 1 < length && line[i + 1] == '=') {
            text[count++] = '\0';
            path = count;
            i++;
            starts = true;
            continue;
        } else {
            i += escapes;
            text[count++] = line[i];
        }
        starts = false;
    }
    if (quote)
        return list_error(
            r, "a quote at the start of a name or path ends at the next one like it; write \\\" for one that is meant",
            "a quote is not closed in", arena_strndup(r->arena, line + begin, i - begin));
    text[count] = '\0';
    text = arena_memdup(r->arena, text, count + 1);
    *out = (struct word){text, path ? text + path : NULL};
    *at = i;
    return ODLC_OK;
}

static odlc_status split_line(struct list_reader *r, const char *line, size_t length, words *found)
{
    char *text = arena_alloc(r->arena, length + 1);
    for (size_t i = 0; i < length;) {
        struct word word;
        if (is_blank(line[i])) {
            i++;
            continue;
        }
        TRY(read_word(r, line, length, &i, text, &word));
        vec_push(r->arena, found, word);
    }
    return ODLC_OK;
}

/* `#a b` or `%a b`; the sign may stand alone. */
static odlc_status read_choice(struct list_reader *r, const char *line, size_t length)
{
    size_t sign = 0;
    words names = {0};
    while (is_blank(line[sign]))
        sign++;
    TRY(split_line(r, line + sign + 1, length - sign - 1, &names));
    if (r->out->inferences.count || r->out->choice != LIST_ALL_OUTPUTS)
        return list_error(r, "only the first line of the list may choose",
                          "too late to choose what is computed:", arena_strndup(r->arena, line, length));
    const char **chosen = arena_array(r->arena, const char *, names.count);
    for (size_t i = 0; i < names.count; i++)
        chosen[i] = whole_word(r->arena, &names.data[i]);
    if (!names.count)
        return list_error(r, NULL, "no names after", line[sign] == '#' ? "#" : "%");
    r->out->choice = line[sign] == '#' ? LIST_NODES : LIST_TENSORS;
    r->out->chosen = chosen;
    r->out->n_chosen = names.count;
    return ODLC_OK;
}

static odlc_status read_inference(struct list_reader *r, const words *line)
{
    struct input_item *items = arena_array(r->arena, struct input_item, line->count);
    for (size_t i = 0; i < line->count; i++) {
        const struct word *word = &line->data[i];
        items[i].path = word->path ? word->path : word->text;
        items[i].name = word->path ? word->text : NULL;
        if (!*items[i].path || (word->path && !*word->text))
            return list_error(r, "an input is written name:=path", "a name or path is missing in",
                              whole_word(r->arena, word));
        if (!word->path && line->count > 1)
            return list_error(r, "with several inputs write name:=path for each; quote a path that has blanks",
                              "which input is this for?", word->text);
    }
    vec_push(r->arena, &r->out->inferences, (struct inference){r->line, items, line->count});
    return ODLC_OK;
}

static odlc_status read_line(struct list_reader *r, const char *line, size_t length)
{
    words found = {0};
    size_t start = 0;
    while (start < length && is_blank(line[start]))
        start++;
    if (start == length)
        return ODLC_OK;
    if (line[start] == '#' || line[start] == '%')
        return read_choice(r, line, length);
    TRY(split_line(r, line, length, &found));
    return read_inference(r, &found);
}

odlc_status input_list_parse(struct arena *arena, struct diags *diags, const char *path, const char *text,
                             uint64_t size, struct input_list *out)
{
    if (size && memchr(text, '\0', size))
        return diag_error(diags, ODLC_ERR_USAGE,
                          AT(.file = path, .hint = "the list is a text file that names files of raw data"),
                          "input-list", "the input list is not text");
    *out = (struct input_list){.path = path};
    struct list_reader r = {.arena = arena, .diags = diags, .path = path, .out = out};
    for (uint64_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        r.line++;
        TRY(read_line(&r, text + at, length));
        at += length + 1;
    }
    return ODLC_OK;
}

static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

odlc_status input_list_take_stream(struct arena *arena, struct diags *diags, const char *path)
{
    char piece[4096];
    text list = {0};
    ssize_t got;
    if (!is_stream(path))
        return ODLC_OK;
    text_add(arena, &list, "%s", "");
    while ((got = read(STDIN_FILENO, piece, sizeof piece)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return diag_error(diags, ODLC_ERR_IO, AT(.file = NULL), "io", "standard input cannot be read: %s",
                              strerror(errno));
        text_add_bytes(arena, &list, piece, (size_t)got);
    }
    diags_take_buffer(diags, &(struct odlc_bytes){path, list.data, list.count});
    return ODLC_OK;
}

odlc_status input_list_read(struct arena *arena, struct diags *diags, const char *path, struct input_list *out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    return input_list_parse(arena, diags, is_stream(path) ? "standard input" : path, (const char *)file->data,
                            file->size, out);
}
