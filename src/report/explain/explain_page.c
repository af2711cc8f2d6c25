/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explain/explain_page.h"

#include <string.h>

#include "base/map.h"
#include "text/json.h"

/* What the page reads of each kind of object (docs/net-run-explain.schema.json). */
struct member {
    const char *name;
    enum json_kind kind;
    const struct member *elements; /* of an array of objects: what these have */
};

#define END                   \
    {                         \
        NULL, JSON_NULL, NULL \
    }
#define TEXT(member)              \
    {                             \
        member, JSON_STRING, NULL \
    }
#define NUMBER(member)            \
    {                             \
        member, JSON_NUMBER, NULL \
    }
#define ARRAY(member)            \
    {                            \
        member, JSON_ARRAY, NULL \
    }
#define OBJECTS(member, of)    \
    {                          \
        member, JSON_ARRAY, of \
    }

static const struct member rewrite[] = {TEXT("callback"), TEXT("op"), ARRAY("before"), ARRAY("after"), END};
static const struct member part[] = {ARRAY("start"), ARRAY("extent"), END};
static const struct member tiling[] = {TEXT("op"),      ARRAY("output"), ARRAY("tile"),          NUMBER("cluster"),
                                       NUMBER("count"), TEXT("reason"),  OBJECTS("tiles", part), END};
static const struct member tried[] = {TEXT("kernel"), END};
static const struct member kernel[] = {TEXT("op"),     NUMBER("count"),         NUMBER("slices"),
                                       NUMBER("cost"), OBJECTS("tried", tried), END};
static const struct member work[] = {TEXT("kind"),         TEXT("text"),           NUMBER("begin"),    NUMBER("end"),
                                     NUMBER("fast_bytes"), NUMBER("ddr_operands"), ARRAY("resources"), END};
static const struct member plugin[] = {NUMBER("nodes"),
                                       NUMBER("fast_memory"),
                                       NUMBER("peak"),
                                       NUMBER("cost"),
                                       NUMBER("kernels_without_cost"),
                                       NUMBER("end"),
                                       OBJECTS("rewrites", rewrite),
                                       OBJECTS("tilings", tiling),
                                       OBJECTS("kernels", kernel),
                                       OBJECTS("steps", work),
                                       END};
static const struct member step[] = {TEXT("backend"), TEXT("op"), TEXT("node"), END};
static const struct member refusal[] = {TEXT("backend"), TEXT("op"), TEXT("node"), TEXT("reason"), END};
static const struct member explanation[] = {TEXT("container"), OBJECTS("steps", step), OBJECTS("refusals", refusal),
                                            END};

static odlc_status wrong(struct json *j, const struct json_value *value, const char *message)
{
    return json_error(j, value, "net-run --explain=FILE.json writes one", "viewer-explain", "%s", message);
}

static odlc_status check_members(struct json *j, const struct json_value *object, const struct member *members)
{
    if (!json_is(object, JSON_OBJECT))
        return wrong(j, object, "an explanation has an object here");
    for (const struct member *m = members; m->name; m++) {
        const struct json_value *value = json_member(object, m->name);
        if (!json_is(value, m->kind))
            return json_error(j, value ? value : object, "net-run --explain=FILE.json writes one", "viewer-explain",
                              "an explanation has a member %s here, %s", m->name,
                              m->kind == JSON_STRING   ? "a text"
                              : m->kind == JSON_NUMBER ? "a number"
                                                       : "an array");
        for (const struct json_value *e = m->elements ? json_child(value) : NULL; e; e = e->next)
            TRY(check_members(j, e, m->elements));
    }
    return ODLC_OK;
}

static odlc_status check(struct json *j)
{
    const struct json_value *schema = json_member(j->root, "schema"), *version = json_member(j->root, "schema_version");
    if (!json_is(schema, JSON_STRING) || strcmp(schema->string, "opendlc.net-run-explain") != 0)
        return wrong(j, j->root, "this is no explanation of an execution");
    if (!json_is(version, JSON_NUMBER) || version->number != 1)
        return wrong(j, version ? version : j->root, "the explanation is of another version than 1, which is known");
    TRY(check_members(j, j->root, explanation));
    for (const struct json_value *s = json_child(json_member(j->root, "steps")); s; s = s->next) {
        const struct json_value *prepared = json_member(s, "plugin");
        if (prepared)
            TRY(check_members(j, prepared, plugin));
    }
    return ODLC_OK;
}

/* Whether all nodes are ops of the container. */
static bool is_of(struct arena *arena, const struct json *j, const odlc_container *container)
{
    size_t count;
    struct map names;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    map_init(&names, arena);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < graphs[i].n_ops; k++)
            map_add(&names, graphs[i].ops[k].name, 0);
    for (const struct json_value *s = json_child(json_member(j->root, "steps")); s; s = s->next)
        if (map_get(&names, json_member(s, "node")->string) == MAP_NONE)
            return false;
    return true;
}

odlc_status explain_page_read(struct arena *arena, struct diags *diags, const struct odlc_bytes *bytes,
                              const odlc_container *container, struct json **out)
{
    struct json *j;
    TRY(json_parse(arena, diags, bytes->name, bytes->data, bytes->size, &j));
    if (j->source.errors > 0)
        return ODLC_ERR_INVALID;
    TRY(check(j));
    if (!is_of(arena, j, container))
        return wrong(j, json_member(j->root, "steps"),
                     "the explanation is of another container: this one has no such nodes");
    *out = j;
    return ODLC_OK;
}

void explain_page_print(FILE *stream, const struct json *explanation)
{
    size_t length;
    const char *source = json_source(explanation, explanation->root, &length);
    html_page_print(stream, &explain_page, source, length);
}
