/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/template.h"

#include <ctype.h>
#include <string.h>

#include "gen/templates.h"

/* ---- scopes ---- */

struct value {
    const char *name, *text;
};

struct list {
    const char *name;
    VEC(struct scope *) items;
};

struct scope {
    struct arena *arena;
    const struct scope *outer;
    VEC(struct value) values;
    VEC(struct list) lists;
};

struct scope *scope_new(struct arena *arena, const struct scope *outer)
{
    struct scope *s = arena_new(arena, struct scope);
    s->arena = arena;
    s->outer = outer;
    return s;
}

void scope_set(struct scope *s, const char *name, const char *value)
{
    for (size_t i = 0; i < s->values.count; i++)
        if (strcmp(s->values.data[i].name, name) == 0) {
            s->values.data[i].text = value;
            return;
        }
    vec_push(s->arena, &s->values, (struct value){name, value});
}

const char *scope_get(const struct scope *s, const char *name)
{
    for (; s; s = s->outer)
        for (size_t i = 0; i < s->values.count; i++)
            if (strcmp(s->values.data[i].name, name) == 0)
                return s->values.data[i].text;
    return NULL;
}

static const struct list *find_list(const struct scope *s, const char *name)
{
    for (; s; s = s->outer)
        for (size_t i = 0; i < s->lists.count; i++)
            if (strcmp(s->lists.data[i].name, name) == 0)
                return &s->lists.data[i];
    return NULL;
}

void scope_share(struct scope *s, const char *list, struct scope *item)
{
    size_t i = 0;
    while (i < s->lists.count && strcmp(s->lists.data[i].name, list) != 0)
        i++;
    if (i == s->lists.count)
        vec_push(s->arena, &s->lists, (struct list){.name = list});
    vec_push(s->arena, &s->lists.data[i].items, item);
}

struct scope *scope_add(struct scope *s, const char *list)
{
    struct scope *item = scope_new(s->arena, s);
    scope_share(s, list, item);
    return item;
}

/* ---- templates ---- */

const char *template_find(const char *name)
{
    for (const struct gen_template *t = gen_templates; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t->text;
    return NULL;
}

struct render {
    struct arena *arena;
    struct diags *diags;
    const char *name;
    text *out;
};

static odlc_status fault(const struct render *r, const char *problem, const char *what)
{
    return diag_error(r->diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "template", "template %s: %s %s", r->name, problem,
                      what);
}

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Whether a line is "@word@", or "@word NAME@" with the name in *argument. */
static bool is_directive(const struct render *r, const char *line, const char *word, const char **argument)
{
    const size_t length = strlen(word);
    const char *end = line_end(line), *last = end > line && end[-1] == '\n' ? end - 2 : end - 1;
    if (*line != '@' || strncmp(line + 1, word, length) != 0 || last <= line || *last != '@')
        return false;
    const char *rest = line + 1 + length;
    if (!argument)
        return rest == last;
    if (*rest != ' ')
        return false;
    *argument = arena_strndup(r->arena, rest + 1, (size_t)(last - rest - 1));
    return true;
}

/* The line of the @else@ (when `otherwise`) or @end@ that belongs to the block which begins at `line`. NULL: none. */
static const char *find_end(const struct render *r, const char *line, bool otherwise)
{
    const char *ignored;
    for (uint32_t depth = 0; *line; line = line_end(line)) {
        if (is_directive(r, line, "for", &ignored) || is_directive(r, line, "if", &ignored))
            depth++;
        bool ends = is_directive(r, line, "end", NULL);
        if ((ends || (otherwise && is_directive(r, line, "else", NULL))) && depth == 0)
            return line;
        depth -= ends;
    }
    return NULL;
}

/* A line of text with its placeholders replaced. */
static odlc_status render_line(const struct render *r, const char *line, const char *end, const struct scope *s)
{
    while (line < end) {
        const char *at = memchr(line, '@', (size_t)(end - line)), *name = at ? at + 1 : NULL, *close = name;
        while (close && close < end && (isalnum((unsigned char)*close) || *close == '_'))
            close++;
        if (!at || close == end || close == name || *close != '@') {
            const char *stop = at ? at + 1 : end;
            text_add_bytes(r->arena, r->out, line, (size_t)(stop - line));
            line = stop;
            continue;
        }
        const char *key = arena_strndup(r->arena, name, (size_t)(close - name)), *value = scope_get(s, key);
        if (!value)
            return fault(r, "nothing is called", key);
        text_add_bytes(r->arena, r->out, line, (size_t)(at - line));
        text_add_bytes(r->arena, r->out, value, strlen(value));
        line = close + 1;
    }
    return ODLC_OK;
}

static odlc_status render(const struct render *r, const char *from, const char *to, const struct scope *s);

/* The block of a @for@ or @if@ line, and *line behind its @end@. */
static odlc_status render_block(const struct render *r, const char **line, const char *name, bool repeated,
                                const struct scope *s)
{
    const char *begin = line_end(*line), *end = find_end(r, begin, false), *middle = find_end(r, begin, true);
    if (!end)
        return fault(r, "no @end@ for", name);
    *line = line_end(end);
    const struct list *list = find_list(s, name);
    if (repeated) {
        for (size_t i = 0; list && i < list->items.count; i++)
            TRY(render(r, begin, end, list->items.data[i]));
        return ODLC_OK;
    }
    const char *value = scope_get(s, name);
    bool holds = list ? list->items.count > 0 : value && *value;
    if (holds)
        return render(r, begin, middle, s);
    return middle == end ? ODLC_OK : render(r, line_end(middle), end, s);
}

static odlc_status render_included(const struct render *r, const char *name, const struct scope *s)
{
    struct render inner = *r;
    const char *included = template_find(name);
    if (!included)
        return fault(r, "no template is called", name);
    inner.name = name;
    return render(&inner, included, included + strlen(included), s);
}

static odlc_status render(const struct render *r, const char *from, const char *to, const struct scope *s)
{
    while (from < to) {
        const char *name;
        if (is_directive(r, from, "include", &name)) {
            TRY(render_included(r, name, s));
            from = line_end(from);
            continue;
        }
        bool repeated = is_directive(r, from, "for", &name);
        if (repeated || is_directive(r, from, "if", &name)) {
            TRY(render_block(r, &from, name, repeated, s));
            continue;
        }
        if (is_directive(r, from, "end", NULL) || is_directive(r, from, "else", NULL))
            return fault(r, "a line without its block:", "@end@ or @else@");
        TRY(render_line(r, from, line_end(from), s));
        from = line_end(from);
    }
    return ODLC_OK;
}

odlc_status template_render(struct arena *arena, struct diags *diags, const char *name, const char *template,
                            const struct scope *scope, text *out)
{
    const struct render r = {.arena = arena, .diags = diags, .name = name, .out = out};
    return render(&r, template, template + strlen(template), scope);
}
