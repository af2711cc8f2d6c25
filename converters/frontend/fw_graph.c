/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/fw_graph.h"

#include <inttypes.h>
#include <string.h>

const struct fw_attr *fw_find_attr(const struct fw_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0)
            return &n->attrs[i];
    return NULL;
}

const char *fw_node_label(const struct fw_node *n)
{
    if (n->name[0])
        return n->name;
    for (size_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i][0])
            return n->outputs[i];
    return "";
}

const char *fw_dims_text(struct arena *arena, const struct fw_value *v)
{
    text dims = {0};
    if (!v->has_shape)
        return "unknown rank";
    for (uint32_t k = 0; k < v->rank; k++) {
        const char *symbol = v->symbols && v->symbols[k] ? v->symbols[k] : "?";
        text_add(arena, &dims, "%s", k ? "," : "");
        if (v->dims[k] == DIM_OPEN)
            text_add(arena, &dims, "%s", symbol);
        else
            text_add(arena, &dims, "%" PRId64, v->dims[k]);
    }
    return dims.data ? dims.data : "";
}

bool fw_is_one_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length > 0 && (at = strstr(at, word)); at += length)
        if (at > words && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

void fw_each_read(const struct fw_node *n, fw_name_fn *fn, void *user)
{
    for (size_t i = 0; i < n->n_inputs; i++)
        if (fw_in_id(n, i) != FW_NO_NAME)
            fn(user, fw_in_id(n, i));
    for (size_t i = 0; i < n->n_attrs; i++) {
        const struct fw_graph *g = fw_attr_graph(&n->attrs[i]);
        for (size_t k = 0; g && k < g->nodes.count; k++)
            fw_each_read(&g->nodes.data[k], fn, user);
        for (size_t k = 0; g && k < g->outputs.count; k++)
            fn(user, g->outputs.data[k].id);
    }
}

bool fw_has_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text), end = strlen(suffix);
    return length >= end && strcmp(text + length - end, suffix) == 0;
}
