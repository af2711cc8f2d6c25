/* SPDX-License-Identifier: Apache-2.0 */
#include "text/yaml_text.h"

#include <string.h>
#include <yaml.h>

#include "base/c_locale.h"

/* A mapping or sequence that is not at its end yet. */
struct level {
    struct json_value *value, *last; /* its last child */
    const char *key;                 /* of a mapping: the next value is that key's; NULL: a key comes */
    uint32_t key_begin;
};

struct reader {
    struct json *j;
    yaml_parser_t parser;
    struct level levels[JSON_MAX_DEPTH];
    uint32_t depth;
    size_t n_values;
    size_t characters, bytes; /* of the text before the last place */
};

static odlc_status complain(struct reader *r, size_t offset, const char *hint, const char *message)
{
    return json_error_at(r->j, offset, NULL, hint, "yaml-syntax", "%s", message);
}

/* The offset of a mark, which counts characters. Marks only go on, but for those of errors. */
static uint32_t offset_of(struct reader *r, const yaml_mark_t *mark)
{
    const struct source *s = &r->j->source;
    if (mark->index < r->characters) {
        r->characters = 0;
        r->bytes = source_text_start(s);
    }
    for (; r->characters < mark->index && r->bytes < s->size; r->characters++) {
        const size_t length = source_utf8_length(s, r->bytes);
        r->bytes += length ? length : 1;
    }
    return (uint32_t)r->bytes;
}

/* ---- scalars ---- */

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* A decimal number; ".5", "5." and "+1" are some in YAML. */
static bool read_number(const char *word, double *number)
{
    const char *digit = word + (*word == '-' || *word == '+');
    char *end;
    if (!c_isdigit(*digit) && !(*digit == '.' && c_isdigit(digit[1])))
        return false;
    if (digit[0] == '0' && c_tolower(digit[1]) == 'x')
        return false;
    *number = c_strtod(word, &end);
    return *end == '\0';
}

static void set_scalar(struct reader *r, struct json_value *value, const char *word, bool plain)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const truths[] = {"true", "True", "TRUE"}, *const lies[] = {"false", "False", "FALSE"};
    value->kind = JSON_STRING;
    if (plain && is_one_of(word, nulls, COUNT_OF(nulls))) {
        value->kind = JSON_NULL;
    } else if (plain && (is_one_of(word, truths, COUNT_OF(truths)) || is_one_of(word, lies, COUNT_OF(lies)))) {
        value->kind = JSON_BOOL;
        value->truth = c_tolower(word[0]) == 't';
    } else if (plain && read_number(word, &value->number)) {
        value->kind = JSON_NUMBER;
    } else {
        value->string = arena_strdup(r->j->source.arena, word);
    }
}

/* ---- the tree ---- */

static struct level *top(struct reader *r)
{
    return r->depth ? &r->levels[r->depth - 1] : NULL;
}

/* A new value where the text is. */
static odlc_status add_value(struct reader *r, enum json_kind kind, const yaml_event_t *e, struct json_value **out)
{
    struct level *level = top(r);
    const uint32_t begin = offset_of(r, &e->start_mark);
    if (++r->n_values > JSON_MAX_VALUES)
        return diag_error(r->j->source.diags, ODLC_ERR_LIMIT, AT(.file = r->j->source.path), "yaml-too-large",
                          "a text may have %zu values", JSON_MAX_VALUES);
    struct json_value *value = arena_new(r->j->source.arena, struct json_value);
    *value = (struct json_value){.kind = kind, .begin = begin, .key_begin = JSON_NO_KEY};
    value->end = offset_of(r, &e->end_mark);
    if (level) {
        value->parent = level->value;
        value->position = level->last ? level->last->position + 1 : 0;
        if (level->value->kind == JSON_OBJECT) {
            value->key = level->key;
            value->key_begin = level->key_begin;
            level->key = NULL;
        }
        *(level->last ? &level->last->next : &level->value->child) = value;
        level->last = value;
    } else {
        r->j->root = value;
    }
    *out = value;
    return ODLC_OK;
}

static bool is_key(const struct level *level)
{
    return level && level->value->kind == JSON_OBJECT && !level->key;
}

static odlc_status take_scalar(struct reader *r, const yaml_event_t *e)
{
    const char *word = (const char *)e->data.scalar.value;
    struct json_value *value;
    if (strlen(word) != e->data.scalar.length)
        return complain(r, offset_of(r, &e->start_mark), NULL, "a text has no characters of code 0");
    if (is_key(top(r))) {
        top(r)->key = arena_strdup(r->j->source.arena, word);
        top(r)->key_begin = offset_of(r, &e->start_mark);
        return ODLC_OK;
    }
    TRY(add_value(r, JSON_NULL, e, &value));
    set_scalar(r, value, word, e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
    return ODLC_OK;
}

static odlc_status open_level(struct reader *r, enum json_kind kind, const yaml_event_t *e)
{
    struct json_value *value;
    if (is_key(top(r)))
        return complain(r, offset_of(r, &e->start_mark), NULL, "a key is a word");
    if (r->depth == JSON_MAX_DEPTH)
        return complain(r, offset_of(r, &e->start_mark), NULL, "values are nested too deeply");
    TRY(add_value(r, kind, e, &value));
    r->levels[r->depth++] = (struct level){.value = value};
    return ODLC_OK;
}

static odlc_status take(struct reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(r, JSON_ARRAY, e);
    case YAML_MAPPING_START_EVENT:
        return open_level(r, JSON_OBJECT, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->levels[--r->depth].value->end = offset_of(r, &e->end_mark);
        return ODLC_OK;
    case YAML_ALIAS_EVENT:
        return complain(r, offset_of(r, &e->start_mark), "write the value once more", "aliases are not read");
    case YAML_DOCUMENT_START_EVENT:
        return r->j->root ? complain(r, offset_of(r, &e->start_mark), "remove it", "there is a second document")
                          : ODLC_OK;
    default:
        return ODLC_OK;
    }
}

/* What the library says of a text that it cannot read. */
static odlc_status complain_of_text(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return ODLC_ERR_NOMEM;
    const char *context = p->context ? arena_printf(r->j->source.arena, "%s, ", p->context) : "";
    if (p->error == YAML_READER_ERROR)
        return complain(r, p->problem_offset, NULL, p->problem);
    return json_error_at(r->j, offset_of(r, &p->problem_mark), NULL, NULL, "yaml-syntax", "%s%s", context, p->problem);
}

static odlc_status read_events(struct reader *r)
{
    bool ended = false;
    odlc_status status = ODLC_OK;
    while (status == ODLC_OK && !ended) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e))
            return complain_of_text(r);
        ended = e.type == YAML_STREAM_END_EVENT;
        status = take(r, &e);
        yaml_event_delete(&e);
    }
    return status;
}

odlc_status yaml_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out)
{
    struct json *j = arena_new(arena, struct json);
    TRY(source_init(&j->source, arena, diags, path, text, size));
    source_find_lines(&j->source);
    struct reader r = {.j = j, .bytes = source_text_start(&j->source)};
    if (!yaml_parser_initialize(&r.parser))
        return ODLC_ERR_NOMEM;
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(size ? text : ""), size);
    const odlc_status status = read_events(&r);
    yaml_parser_delete(&r.parser);
    TRY(status);
    if (!j->root)
        *(j->root = arena_new(arena, struct json_value)) =
            (struct json_value){.kind = JSON_NULL, .key_begin = JSON_NO_KEY};
    json_check_keys(j);
    *out = j;
    return ODLC_OK;
}
