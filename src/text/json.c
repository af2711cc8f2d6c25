/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include <string.h>

#include "base/map.h"

const struct json_value *json_member(const struct json_value *object, const char *key)
{
    const struct json_value *member = json_is(object, JSON_OBJECT) ? object->child : NULL;
    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}

/* One step of a pointer: "/0", or "/" and the key with ~ and / escaped. */
static void add_step(struct arena *arena, text *t, const struct json_value *value)
{
    if (!value->key) {
        text_add(arena, t, "/%u", value->position);
        return;
    }
    text_add(arena, t, "/");
    for (const char *c = value->key; *c; c++) {
        const char *escaped = *c == '~' ? "~0" : *c == '/' ? "~1" : NULL;
        text_add_bytes(arena, t, escaped ? escaped : c, escaped ? 2 : 1);
    }
}

const char *json_pointer(const struct json *j, const struct json_value *value)
{
    const struct json_value *path[JSON_MAX_DEPTH + 1];
    uint32_t depth = 0;
    for (; value->parent && depth < COUNT_OF(path); value = value->parent)
        path[depth++] = value;
    text t = {0};
    while (depth > 0)
        add_step(j->source.arena, &t, path[--depth]);
    return t.count ? t.data : "";
}

const char *json_source(const struct json *j, const struct json_value *value, size_t *length)
{
    *length = value->end - value->begin;
    return j->source.text + value->begin;
}

/* ---- diagnostics ---- */

odlc_status json_error_at(struct json *j, size_t offset, const char *pointer, const char *hint, const char *code,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    return source_error(&j->source, offset, pointer, hint, code, message);
}

odlc_status json_error(struct json *j, const struct json_value *value, const char *hint, const char *code,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    return source_error(&j->source, value->begin, json_pointer(j, value), hint, code, message);
}

static size_t key_offset(const struct json_value *value)
{
    return value->key ? value->key_begin : value->begin;
}

odlc_status json_key_error(struct json *j, const struct json_value *value, const char *hint, const char *code,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    return source_error(&j->source, key_offset(value), json_pointer(j, value), hint, code, message);
}

void json_note(struct json *j, const struct json_value *value, const char *code, const char *message)
{
    source_note(&j->source, value->begin, code, message);
}

void json_warn(struct json *j, const struct json_value *value, const char *hint, const char *code, const char *format,
               ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    source_warn(&j->source, value->begin, json_pointer(j, value), hint, code, message);
}

void json_key_warn(struct json *j, const struct json_value *value, const char *hint, const char *code,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    source_warn(&j->source, key_offset(value), json_pointer(j, value), hint, code, message);
}

/* ---- reading ---- */

static void check_duplicates(struct json *j, const struct json_value *object)
{
    struct map keys;
    map_init(&keys, j->source.arena);
    for (const struct json_value *child = object->child; child; child = child->next) {
        uint32_t first = map_add(&keys, child->key, child->key_begin);
        if (first == MAP_NONE)
            continue;
        (void)json_key_error(j, child, "remove one", "json-duplicate-key", "duplicate key '%s'", child->key);
        source_note(&j->source, first, "json-first", "it is first given here");
    }
}

/* In the order of the text. The tree is JSON_MAX_DEPTH deep at most. */
static void check_objects(struct json *j, const struct json_value *value)
{
    if (value->kind == JSON_OBJECT)
        check_duplicates(j, value);
    for (const struct json_value *child = json_child(value); child; child = child->next)
        check_objects(j, child);
}

void json_check_keys(struct json *j)
{
    check_objects(j, j->root);
}

odlc_status json_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out)
{
    struct json *j = arena_new(arena, struct json);
    TRY(source_init(&j->source, arena, diags, path, text, size));
    json_scan(j);
    if (j->broken)
        return ODLC_ERR_INVALID;
    json_check_keys(j);
    *out = j;
    return ODLC_OK;
}
