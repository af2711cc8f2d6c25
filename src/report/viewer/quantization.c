/* SPDX-License-Identifier: Apache-2.0 */
/* The report of dlc-quantize that a page shows: one is taken that can be read, and that is of the container. */
#include <string.h>

#include "base/map.h"
#include "report/viewer/viewer.h"

static odlc_status wrong(struct json *j, const struct json_value *value, const char *message)
{
    return json_error(j, value, "dlc-quantize --report FILE.json writes one", "viewer-report", "%s", message);
}

static bool is_error(const struct json_value *layer, const char *name)
{
    const struct json_value *error = json_member(layer, name);
    const struct json_value *sqnr = json_member(error, "sqnr");
    return !error || json_is(sqnr, JSON_NUMBER) || json_is(sqnr, JSON_STRING);
}

static odlc_status check_layer(struct json *j, const struct json_value *layer)
{
    if (!json_is(layer, JSON_OBJECT) || !json_is(json_member(layer, "tensor"), JSON_STRING))
        return wrong(j, layer, "a layer of a report has a member tensor, its name");
    if (!json_is(json_member(layer, "values"), JSON_NUMBER))
        return wrong(j, layer, "a layer of a report has a member values, their number");
    if (!is_error(layer, "error") || !is_error(layer, "own") || !is_error(layer, "rounding"))
        return wrong(j, layer, "an error of a layer has a member sqnr, decibels");
    return ODLC_OK;
}

static odlc_status check(struct json *j)
{
    const struct json_value *schema = json_member(j->root, "schema"), *version = json_member(j->root, "schema_version");
    const struct json_value *layers = json_member(j->root, "layers");
    if (!json_is(schema, JSON_STRING) || strcmp(schema->string, "opendlc.quantize-report") != 0)
        return wrong(j, j->root, "this is no report of a quantization");
    if (!json_is(version, JSON_NUMBER) || version->number != 1)
        return wrong(j, version ? version : j->root, "the report is of another version than 1, which is known");
    if (!json_is(layers, JSON_ARRAY))
        return wrong(j, j->root, "the report has no list of layers");
    for (const struct json_value *layer = layers->child; layer; layer = layer->next)
        TRY(check_layer(j, layer));
    return ODLC_OK;
}

/* Whether a layer of the report is a tensor of the container. */
static bool is_of(struct arena *arena, const struct json *j, const odlc_container *container)
{
    size_t count;
    struct map names;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    map_init(&names, arena);
    for (const struct json_value *l = json_child(json_member(j->root, "layers")); l; l = l->next)
        map_add(&names, json_member(l, "tensor")->string, 0);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < graphs[i].n_tensors; k++)
            if (map_get(&names, graphs[i].tensors[k].name) != MAP_NONE)
                return true;
    return false;
}

odlc_status viewer_read_report(struct arena *arena, struct diags *diags, const struct odlc_bytes *report,
                               const odlc_container *container, struct json **out)
{
    TRY(json_parse(arena, diags, report->name, report->data, report->size, out));
    if ((*out)->source.errors > 0)
        return ODLC_ERR_INVALID;
    TRY(check(*out));
    if (!is_of(arena, *out, container))
        return wrong(*out, json_member((*out)->root, "layers"),
                     "the report is of another container: no tensor of this one is in it");
    return ODLC_OK;
}
