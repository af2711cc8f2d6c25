#include "udo/json.h"

#include <string.h>

#include "base/map.h"

const struct json_spot *json_spot(const struct json *j, const cJSON *item)
{
    return &j->spots.data[item->valueint];
}

/* One step of a pointer: "/0", or "/" and the key with ~ and / escaped. */
static void add_step(struct arena *arena, text *t, const struct json_spot *spot)
{
    if (spot->key == JSON_NO_KEY) {
        text_add(arena, t, "/%u", spot->position);
        return;
    }
    text_add(arena, t, "/");
    for (const char *c = spot->item->string; *c; c++) {
        const char *escaped = *c == '~' ? "~0" : *c == '/' ? "~1" : NULL;
        text_add_bytes(arena, t, escaped ? escaped : c, escaped ? 2 : 1);
    }
}

const char *json_pointer(const struct json *j, const cJSON *item)
{
    const struct json_spot *path[JSON_MAX_DEPTH + 1];
    uint32_t depth = 0, index = (uint32_t)item->valueint;
    for (; index != 0 && depth < COUNT_OF(path); index = j->spots.data[index].parent)
        path[depth++] = &j->spots.data[index];
    text t = {0};
    while (depth > 0)
        add_step(j->source.arena, &t, path[--depth]);
    return t.count ? t.data : "";
}

const char *json_source(const struct json *j, const cJSON *item, size_t *length)
{
    const struct json_spot *spot = json_spot(j, item);
    *length = spot->end - spot->value;
    return j->source.text + spot->value;
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

odlc_status json_error(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    return source_error(&j->source, json_spot(j, item)->value, json_pointer(j, item), hint, code, message);
}

static size_t key_offset(const struct json *j, const cJSON *item)
{
    const struct json_spot *spot = json_spot(j, item);
    return spot->key == JSON_NO_KEY ? spot->value : spot->key;
}

odlc_status json_key_error(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format,
                           ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    return source_error(&j->source, key_offset(j, item), json_pointer(j, item), hint, code, message);
}

void json_note(struct json *j, const cJSON *item, const char *code, const char *message)
{
    source_note(&j->source, json_spot(j, item)->value, code, message);
}

void json_warn(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    source_warn(&j->source, json_spot(j, item)->value, json_pointer(j, item), hint, code, message);
}

void json_key_warn(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->source.arena, format, args);
    va_end(args);
    source_warn(&j->source, key_offset(j, item), json_pointer(j, item), hint, code, message);
}

/* ---- reading ---- */

static void delete_tree(void *root)
{
    cJSON_Delete(root);
}

/* Joins the tree with the scan's spots: both are in document order. */
static void tie(struct json *j, cJSON *item, uint32_t *next)
{
    item->valueint = (int)*next;
    j->spots.data[(*next)++].item = item;
    for (cJSON *child = item->child; child; child = child->next)
        tie(j, child, next);
}

static void check_duplicates(struct json *j, const cJSON *object)
{
    struct map keys;
    map_init(&keys, j->source.arena);
    for (const cJSON *child = object->child; child; child = child->next) {
        uint32_t first = map_add(&keys, child->string, (uint32_t)child->valueint);
        if (first == MAP_NONE)
            continue;
        (void)json_key_error(j, child, "remove one", "json-duplicate-key", "duplicate key '%s'", child->string);
        source_note(&j->source, j->spots.data[first].key, "json-first", "it is first given here");
    }
}

odlc_status json_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out)
{
    struct json *j = arena_new(arena, struct json);
    TRY(source_init(&j->source, arena, diags, path, text, size));
    json_scan(j);
    if (j->broken)
        return ODLC_ERR_INVALID;
    j->root = cJSON_ParseWithLength(j->mended ? j->mended : j->source.text, size);
    if (!j->root && j->mended)
        return ODLC_ERR_INVALID;
    if (!j->root)
        arena_exhausted(arena); /* the scan found no fault in it */
    arena_defer(arena, delete_tree, j->root);
    uint32_t next = 0;
    tie(j, j->root, &next);
    for (size_t i = 0; i < j->spots.count; i++)
        if (cJSON_IsObject(j->spots.data[i].item))
            check_duplicates(j, j->spots.data[i].item);
    *out = j;
    return ODLC_OK;
}
