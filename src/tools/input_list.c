#include "tools/input_list.h"

#include <string.h>

#include "base/file.h"

struct list_reader {
    struct arena *arena;
    struct diags *diags;
    const char *path;
    uint32_t line; /* being read, from 1 */
    struct input_list *out;
};

typedef VEC(const char *) words;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static words split_line(struct arena *arena, const char *line, size_t length)
{
    words found = {0};
    for (size_t i = 0; i < length;) {
        size_t start = i;
        while (i < length && !is_blank(line[i]))
            i++;
        if (i > start)
            vec_push(arena, &found, arena_strndup(arena, line + start, i - start));
        else
            i++;
    }
    return found;
}

static odlc_status list_error(struct list_reader *r, const char *hint, const char *message, const char *word)
{
    return diag_error(r->diags, ODLC_ERR_USAGE, AT(.file = r->path, .line = r->line, .hint = hint), "input-list",
                      "%s '%s'", message, word);
}

/* `#a b` or `%a b`; the sign may stand alone. */
static odlc_status read_choice(struct list_reader *r, const words *line)
{
    char sign = line->data[0][0];
    if (r->out->inferences.count || r->out->choice != LIST_ALL_OUTPUTS)
        return list_error(r, "only the first line of the list may choose",
                          "too late to choose what is computed:", line->data[0]);
    words chosen = {0};
    if (line->data[0][1])
        vec_push(r->arena, &chosen, line->data[0] + 1);
    for (size_t i = 1; i < line->count; i++)
        vec_push(r->arena, &chosen, line->data[i]);
    if (!chosen.count)
        return list_error(r, NULL, "no names after", line->data[0]);
    r->out->choice = sign == '#' ? LIST_NODES : LIST_TENSORS;
    r->out->chosen = chosen.data;
    r->out->n_chosen = chosen.count;
    return ODLC_OK;
}

static odlc_status read_inference(struct list_reader *r, const words *line)
{
    struct input_item *items = arena_array(r->arena, struct input_item, line->count);
    for (size_t i = 0; i < line->count; i++) {
        const char *word = line->data[i], *sign = strstr(word, ":=");
        items[i].path = sign ? sign + 2 : word;
        items[i].name = sign ? arena_strndup(r->arena, word, (size_t)(sign - word)) : NULL;
        if (!*items[i].path || (sign && sign == word))
            return list_error(r, "an input is written name:=path", "a name or path is missing in", word);
        if (!sign && line->count > 1)
            return list_error(r, "with several inputs write name:=path for each", "which input is this for?", word);
    }
    vec_push(r->arena, &r->out->inferences, (struct inference){r->line, items, line->count});
    return ODLC_OK;
}

static odlc_status read_line(struct list_reader *r, const char *line, size_t length)
{
    words found = split_line(r->arena, line, length);
    if (!found.count)
        return ODLC_OK;
    if (found.data[0][0] == '#' || found.data[0][0] == '%')
        return read_choice(r, &found);
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

odlc_status input_list_read(struct arena *arena, struct diags *diags, const char *path, struct input_list *out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    return input_list_parse(arena, diags, path, (const char *)file->data, file->size, out);
}
