#include "udo/json.h"

#include <string.h>

#include "base/file.h"
#include "base/map.h"

const struct json_spot *json_spot(const struct json *j, const cJSON *item)
{
    return &j->spots.data[item->valueint];
}

void json_line_column(const struct json *j, size_t offset, uint32_t *line, uint32_t *column)
{
    size_t low = 0, high = j->lines.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (j->lines.data[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = (uint32_t)low + 1;
    *column = (uint32_t)(offset - j->lines.data[low]) + 1;
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
        add_step(j->arena, &t, path[--depth]);
    return t.count ? t.data : "";
}

const char *json_source(const struct json *j, const cJSON *item, size_t *length)
{
    const struct json_spot *spot = json_spot(j, item);
    *length = spot->end - spot->value;
    return j->text + spot->value;
}

/* ---- diagnostics ---- */

static struct odlc_diag place_at(const struct json *j, size_t offset, const char *pointer, const char *hint)
{
    struct odlc_diag place = {.file = j->path, .pointer = pointer, .hint = hint};
    json_line_column(j, offset, &place.line, &place.column);
    enum { EXCERPT = 400 }; /* a longer line would not help */
    size_t line = offset - (place.column - 1), end = line;
    while (end < j->size && end - line <= EXCERPT && j->text[end] != '\n' && j->text[end] != '\r')
        end++;
    if (end - line <= EXCERPT)
        place.excerpt = arena_strndup(j->arena, j->text + line, end - line);
    return place;
}

static odlc_status report(struct json *j, size_t offset, const char *pointer, const char *hint, const char *code,
                          const char *message)
{
    j->errors++;
    if (j->errors > JSON_MAX_REPORTS)
        return ODLC_ERR_INVALID;
    struct odlc_diag place = place_at(j, offset, pointer, hint);
    diag_error(j->diags, ODLC_ERR_INVALID, &place, code, "%s", message);
    if (j->errors == JSON_MAX_REPORTS)
        diag_note(j->diags, AT(.file = j->path), "udo-many-errors", "further errors of this file are not shown");
    return ODLC_ERR_INVALID;
}

odlc_status json_error_at(struct json *j, size_t offset, const char *pointer, const char *hint, const char *code,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->arena, format, args);
    va_end(args);
    return report(j, offset, pointer, hint, code, message);
}

odlc_status json_error(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->arena, format, args);
    va_end(args);
    return report(j, json_spot(j, item)->value, json_pointer(j, item), hint, code, message);
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
    const char *message = arena_vprintf(j->arena, format, args);
    va_end(args);
    return report(j, key_offset(j, item), json_pointer(j, item), hint, code, message);
}

void json_key_warn(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(j->arena, format, args);
    va_end(args);
    if (++j->warnings > JSON_MAX_REPORTS)
        return;
    struct odlc_diag place = place_at(j, key_offset(j, item), json_pointer(j, item), hint);
    diag_warn(j->diags, &place, code, "%s", message);
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
    map_init(&keys, j->arena);
    for (const cJSON *child = object->child; child; child = child->next) {
        uint32_t first = map_add(&keys, child->string, (uint32_t)child->valueint);
        if (first == MAP_NONE)
            continue;
        uint32_t line, column;
        json_line_column(j, j->spots.data[first].key, &line, &column);
        (void)json_key_error(j, child, arena_printf(j->arena, "first given at %u:%u", line, column),
                             "json-duplicate-key", "duplicate key '%s'", child->string);
    }
}

static bool looks_like_xml(const char *text, size_t size)
{
    size_t start = 0;
    while (start < size && (text[start] == ' ' || text[start] == '\t' || text[start] == '\r' || text[start] == '\n'))
        start++;
    return start < size && text[start] == '<';
}

odlc_status json_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out)
{
    if (size > JSON_MAX_BYTES)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "json-too-large", "larger than %zu MiB",
                          JSON_MAX_BYTES >> 20);
    struct json *j = arena_new(arena, struct json);
    *j = (struct json){.arena = arena, .diags = diags, .path = path, .text = text ? text : "", .size = size};
    if (looks_like_xml(text, size))
        return diag_error(diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = path, .hint = "describe the op in the JSON form (docs/udo-config.md)"), "udo-xml",
                          "an XML op definition, which is not supported yet");
    json_scan(j);
    if (j->errors)
        return ODLC_ERR_INVALID;
    j->root = cJSON_ParseWithLength(j->text, size);
    if (!j->root)
        arena_exhausted(arena); /* the scan found no fault in it */
    arena_defer(arena, delete_tree, j->root);
    uint32_t next = 0;
    tie(j, j->root, &next);
    for (size_t i = 0; i < j->spots.count; i++)
        if (cJSON_IsObject(j->spots.data[i].item))
            check_duplicates(j, j->spots.data[i].item);
    if (j->errors)
        return ODLC_ERR_INVALID;
    *out = j;
    return ODLC_OK;
}

odlc_status json_load(struct arena *arena, struct diags *diags, const char *path, struct json **out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    return json_parse(arena, diags, path, (const char *)file->data, file->size, out);
}
